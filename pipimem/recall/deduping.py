"""Things said twice, shown once."""

from __future__ import annotations

from collections.abc import Iterable

from pipimem.recall.index import Index
from pipimem.recall.ranking import Candidate
from pipimem.text.quotes import Quote, of_different_people, read_quote
from pipimem.text.similarity import NEAR_DUPLICATE, jaccard, names_differ, near_duplicate
from pipimem.text.words import Bag


def deduped(candidates: Iterable[Candidate], index: Index, most: int) -> tuple[Candidate, ...]:
    """The first `most` candidates of which no two say the same, ranked; of two that do, the better stays.

    What differs in a name, a number or an identifier does not say the same. Who said it, and when, do not count, but
    that two people say it of themselves.
    """
    kept: list[Candidate] = []
    seen: list[tuple[frozenset[str], Bag, Quote]] = []
    for one in candidates:
        quote = read_quote(one.item.text)
        # The name in front of a quote is among the words of the index.
        bag = index.words.bag(quote.said) if quote.name else index.bag(one.slot)
        words = frozenset(bag.words)
        # The share of common words settles it nearly always, and costs the least.
        if any(
            jaccard(words, others) > NEAR_DUPLICATE and _is_said(quote, earlier, bag, other)
            for others, other, earlier in seen
        ):
            continue
        seen.append((words, bag, quote))
        kept.append(one._replace(rank=len(kept) + 1))
        if len(kept) == most:
            break
    return tuple(kept)


def _is_said(quote: Quote, other: Quote, bag: Bag, other_bag: Bag) -> bool:
    if of_different_people(quote, other):
        return False
    if quote.said == other.said:
        return True
    return near_duplicate(bag, other_bag) and not names_differ(quote.said, other.said)
