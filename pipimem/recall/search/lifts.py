"""How a message stands to a question beside its words: a factor on what they count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pipimem.recall.search.formula import Formula
from pipimem.recall.search.index import TranscriptIndex
from pipimem.recall.search.question import Question
from pipimem.recall.search.shapes import Shape

_SHAPES = (Shape.TIME, Shape.NUMBER, Shape.NAME)


def own(index: TranscriptIndex, people: frozenset[int], slots: Iterable[int]) -> list[int]:
    """Those of the slots that one of the people said, or the bot to them."""
    spoken_by, threads = index.spoken_by, index.threads.of
    return [slot for slot in slots if spoken_by[slot] in people or threads[slot] in people]


class Lifts:
    """Who said it, on which day, and whether it has what the question wants."""

    def __init__(self, index: TranscriptIndex, question: Question, formula: Formula) -> None:
        self._index, self._people, self._formula = index, question.people, formula
        self._dated = frozenset(
            slot
            for span in question.spans
            for slots in index.within(span.start, span.end)
            for slot in slots
        )
        worth = (formula.time, formula.number, formula.name)
        self._wanted = {
            shape: value
            for shape, value in zip(_SHAPES, worth, strict=True)
            if shape & question.wanted
        }
        # There are 16 shapes, and a thousand messages to weigh.
        self._of_shape = [
            1 + sum(value for _, value in self._by_shape(shape)) for shape in range(16)
        ]

    def lifted(self, totals: Mapping[int, float]) -> Iterator[tuple[float, int]]:
        """Each score with all of it, and its slot negated: of equals the earlier is the larger."""
        shapes, of_shape = self._index.shapes, self._of_shape
        dated, spoken = self._formula.dated, self._formula.spoken
        if not self._people and not self._dated:
            return ((value * of_shape[shapes[slot]], -slot) for slot, value in totals.items())
        own, days = self._own(totals), self._dated
        return (
            (
                value
                * (
                    of_shape[shapes[slot]]
                    + (spoken if slot in own else 0)
                    + (dated if slot in days else 0)
                ),
                -slot,
            )
            for slot, value in totals.items()
        )

    def of(self, slot: int) -> Iterator[tuple[str, float]]:
        """Each circumstance and what it adds to 1."""
        yield from self._by_shape(self._index.shapes[slot])
        if self._own((slot,)):
            yield "of whom is named", self._formula.spoken
        if slot in self._dated:
            yield "of that day", self._formula.dated

    def _own(self, slots: Iterable[int]) -> frozenset[int]:
        return frozenset(own(self._index, self._people, slots) if self._people else ())

    def _by_shape(self, shape: int) -> Iterator[tuple[str, float]]:
        if shape & Shape.QUESTION:
            yield "only asks", -self._formula.question
        for wanted, value in self._wanted.items():
            if shape & wanted:
                yield f"has a {str(wanted.name).lower()}", value
