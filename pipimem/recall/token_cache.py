"""The words of texts as they were cut before, so that a start need not cut them again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from pipimem.text.words.index_words import Bag, Words

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
