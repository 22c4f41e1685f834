"""Where words stand: word → item → what the word counts in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipimem.recall.spelling import Spelling

# BM25 with its usual saturation. Items are short, so a longer one is hardly ever about more things: a small
# `b`. The length is held against a fixed one and not the channel's mean, so that an impact once computed
# stays true.
_K1 = 1.2
_B = 0.2
_USUAL_LENGTH = 16
# A long message or section may hold one sentence that matters: beyond this length it is punished no further.
_LONG = 6 * _USUAL_LENGTH


# No count comes above it.
HIGHEST_IMPACT = _K1 + 1


def impact(count: int, length: int) -> float:
    """What a word that stands `count` times in an item of `length` words counts: BM25's saturated count."""
    norm = _K1 * (1 - _B + _B * min(length, _LONG) / _USUAL_LENGTH)
    return count * (_K1 + 1) / (count + norm)


@dataclass(slots=True)
class Postings:
    """Word → slot → impact, the saturated count of the word in the item of that slot."""

    by_word: dict[str, dict[int, float]] = field(default_factory=dict)

    def add(self, slot: int, words: Sequence[str], *, spelling: Spelling | None = None) -> None:
        """Take in the words of an item; `spelling` learns those that are new."""
        length, once = len(words), impact(1, len(words))
        by_word = self.by_word
        for word in words:
            slots = by_word.get(word)
            if slots is None:
                slots = by_word[word] = {}
                if spelling is not None:
                    spelling.add(word)
            slots[slot] = once
        if len(set(words)) < length:
            for word, count in Counter(words).items():
                if count > 1:
                    by_word[word][slot] = impact(count, length)

    def copy(self) -> Postings:
        """The same, to be changed by itself."""
        return Postings({word: slots.copy() for word, slots in self.by_word.items()})

    def remove(self, slot: int, words: Iterable[str], *, spelling: Spelling | None = None) -> None:
        """Forget the words of an item."""
        for word in set(words):
            slots = self.by_word[word]
            del slots[slot]
            if not slots:
                del self.by_word[word]
                if spelling is not None:
                    spelling.remove(word)
