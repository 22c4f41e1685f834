"""Things said twice, shown once."""

from __future__ import annotations

from collections.abc import Iterable

from pipimem.recall.index import Index
from pipimem.recall.ranking import Candidate
from pipimem.text.similarity import NEAR_DUPLICATE, names_differ, near_duplicate
from pipimem.text.words import Bag

# A hair less, for the rounding: the last word is the exact one's.
_NEARLY = NEAR_DUPLICATE - 1e-9


def deduped(candidates: Iterable[Candidate], index: Index, most: int) -> tuple[Candidate, ...]:
    """The first `most` candidates of which no two say the same, ranked; of two that do, the better stays.

    What differs in a name, a number or an identifier does not say the same.
    """
    kept: list[Candidate] = []
    seen: list[tuple[int, int, Bag, str]] = []
    # A set of words as the bits of a number: what two share is counted in no time, and nearly always settles it.
    bits: dict[str, int] = {}
    for item, score, matches, slot, evidence, _ in candidates:
        bag, words = index.bag(slot), 0
        for word in bag.words:
            words |= 1 << bits.setdefault(word, len(bits))
        size = words.bit_count()
        for others, other_size, other, text in seen:
            shared = (words & others).bit_count()
            if shared > _NEARLY * (size + other_size - shared) and _is_said(item.text, text, bag, other):
                break
        else:
            seen.append((words, size, bag, item.text))
            kept.append(Candidate(item, score, matches, slot, evidence, len(kept) + 1))
            if len(kept) == most:
                break
    return tuple(kept)


def _is_said(text: str, other: str, bag: Bag, other_bag: Bag) -> bool:
    return text == other or (near_duplicate(bag, other_bag) and not names_differ(text, other))
