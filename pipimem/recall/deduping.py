"""Things said twice, shown once."""

from __future__ import annotations

from collections.abc import Iterable

from pipimem.recall.index import Index
from pipimem.recall.ranking import Candidate
from pipimem.text.quotes import of_different_people, read_quote, words_said
from pipimem.text.similarity import NEAR_DUPLICATE, jaccard, names_differ, near_duplicate
from pipimem.text.words import Bag


def deduped(candidates: Iterable[Candidate], index: Index, most: int) -> tuple[Candidate, ...]:
    """The first `most` candidates of which no two say the same, ranked; of two that do, the better stays.

    What differs in a name, a number or an identifier does not say the same. Who said it, and when, do not count, but
    that two people say it of themselves.
    """
    kept: list[Candidate] = []
    seen: list[tuple[frozenset[str], Bag, str]] = []
    for one in candidates:
        bag, said = _bag_of_said(one, index), one.item.text
        words = frozenset(bag.words)
        # The share of common words settles it nearly always, and costs the least.
        if any(
            jaccard(words, others) > NEAR_DUPLICATE and _is_said(said, text, bag, other) for others, other, text in seen
        ):
            continue
        seen.append((words, bag, said))
        kept.append(one._replace(rank=len(kept) + 1))
        if len(kept) == most:
            break
    return tuple(kept)


def _bag_of_said(one: Candidate, index: Index) -> Bag:
    """The words of an item; of a quote those that were said, without the name in front."""
    bag, quote = index.bag(one.slot), read_quote(one.item.text)
    return index.words.bag(quote.said) if quote.name else bag


def _is_said(text: str, other: str, bag: Bag, other_bag: Bag) -> bool:
    if words_said(text) == words_said(other):
        return not of_different_people(read_quote(text), read_quote(other))
    return (
        near_duplicate(bag, other_bag)
        and not names_differ(words_said(text), words_said(other))
        and not of_different_people(read_quote(text), read_quote(other))
    )
