"""Wishes of people on how the bot treats others: kept as a quote, and with a risk in them not kept.

Who in a group may settle what the bot tells, hands out, counts or leaves out, nobody can tell from
a talk. A quote binds nobody and never stands in what comes with every turn; a wish in which a link,
money or a secret stands is not kept at all. `remember` keeps either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pipimem.memory.split_attacks import joined_messages
from pipimem.notes.message import Message
from pipimem.sidecar.rules.sentences import split
from pipimem.text.foreign_parts import taken_apart
from pipimem.text.injection import directs_conduct, is_risky
from pipimem.text.words.similarity import bigrams, share_in

KEPT_AS_QUOTE = "says how the bot is to treat others: kept as a quote"
# So much of a wish makes a text its repetition; so much of a text makes it a piece of a wish.
_REPEATED, _PIECE = 0.6, 0.8

Verdict = Literal["", "quote", "risky"]


@dataclass(frozen=True, slots=True)
class BotConduct:
    """The wishes of a window on the bot's conduct, each with whether it is risky."""

    wishes: tuple[tuple[frozenset[str], bool], ...]

    def verdict(self, text: str) -> Verdict:
        """Whether a text is such a wish, in its own words or in those of the window."""
        grams = bigrams(text)
        met = [risky for wish, risky in self.wishes if _is_repeated(wish, grams)]
        if not met and not directs_conduct(text):
            return ""
        return "risky" if any(met) or is_risky(text) else "quote"


def bot_conduct(messages: Sequence[Message]) -> BotConduct:
    """The wishes in what people and the bot said, also where they are split over messages."""
    wishes = tuple((bigrams(text), is_risky(text)) for text in _wishes(messages))
    return BotConduct(wishes)


def _wishes(messages: Sequence[Message]) -> Iterator[str]:
    people = [one for one in messages if one.role == "user"]
    own = [replace(one, content=taken_apart(one.content).own) for one in people]
    yield from joined_messages(own, directs_conduct)
    bots = [one for one in messages if one.role == "assistant"]
    for message in (*own, *bots):
        yield from filter(directs_conduct, split(message.content))


def _is_repeated(wish: frozenset[str], said: frozenset[str]) -> bool:
    return share_in(wish, said) >= _REPEATED or share_in(said, wish) >= _PIECE
