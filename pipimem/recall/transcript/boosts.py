"""How a message stands to a question beside its words: a factor on what they count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from pipimem.recall.transcript.features import Shape
from pipimem.recall.transcript.formula import Formula
from pipimem.recall.transcript.question import TranscriptQuery
from pipimem.recall.transcript.transcript_index import TranscriptIndex

_SHAPES = (Shape.TIME, Shape.NUMBER, Shape.NAME)


def spoken_by_or_to(
    index: TranscriptIndex, people: frozenset[int], slots: Iterable[int]
) -> list[int]:
    """Those of the slots that one of the people said, or the bot to them."""
    spoken_by, threads = index.spoken_by, index.threads.of
    return [slot for slot in slots if spoken_by[slot] in people or threads[slot] in people]


class Boosts:
    """What a message's words count more for who said it, on which day, and what it has."""

    def __init__(self, index: TranscriptIndex, query: TranscriptQuery, formula: Formula) -> None:
        self._index, self._people, self._formula = index, query.people, formula
        days = (index.within(span.start, span.end) for span in query.spans)
        self._dated = frozenset(chain.from_iterable(chain.from_iterable(days)))
        bonuses = zip(_SHAPES, (formula.time, formula.number, formula.name), strict=True)
        self._wanted = {shape: bonus for shape, bonus in bonuses if shape & query.wanted}
        # There are 32 shapes, and a thousand messages to weigh.
        shapes = range(1 << len(Shape))
        self._by_shape = [1 + sum(bonus for _, bonus in self._shape(shape)) for shape in shapes]

    def boosted(self, totals: Mapping[int, float]) -> Iterator[tuple[float, int]]:
        """Each whole score with its slot negated: of equals the earlier is the larger."""
        shapes, by_shape = self._index.shapes, self._by_shape
        spoken = self._spoken(totals)
        for slot, value in totals.items():
            factor = by_shape[shapes[slot]]
            if slot in spoken:
                factor += self._formula.spoken
            if slot in self._dated:
                factor += self._formula.dated
            yield value * factor, -slot

    def of(self, slot: int) -> Iterator[tuple[str, float]]:
        """Each circumstance of a message and what it adds to 1."""
        yield from self._shape(self._index.shapes[slot])
        if self._spoken((slot,)):
            yield "of whom is named", self._formula.spoken
        if slot in self._dated:
            yield "of that day", self._formula.dated

    def _spoken(self, slots: Iterable[int]) -> frozenset[int]:
        return frozenset(spoken_by_or_to(self._index, self._people, slots) if self._people else ())

    def _shape(self, shape: int) -> Iterator[tuple[str, float]]:
        if shape & Shape.QUESTION:
            yield "only asks", -self._formula.question
        for wanted, bonus in self._wanted.items():
            if shape & wanted:
                yield f"has a {str(wanted.name).lower()}", bonus
