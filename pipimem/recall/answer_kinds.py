"""What a question wants to be told (an amount of money, an age), and which texts tell it."""

from __future__ import annotations

from functools import cache

from pipimem import resources
from pipimem.recall.phrases import PhraseFinder, phrase_finder
from pipimem.recall.scoring import Term

KINDS = (
    *("money", "age", "duration", "measure", "share"),
    *("location", "contact", "version", "diet"),
)
# No text has such a word: it has a space.
_MARK = "tells: "
# Less than a word that was said: many entries tell an amount, and only one of them answers.
_WEIGHT = 0.7
# Further in a longer text nothing is looked for: the patterns take as long as the square of a run
# of digits, 0.1 s for this many, hours for a line of a megabyte.
_MOST_CHARS = 1_000


def kind_terms(text: str) -> tuple[Term, ...]:
    """What a question wants to be told: each kind as a term that entries which tell it have."""
    lowered = text.lower()
    return tuple(
        [Term(_MARK + kind, _WEIGHT) for kind in KINDS if _finder(kind, "asked").find_in(lowered)]
    )


def kind_marks(text: str) -> list[str]:
    """The words under which `kind_terms` finds a text."""
    lowered = text[:_MOST_CHARS].lower()
    return [_MARK + kind for kind in KINDS if _finder(kind, "told").find_in(lowered)]


def is_kind(term: Term) -> bool:
    """Whether a term stands for a kind of answer and not for a word."""
    return is_mark(term.word)


def is_mark(word: str) -> bool:
    """Whether a word is one of `kind_marks`."""
    return word.startswith(_MARK)


@cache
def _finder(kind: str, side: str) -> PhraseFinder:
    return phrase_finder(resources.sections("recall/answer_kinds"), f"{kind} {side}")
