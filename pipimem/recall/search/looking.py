"""Where in a long transcript to look: the places where the rarest words of a question meet."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from pipimem.recall.search.formula import Formula
from pipimem.recall.search.index import TranscriptIndex, between
from pipimem.recall.search.question import Question
from pipimem.recall.search.threads import END

# Up to so many messages all are weighed; of more, those around the places where the question's words meet.
WEIGHED_ALL = 2_048
# Such a place: so many messages in a row …
_BLOCK = 4
# … and so many of them, the best, are weighed. In 100,000 messages, 97 % of the first five are then those that
# weighing all of them gives, for a fifth of the time (96 blocks of 8: 81 %; 512 of 4: 99 %, half as long again).
_BLOCKS = 256
# The rarest words say where to look: after so many places of words the commoner ones add nothing new.
_LOOKED_AT = 12_000
# Where a question names a person and nothing else, their newest messages are weighed.
_NEWEST = 256


@dataclass(frozen=True, slots=True)
class Reach:
    """The blocks to weigh; None for all."""

    blocks: Sequence[int] | None = None
    around: frozenset[int] = frozenset()

    def of(self, places: Sequence[int]) -> Iterable[int]:
        """Those of the places that lie in one of the blocks or beside it."""
        if self.blocks is None:
            return places
        around = self.around
        if len(places) <= len(around) * _BLOCK:
            return [slot for slot in places if slot // _BLOCK in around]
        return chain.from_iterable(
            between(places, block * _BLOCK, (block + 1) * _BLOCK) for block in sorted(around)
        )


EVERYWHERE = Reach()


def reach(
    index: TranscriptIndex,
    question: Question,
    formula: Formula,
    passes: Callable[[int], bool] | None,
) -> Reach:
    """Where the question's words, days and people meet most, of what passes."""
    if len(index) <= WEIGHED_ALL:
        return EVERYWHERE
    after = index.threads.after
    sums: dict[int, float] = {}
    get = sums.get
    looked_at = 0
    for weight, places in sorted(_evidence(index, question, formula), key=_spread):
        if looked_at and looked_at + len(places) > _LOOKED_AT:
            break
        looked_at += len(places)
        last = END
        for slot in places:
            block = slot // _BLOCK
            # A word counts once a block; what does not pass may still be what a message that does answers.
            if block == last or (
                passes and not passes(slot) and (after[slot] == END or not passes(after[slot]))
            ):
                continue
            last = block
            sums[block] = get(block, 0.0) + weight
    best = sorted(heapq.nlargest(_BLOCKS, sums, key=sums.__getitem__))
    return Reach(best, frozenset(block + beside for block in best for beside in (-1, 0, 1)))


def newest(index: TranscriptIndex, people: frozenset[int]) -> Sequence[int]:
    """The newest messages of some people, in order."""
    said = (slot for slot in range(len(index) - 1, -1, -1) if index.spoken_by[slot] in people)
    return list(islice(said, _NEWEST))[::-1]


def rarity(index: TranscriptIndex, spread: int) -> float:
    """IDF over the transcript, 1 for a word of one message."""
    total = len(index)
    spread = min(spread, total)
    return math.log(1 + (total - spread + 0.5) / (spread + 0.5)) / math.log(
        1 + max(total - 0.5, 1.0) / 1.5
    )


def _evidence(
    index: TranscriptIndex, question: Question, formula: Formula
) -> Iterator[tuple[float, Sequence[int]]]:
    """What may stand anywhere, with what it roughly counts: words, days, and people if there is nothing else."""
    for group in question.groups:
        for word, share in group.members:
            if places := index.places(word):
                yield group.weight * share * rarity(index, len(places)), places
    for span in question.spans:
        for slots in index.within(span.start, span.end):
            yield formula.date, slots
    if question.only_people:
        yield formula.person, newest(index, question.people)


def _spread(evidence: tuple[float, Sequence[int]]) -> int:
    return len(evidence[1])
