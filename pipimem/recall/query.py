"""A question as recall looks for it, and what kind of question it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipimem.recall.answer_kinds import is_kind
from pipimem.recall.phrases import (
    asks,
    is_general,
    is_one_question,
    is_procedure,
    phrases,
    says,
    weak_words,
)
from pipimem.recall.scoring import Term

if TYPE_CHECKING:
    from pipimem.recall.intents import Intent
    from pipimem.text.dates import Span


@dataclass(frozen=True, slots=True)
class Query:
    """A question as recall looks for it.

    `as_usual` says that it is to be done as the `speaker` likes it, `asks_who` that they ask who
    they are, or what they said. `asks_when` says that the answer is a time. `silent` is why the
    automatic path has nothing to look for, empty otherwise. `pure` says that the question is
    nothing but its intents ("what did we decide?"), `of_days` that it asks for nothing but days
    ("what did we do on Thursday?").
    """

    text: str
    terms: tuple[Term, ...] = ()
    grams: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    intents: tuple[Intent, ...] = ()
    pure: bool = False
    of_days: bool = False
    silent: str = ""
    asks_when: bool = False
    as_usual: bool = False
    asks_who: bool = False
    speaker: str = ""

    def is_general(self) -> bool:
        """Whether it may be about the world at large; worked out at each call."""
        if self.pure or self.silent or self.entities:
            return False
        things = _count_things(self.terms)
        if says("ours", self.text):
            # "How do I record my screen?" asks for a way, whose screen it may be.
            return is_procedure(self.text, things) and not says("ours", _without_mine(self.text))
        return is_general(self.text, things) or self._is_of_a_textbook()

    def _is_of_a_textbook(self) -> bool:
        topics = weak_words("topics")
        if says("particular", self.text):
            return False
        return says("textbook", self.text) and any(term.word in topics for term in self.terms)

    def is_ours(self) -> bool:
        """Whether it is one question about the asker's own affairs, or something particular."""
        return is_one_question(self.text) and (
            self.is_particular() or says("first person", self.text)
        )

    def is_particular(self) -> bool:
        """Whether it speaks of something particular: persons, what has been, what both know."""
        return says("ours", self.text) or says("particular", self.text)

    def only_tells(self) -> bool:
        """Whether someone tells of themselves and asks nothing."""
        return says("telling", self.text) and not asks(self.text)


def _without_mine(text: str) -> str:
    return phrases("mine").sub(" ", text.lower())


def _count_things(terms: Sequence[Term]) -> int:
    """How many things are named; "log in" is also looked for as "login": one thing."""
    named = [term.word for term in terms if not (term.weak or is_kind(term))]
    longest = [word for word in named if not _is_in_another(word, named)]
    return len(longest)


def _is_in_another(word: str, words: Sequence[str]) -> bool:
    return any(word in other and word != other for other in words)
