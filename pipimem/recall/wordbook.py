"""The words of texts as they were cut before, so that a start need not cut them again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from pipimem.text.words import Bag, Words

# By a mark of the text: 64 bits, so that a wrong one is not to be expected among millions.
_MARK_BYTES = 8


class Wordbook:
    """Cuts texts, or knows their words already; `cut` counts those it had to cut."""

    def __init__(self, words: Words, key: bytes, written: str = "") -> None:
        self._words, self._key = words, key
        self._vocabulary, self._rows = _read(written)
        self.cut = 0

    def bag(self, text: str) -> Bag:
        """The words of a text."""
        if not self._rows or (row := self._rows.get(_mark(text, self._key))) is None:
            self.cut += 1
            return self._words.bag(text)
        negations, count, *places = row
        said = [self._vocabulary[place] for place in places]
        return Bag(tuple(said[:count]), tuple(said[count:]), negations)

    def written(self, bags: Iterable[tuple[str, Bag]]) -> str:
        """These texts' words as one line of JSON: each word once, then by the mark of a text where its words stand.

        The texts themselves are not in it.
        """
        places: dict[str, int] = {}
        rows = {
            _mark(text, self._key): [
                bag.negations,
                len(bag.words),
                *[places.setdefault(word, len(places)) for word in (*bag.words, *bag.grams)],
            ]
            for text, bag in bags
        }
        book = {"vocabulary": list(places), "texts": rows}
        return json.dumps(book, ensure_ascii=False, separators=(",", ":"))


def _read(written: str) -> tuple[Sequence[str], Mapping[str, list[int]]]:
    # Whether it is whole, whoever kept it has checked.
    match json.loads(written) if written else None:
        case {"vocabulary": list(vocabulary), "texts": dict(rows)}:
            return vocabulary, rows
    return (), {}


def _mark(text: str, key: bytes) -> str:
    return blake2b(
        text.encode("utf-8", "surrogatepass"), key=key, digest_size=_MARK_BYTES
    ).hexdigest()
