"""Where in a long transcript to look: the places where the rarest words of a question meet."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from pipimem.recall.postings import rarity
from pipimem.recall.transcript.formula import Formula
from pipimem.recall.transcript.question import TranscriptQuery
from pipimem.recall.transcript.threads import END
from pipimem.recall.transcript.transcript_index import TranscriptIndex, between

# Up to so many messages all are weighed; of more, those around the places where the question's
# words meet.
WEIGHED_ALL = 2_048
# Such a place: so many messages in a row …
_BLOCK = 4
# … and so many of them, the best, are weighed. In 100,000 messages, 97 % of the first five are then
# those that weighing all of them gives, for a fifth of the time (96 blocks of 8: 81 %; 512 of 4: 99
# %, half as long again).
_BLOCKS = 256
# The rarest words say where to look: after so many places of words the commoner ones add nothing
# new.
_MOST_PLACES = 12_000
# Where a question names a person and nothing else, their newest messages are weighed.
_NEWEST = 256


@dataclass(frozen=True, slots=True)
class Blocks:
    """The numbers of the blocks to weigh, neighbours included; None for all."""

    numbers: frozenset[int] | None = None

    def of(self, places: Sequence[int]) -> Iterable[int]:
        """Those of the places that lie in one of the blocks."""
        if self.numbers is None:
            return places
        if len(places) <= len(self.numbers) * _BLOCK:
            return [slot for slot in places if slot // _BLOCK in self.numbers]
        inside = (
            between(places, block * _BLOCK, (block + 1) * _BLOCK) for block in sorted(self.numbers)
        )
        return chain.from_iterable(inside)


def blocks_to_weigh(
    index: TranscriptIndex,
    query: TranscriptQuery,
    formula: Formula,
    passes: Callable[[int], bool] | None,
    effort: float = 1.0,
) -> Blocks:
    """The blocks where the question's words, days and people meet most, of what passes.

    With less `effort` than 1 it looks at that share of the places and blocks.
    """
    if len(index) <= WEIGHED_ALL:
        return Blocks()
    sums: dict[int, float] = {}
    seen = 0
    for weight, places in sorted(_evidence(index, query, formula), key=_spread):
        if seen and seen + len(places) > effort * _MOST_PLACES:
            break
        seen += len(places)
        if passes is not None:
            places = _passing(places, index.threads.after, passes)
        # A word counts once a block.
        for block in {slot // _BLOCK for slot in places}:
            sums[block] = sums.get(block, 0.0) + weight
    best = heapq.nlargest(int(effort * _BLOCKS), sorted(sums), key=sums.__getitem__)
    return Blocks(frozenset(block + offset for block in best for offset in (-1, 0, 1)))


def blocks_between(start: int, end: int) -> Blocks:
    """The blocks of the slots from `start` up to `end`: few enough to weigh all of them."""
    return Blocks(frozenset(range(start // _BLOCK, end // _BLOCK + 1)))


def _passing(
    places: Iterable[int], after: Sequence[int], passes: Callable[[int], bool]
) -> list[int]:
    """Places that pass, and those that one may answer which does."""
    return [slot for slot in places if passes(slot) or (after[slot] != END and passes(after[slot]))]


def newest(index: TranscriptIndex, people: frozenset[int]) -> Sequence[int]:
    """The newest messages of some people, in order."""
    said = (slot for slot in range(len(index) - 1, -1, -1) if index.spoken_by[slot] in people)
    return list(islice(said, _NEWEST))[::-1]


def _evidence(
    index: TranscriptIndex, query: TranscriptQuery, formula: Formula
) -> Iterator[tuple[float, Sequence[int]]]:
    """The places of words, days, and people if there is nothing else, with what they may count."""
    for group in query.groups:
        for word, share in group.members:
            places = index.places(word)
            if places:
                yield group.weight * share * rarity(len(places), len(index)), places
    for span in query.spans:
        for slots in index.within(span.start, span.end):
            yield formula.date, slots
    if query.only_people:
        yield formula.person, newest(index, query.people)


def _spread(evidence: tuple[float, Sequence[int]]) -> int:
    return len(evidence[1])
