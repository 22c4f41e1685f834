"""The numbers of search: what a word, a neighbour, a name, a date and the shape of a message count.

Chosen by cross-validation over six recorded conversations, leave one out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Formula:
    """All constants of one way to rank; a word that stands in one message of all counts 1."""

    saturation: float = 0.8
    """BM25's k1. Small: a word said twice says hardly more about a chat message than said once."""
    length: float = 0.2
    """BM25's b. Small: a longer turn is hardly ever about more things."""
    before: tuple[float, ...] = (0.5, 0.25, 0.12)
    """What a word counts that stands one, two, three messages earlier.

    What was asked belongs to the answer.
    """
    after: tuple[float, ...] = (0.4, 0.2, 0.1)
    """What a word counts that stands one, two, three messages later."""
    pairs: float = 0.25
    """Two Chinese characters next to each other, against a word.

    They find what was cut differently.
    """
    date: float = 0.5
    """A message of the day that is asked for, by itself."""
    dated: float = 1.0
    """… and what its words count more."""
    person: float = 0.33
    """A message of the person that is named, once it shares a word."""
    spoken: float = 0.5
    """… and what its words count more."""
    question: float = 0.3
    """What the words of a message that only asks count less: the answer is elsewhere."""
    time: float = 0.2
    """What they count more where the question asks when and the message names a time."""
    number: float = 0.3
    """… how many, and it has a number."""
    name: float = 0.2
    """… who, where or which, and it has a name."""


FORMULA = Formula()
# The length of a usual message in index words; fixed, so that nothing an index has computed goes
# stale.
USUAL_LENGTH = 12
