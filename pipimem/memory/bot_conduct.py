"""Wishes of a group's members on the bot and on each other: kept as a quote, or not at all.

Who in a group may settle how the bot behaves, what it tells, or what others get, nobody can tell
from a talk. So what says that is a quote, which binds nobody and never stands in what comes with
every turn; where a link, money or a secret stands in it too, it is not kept. In a talk with one
person there is nobody else to decide for: their wishes are rules. `remember` keeps either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pipimem.memory.split_attacks import split_attacks
from pipimem.notes.message import Message
from pipimem.sidecar.rules.sentences import split
from pipimem.text.directives import directive_score, directs_conduct
from pipimem.text.foreign_parts import taken_apart
from pipimem.text.injection import is_risky
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import words_said
from pipimem.text.words.similarity import bigrams, share_in

KEPT_AS_QUOTE = "says how the bot or others are to behave: kept as a quote"
# So much of a wish makes a text its repetition; so much of a text makes it a piece of a wish.
_REPEATED, _PIECE = 0.6, 0.8
# What may be a wish has a score above 0. Of messages that are joined, of one sentence among others
# and of what the bot says more is asked, for there are many; and most of what is not kept at all.
_LIKELY, _SURE = 1.25, 2.0
_COLON = Pattern(r"[:：]\s*")

Verdict = Literal["", "quote", "risky"]


@dataclass(frozen=True, slots=True)
class BotConduct:
    """The wishes of a window, each with whether it is risky.

    What rests on nothing but `messages` is one too: they say nothing else, or are the bot's own.
    In a talk with one person, which is no `group`, nothing is a wish on others.
    """

    wishes: tuple[tuple[frozenset[str], bool], ...] = ()
    messages: frozenset[str] = frozenset()
    group: bool = False

    def verdict(self, text: str, sources: Collection[str] = ()) -> Verdict:
        """Whether a text is such a wish by its words, by the window's, or by what it rests on."""
        told = self.verdict_on_account(text)
        if told or not self.group:
            return told
        said = words_said(text)
        if not sources:
            return "quote" if directs_conduct(said) else ""
        # "Sam wants the bot to call him Sam" is as good as what Sam said.
        rests = self.messages.issuperset(sources)
        return "quote" if rests or directive_score(said) > 0 else ""

    def verdict_on_account(self, text: str) -> Verdict:
        """Whether a line that tells what happened likely repeats such a wish."""
        if not self.group:
            return ""
        said = words_said(text)
        grams = bigrams(said)
        met = [risky for wish, risky in self.wishes if _is_repeated(wish, grams)]
        if any(met):
            return "risky"
        return verdict_on(said) or ("quote" if met else "")


def verdict_on(text: str) -> Verdict:
    """Whether a text surely is such a wish, whoever said it where."""
    if directive_score(text) <= _SURE:
        return ""
    return "risky" if is_risky(text) else "quote"


def is_group(messages: Iterable[Message], known: Iterable[str]) -> bool:
    """Whether more than one person speaks, of those of the messages and those `known` before."""
    people = {*known, *(one.speaker for one in messages if one.role == "user")} - {""}
    return len(people) > 1


def bot_conduct(messages: Sequence[Message], known: Iterable[str] = ()) -> BotConduct:
    """The wishes in what people and the bot said, also where they are split over messages.

    `known` are people who spoke before.
    """
    if not is_group(messages, known):
        return BotConduct()
    own = _own_words(messages)
    bots = [one for one in messages if one.role == "assistant"]
    whole = dict.fromkeys((one.id for one in own if _is_all_wishes(one)), "wish")
    pieces = split_attacks(own, whole, _wish)
    texts = [one.content for one in own if one.id in pieces]
    for message in (*own, *bots):
        texts += _wishes(message.content)
    wishes = tuple((bigrams(text), verdict_on(text) == "risky") for text in texts)
    without_other_words = frozenset((*whole, *pieces, *(one.id for one in bots)))
    return BotConduct(wishes, without_other_words, group=True)


def _own_words(messages: Iterable[Message]) -> list[Message]:
    """What people said, without what they quoted or forwarded."""
    people = [one for one in messages if one.role == "user"]
    return [replace(one, content=taken_apart(one.content).own) for one in people]


def _wishes(text: str) -> Iterator[str]:
    """The sentences that are wishes, and what stands behind a colon and is one."""
    for sentence in split(text):
        parts = _COLON().split(sentence, maxsplit=1)
        yield from filter(_is_likely, dict.fromkeys((sentence, parts[-1])))


def _is_all_wishes(message: Message) -> bool:
    sentences = list(split(message.content))
    return bool(sentences) and all(map(directs_conduct, sentences))


def _is_likely(text: str) -> bool:
    return directive_score(text) > _LIKELY


def _wish(text: str) -> str:
    return "wish" if _is_likely(text) else ""


def _is_repeated(wish: frozenset[str], said: frozenset[str]) -> bool:
    return share_in(wish, said) >= _REPEATED or share_in(said, wish) >= _PIECE
