"""Whether the first hit is the answer, or one of several that are about as good."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipimem.recall.search.hits import Hit
from pipimem.recall.search.index import TranscriptIndex
from pipimem.recall.search.threads import END

# Where the best hit from elsewhere has at most this share of the first one's score, the answer stood in or beside
# the first in 92 % of 346 questions in English and in all of 35 in Chinese; above it in 51 and 91 %
# (`python -m benchmarks.recall.disclosure`).
_CLEAR = 0.75
# So far from a hit in its thread is still the same place.
_BESIDE = 2


def is_clear(hits: Sequence[Hit], index: TranscriptIndex) -> bool:
    """Whether nothing elsewhere comes near the first hit."""
    if not hits:
        return False
    here = frozenset(beside(index, hits[0].slot, _BESIDE, _BESIDE))
    elsewhere = next((hit.score for hit in hits if hit.slot not in here), 0.0)
    return elsewhere <= _CLEAR * hits[0].score


def beside(index: TranscriptIndex, slot: int, before: int, after: int) -> tuple[int, ...]:
    """A message with those before and after it in its thread, in order."""
    threads = index.threads
    return (*_chain(slot, threads.before, before)[::-1], slot, *_chain(slot, threads.after, after))


def differing(values: Iterable[str]) -> tuple[str, ...]:
    """The values that tell hits apart, each once; none where all are the same."""
    found = tuple(dict.fromkeys(value for value in values if value))
    return found if len(found) > 1 else ()


def _chain(slot: int, following: Sequence[int], count: int) -> list[int]:
    found: list[int] = []
    for _ in range(count):
        slot = following[slot]
        if slot == END:
            break
        found.append(slot)
    return found
