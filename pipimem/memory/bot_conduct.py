"""Wishes of people on how the bot treats others: kept as a quote, and with a risk in them not kept.

Who in a group may settle what the bot tells, hands out, counts or leaves out, nobody can tell from
a talk. A quote binds nobody and never stands in what comes with every turn; a wish in which a link,
money or a secret stands is not kept at all. In a group what only the bot said is a quote, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal

from msgspec import Struct

from pipimem.memory.split_attacks import split_attacks
from pipimem.notes.message import Message
from pipimem.text.foreign_parts import taken_apart
from pipimem.text.injection import directs_conduct, is_risky
from pipimem.text.talk.sentences import split
from pipimem.text.words.similarity import bigrams, share_in

KEPT_AS_QUOTE = "says how the bot is to treat others: kept as a quote"
# So much of a wish makes a text its repetition; so much of a text makes it a piece of a wish.
_REPEATED, _PIECE = 0.6, 0.8

Verdict = Literal["", "quote", "risky"]


class BotConduct(Struct, frozen=True):
    """The wishes of a window on the bot's conduct, each with whether it is risky.

    What rests on nothing but `messages` is one too: they say nothing else, or are the bot's own.
    """

    wishes: tuple[tuple[frozenset[str], bool], ...] = ()
    messages: frozenset[str] = frozenset()

    def verdict(self, text: str, sources: Collection[str] = ()) -> Verdict:
        """Whether a text is such a wish, by its words, by the window's, or by what it rests on."""
        grams = bigrams(text)
        met = [risky for wish, risky in self.wishes if _is_repeated(wish, grams)]
        if met or directs_conduct(text):
            return "risky" if any(met) or is_risky(text) else "quote"
        rests = bool(sources) and self.messages.issuperset(sources)
        return "quote" if rests else ""


def is_group(messages: Iterable[Message], known: Iterable[str]) -> bool:
    """Whether more than one person speaks, of those of the messages and those `known` before."""
    people = {*known, *(one.speaker for one in messages if one.role == "user")} - {""}
    return len(people) > 1


def bot_conduct(messages: Sequence[Message], known: Iterable[str] = ()) -> BotConduct:
    """The wishes in what people and the bot said, also where they are split over messages.

    `known` are people who spoke before.
    """
    own = _own_words(messages)
    bots = [one for one in messages if one.role == "assistant"]
    whole = _wholly_wishes(own)
    pieces = split_attacks(own, whole, _wish)
    in_pieces = (one.content for one in own if one.id in pieces)
    texts = chain(in_pieces, *map(_wishes, (*own, *bots)))
    wishes = tuple((bigrams(text), is_risky(text)) for text in texts)
    only_bots = {one.id for one in bots} if is_group(messages, known) else set()
    return BotConduct(wishes, frozenset((*whole, *pieces, *only_bots)))


def _own_words(messages: Iterable[Message]) -> list[Message]:
    """What people said, without what they quoted or forwarded."""
    people = [one for one in messages if one.role == "user"]
    return [replace(one, content=taken_apart(one.content).own) for one in people]


def _wishes(message: Message) -> Iterator[str]:
    return filter(directs_conduct, split(message.content))


def _wholly_wishes(own: Iterable[Message]) -> dict[str, str]:
    """The kind by id of each message that says nothing else."""
    found: dict[str, str] = {}
    for message in own:
        sentences = list(split(message.content))
        if sentences and all(map(directs_conduct, sentences)):
            found[message.id] = "wish"
    return found


def _wish(text: str) -> str:
    return "wish" if directs_conduct(text) else ""


def _is_repeated(wish: frozenset[str], said: frozenset[str]) -> bool:
    return share_in(wish, said) >= _REPEATED or share_in(said, wish) >= _PIECE
