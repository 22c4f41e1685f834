"""The inverted index of a channel: which items hold a word, and how it follows the notes."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from hashlib import blake2b
from typing import NamedTuple

from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.recall.items import (
    Item,
    Source,
    backlog_items,
    history_items,
    memory_items,
    said_by,
    session_items,
    workspace_items,
)
from pipimem.recall.phrases import is_kind, kind_marks
from pipimem.recall.postings import HIGHEST_IMPACT, Postings, pairs, rarity
from pipimem.recall.scoring import MatchedTerm, Matches, Term, ordered, totals_of
from pipimem.text.quotes import QuoteParts, read_quote
from pipimem.text.words.index_words import GRAM, Bag, Words

# By a hash of the text: 64 bits, so that a wrong one is not to be expected among millions.
_HASH_BYTES = 8


class TokenCache:
    """Cuts texts, or knows their words already; `cut` counts those it had to cut."""

    def __init__(self, words: Words, key: bytes, written: str = "") -> None:
        self._words, self._key = words, key
        self._vocabulary, self._rows = _read(written)
        self.cut = 0

    def bag(self, text: str) -> Bag:
        """The words of a text."""
        row = self._rows.get(_hash(text, self._key)) if self._rows else None
        if row is None:
            self.cut += 1
            return self._words.bag(text)
        negations, count, *places = row
        words = [self._vocabulary[place] for place in places]
        return Bag(tuple(words[:count]), tuple(words[count:]), negations)

    def written(self, bags: Iterable[tuple[str, Bag]]) -> str:
        """These texts' words as one line of JSON, without the texts themselves.

        `vocabulary` has each word once, `texts` by the hash of a text where its words stand in it.
        """
        places: dict[str, int] = {}
        rows: dict[str, list[int]] = {}
        for text, bag in bags:
            words = [places.setdefault(word, len(places)) for word in (*bag.words, *bag.grams)]
            rows[_hash(text, self._key)] = [bag.negations, len(bag.words), *words]
        kept = {"vocabulary": list(places), "texts": rows}
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def _read(written: str) -> tuple[Sequence[str], Mapping[str, list[int]]]:
    # Whether it is whole, whoever kept it has checked.
    match json.loads(written) if written else None:
        case {"vocabulary": list(vocabulary), "texts": dict(rows)}:
            return vocabulary, rows
    return (), {}


def _hash(text: str, key: bytes) -> str:
    encoded = text.encode("utf-8", "surrogatepass")
    return blake2b(encoded, key=key, digest_size=_HASH_BYTES).hexdigest()


_Changed = tuple[Source, tuple[object, ...], Sequence[Item]]
"""A source, the values that its items were made of, and the items."""


class IndexSync:
    """Brings an index up to notes, and remembers which it has seen: the same value costs nothing.

    The owner of the channel owns it, and its index.
    """

    def __init__(
        self, index: Index, seen: Mapping[Source, tuple[object, ...]] | None = None
    ) -> None:
        """`seen` are the values that the index holds already."""
        self.index = index
        self._seen = dict(seen or {})

    def update(self, notes: Notes, backlog: Sequence[Message] = ()) -> None:
        """Bring the index up to these notes and the messages that are not consolidated yet."""
        self._take_in(self._changed(notes, backlog))

    def updated(self, notes: Notes, backlog: Sequence[Message] = ()) -> IndexSync:
        """Returns a sync of these notes; where words come or go, over a copy of the index.

        So this may go on in another thread while questions are asked.
        """
        changed = list(self._changed(notes, backlog))
        is_copied = any(self.index.has_other_texts(items, source) for source, _, items in changed)
        other = IndexSync(self.index.copy() if is_copied else self.index, self._seen)
        other._take_in(changed)
        return other

    def _take_in(self, changed: Iterable[_Changed]) -> None:
        for source, values, items in changed:
            self.index.update(items, source)
            self._seen[source] = values

    def _changed(self, notes: Notes, backlog: Sequence[Message]) -> Iterator[_Changed]:
        """The sources that are other values than last time, with their items."""
        records, gone = notes.ledger.records, notes.ledger.tombstones
        sources: tuple[tuple[Source, tuple[object, ...], Callable[..., Sequence[Item]]], ...] = (
            (Source.SESSION, (notes.session, gone), session_items),
            (Source.MEMORY, (notes.memory, records, not notes.is_direct), memory_items),
            (Source.WORKSPACE, (notes.workspace,), workspace_items),
            (Source.HISTORY, (notes.history, gone, records), history_items),
            (Source.LOG, tuple(backlog), backlog_items),
        )
        for source, values, items in sources:
            # By identity: comparing texts would cost what this saves. The values are kept, so no
            # other can get their place.
            seen = self._seen.get(source)
            if seen is None or list(map(id, seen)) != list(map(id, values)):
                yield source, values, items(*values)


# Two characters next to each other say less than a word: they find compounds the dictionary does
# not know.
_GRAM_WEIGHT = 0.25
# A gram of one character: the mark and the character.
_SINGLE = len(GRAM) + 1
# As if this many items about other things stood beside: in a memory of three, a word of two of them
# is still rare.
_OTHER_ITEMS = 20
# What stands in for a word and is as common as this says nothing, and has the longest lists to go
# through.
_MIN_SYNONYM_WEIGHT = 0.15
# What a word reached through its spelling counts, against the word itself.
_MISSPELT_WEIGHT = 0.75
_NO_POSTINGS: Mapping[int, float] = {}
# Before a word of somebody's name: what they said. No text has such a word.
_SAID_BY = "said by:"


class Said(NamedTuple):
    """Who said it and when, where the text is a quote, and the words that were said."""

    quote: QuoteParts
    bag: Bag
    words: frozenset[str]


class Index:
    """Items by their words, brought up to date by difference; the owner of the channel owns it."""

    def __init__(self, words: Words, cut: Callable[[str], Bag] | None = None) -> None:
        """`words` cut questions; texts, too, unless `cut` has another way to know their words."""
        self.words = words
        self._cut = cut or words.bag
        self._slots: dict[str, int] = {}
        self._items: dict[int, Item] = {}
        self._bags: dict[int, Bag] = {}
        self._said: dict[int, Said] = {}
        self._free: list[int] = []
        self._parts: dict[str, dict[str, Item]] = {}
        self._postings = Postings()

    def __len__(self) -> int:
        return len(self._slots)

    def items(self, part: str) -> Sequence[Item]:
        """The items of a part, in the order in which they were given."""
        return tuple(self._parts.get(part, {}).values())

    def slots(self) -> Sequence[tuple[int, Item]]:
        """Every item with its slot."""
        return tuple(self._items.items())

    def copy(self) -> Index:
        """An equal one to be changed; questions that are asked meanwhile find what they found."""
        other = Index(self.words, self._cut)
        for name in ("_slots", "_items", "_bags", "_said", "_free", "_parts", "_postings"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def has_other_texts(self, items: Iterable[Item], part: str) -> bool:
        """Whether `update` with these items would put in or take out words.

        Where it would not, the items' places and impacts stay as they are.
        """
        old = self._parts.get(part, {})
        count = 0
        for item in items:
            before = old.get(item.id)
            if before is None or (before.text, before.head) != (item.text, item.head):
                return True
            count += 1
        return count < len(old)

    def update(self, items: Iterable[Item], part: str = "") -> None:
        """Makes `items` all there is of `part`; of equal ids the first stands.

        An item that is the same value costs a comparison, one that kept its text is not cut into
        words.
        """
        old = self._parts.get(part, {})
        fresh: dict[str, Item] = {}
        for item in items:
            fresh.setdefault(item.id, item)
        for name in old.keys() - fresh.keys():
            self._remove(name)
        for name, item in fresh.items():
            before = old.get(name)
            if before is not item and before != item:
                self._put(item, before)
        self._parts[part] = fresh

    def item(self, slot: int) -> Item:
        """The item in a slot that `search` named."""
        return self._items[slot]

    def said_by(self, name: str) -> Set[int]:
        """The slots of what somebody said; empty for a name that nobody has here."""
        marks = [_SAID_BY + word for word in self.words.words(name)]
        return self._postings.together(marks).keys() if marks else frozenset()

    def weightiest(
        self, places: Set[str], most: int, weight: Callable[[Item], tuple[float, float]]
    ) -> list[int]:
        """The slots of the `most` weightiest items of these kinds or sources."""
        found = [
            (weight(item), -slot)
            for slot, item in self.slots()
            if item.kind in places or item.source in places
        ]
        return [-slot for _, slot in heapq.nlargest(most, found)]

    def search(
        self, terms: Sequence[Term], grams: Sequence[str] = (), *, floor: float = 0.0
    ) -> Matches:
        """What the words of a question found: for each item the sum of what they count in it.

        With a `floor`, an item whose words that mean something cannot add up to it may be missing;
        the rest is exact.
        """
        matched = ordered(self._matched(terms, grams))
        return Matches(matched, totals_of(matched, floor))

    def shares(self, terms: Iterable[Term]) -> bool:
        """Return whether an item holds a word of a question that means something."""
        meant = (term for term in terms if not (term.weak or is_kind(term)))
        return any(self._matched_term(term) is not None for term in meant)

    def bags(self) -> Iterator[tuple[str, Bag]]:
        """Each text that can be searched, with its words, but for messages, which do not stay."""
        return (
            (item.searched, self._bags[slot])
            for slot, item in self.slots()
            if item.source is not Source.LOG
        )

    def bag(self, slot: int) -> Bag:
        """The words of the item in a slot."""
        return self._bags[slot]

    def said(self, slot: int) -> Said:
        """An item's text taken apart: without who said it, and what stands beside it.

        It is kept from when it is first asked for.
        """
        said = self._said.get(slot)
        if said is None:
            item, quote = self._items[slot], read_quote(self._items[slot].text)
            bag = self.words.bag(quote.said) if quote.name or item.head else self._bags[slot]
            said = self._said[slot] = Said(quote, bag, frozenset(bag.words))
        return said

    def _matched(self, terms: Sequence[Term], grams: Sequence[str]) -> Iterator[MatchedTerm]:
        """Each term that stands anywhere, with its weight and places; then the grams."""
        for term in terms:
            matched = self._matched_term(term)
            if matched is not None:
                yield matched
        for gram in grams:
            impacts = self._postings.by_word.get(gram)
            if impacts:
                weight = _GRAM_WEIGHT * self._rarity(len(impacts))
                term, highest = Term(gram, weak=True), weight * HIGHEST_IMPACT
                yield MatchedTerm(term, weight, highest, impacts, impacts, is_gram=True)

    def _matched_term(self, term: Term) -> MatchedTerm | None:
        literal = self._postings.by_word.get(term.word)
        if literal is None and len(term.word) == 1:  # a lone Han word of an entry is a gram
            literal = self._postings.by_word.get(GRAM + term.word)
        others = self._synonym_postings(term)
        if literal is None and not others:
            others = self._spelling_postings(term)
        if others:
            best = self._best(literal or {}, others)
            highest = term.weight * max(best.values())
            return MatchedTerm(term, term.weight, highest, best, literal or {})
        if literal is None:
            return None
        weight = term.weight * self._rarity(len(literal))
        # A weak word never decides what comes to the floor: a bound that costs no walk will do.
        highest = HIGHEST_IMPACT if term.weak else max(literal.values())
        return MatchedTerm(term, weight, weight * highest, literal, literal)

    def _synonym_postings(self, term: Term) -> list[tuple[Mapping[int, float], float]]:
        """Where words, grams and phrases stand that may take a term's place, and their share."""
        found: list[tuple[Mapping[int, float], float]] = []
        for word, share in term.instead:
            if " " in word:
                places = self._postings.together(word.split(" "))
            else:
                places = self._postings.by_word.get(word, _NO_POSTINGS)
            if places and self._rarity(len(places)) * share > _MIN_SYNONYM_WEIGHT:
                found.append((places, share))
        return found

    def _spelling_postings(self, term: Term) -> list[tuple[Mapping[int, float], float]]:
        """Where stands what an unknown word may mean: misspelt, or a part of a longer one."""
        known = self._postings.spelling.near_any(term.word, term.written)
        near = [self._postings.by_word[word] for word in known]
        found = (*near, self._inside_longer(term.word))
        return [(impacts, _MISSPELT_WEIGHT) for impacts in found if impacts]

    def _inside_longer(self, word: str) -> Mapping[int, float]:
        """Where an unknown Chinese word stands inside longer ones, as a given name does."""
        if word.isascii():
            return _NO_POSTINGS
        grams = [gram for gram in pairs(self.words.bag(word)) if len(gram) > _SINGLE]
        return self._postings.together(grams) if grams else _NO_POSTINGS

    def _best(
        self, slots: Mapping[int, float], others: Iterable[tuple[Mapping[int, float], float]]
    ) -> Mapping[int, float]:
        """Where a word or one of those in its place stands, with the best of what they count."""
        weight = self._rarity(len(slots))
        best = {slot: weight * impact for slot, impact in slots.items()}
        for places, share in others:
            weight = self._rarity(len(places)) * share
            for slot, impact in places.items():
                best[slot] = max(best.get(slot, 0.0), weight * impact)
        return best

    def _rarity(self, spread: int) -> float:
        """IDF over the channel: it means the same in small and large channels."""
        return rarity(spread, len(self._slots) + _OTHER_ITEMS)

    def _put(self, item: Item, before: Item | None) -> None:
        if before is not None and before.text == item.text and before.head == item.head:
            self._items[self._slots[item.id]] = item
            return
        bag = self._cut(item.searched)
        if before is not None:
            self._remove(item.id)
        slot = self._free.pop() if self._free else len(self._items)
        self._slots[item.id], self._items[slot], self._bags[slot] = slot, item, bag
        self._postings.add(slot, bag.words)
        self._postings.add(slot, pairs(bag))
        self._postings.add(slot, self._marks(item))

    def _marks(self, item: Item) -> list[str]:
        if item.source is Source.LOG:
            return []
        name = said_by(item)
        said = [_SAID_BY + word for word in self.words.words(name)] if name else []
        return [*said, *kind_marks(item.text)]

    def _remove(self, name: str) -> None:
        slot = self._slots.pop(name)
        bag = self._bags.pop(slot)
        item = self._items.pop(slot)
        self._postings.remove(slot, (*bag.words, *pairs(bag), *self._marks(item)))
        self._said.pop(slot, None)
        self._free.append(slot)
