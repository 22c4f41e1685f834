"""Cuts runs of Han characters into words, with the same results as jieba 0.42.1.

The method is jieba's: the most probable path through all words of the dictionary, and a hidden Markov model
(states B, M, E, S: begin, middle, end of a word, single) for stretches of single characters the dictionary does
not join. Sums and ties are resolved in jieba's order, so that results are equal to the last bit.

All words that start with a character lie in that character's shard, and so do all prefixes of them. So only the
shards of the characters at hand are loaded: a short text costs milliseconds, not most of a second.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from math import exp, log
from pathlib import Path

from pipimem.text import domain_words
from pipimem.text.dictionary import UNSEEN, Dictionary, opened
from pipimem.text.patterns import Pattern

# What jieba calls Han; rarer characters come out one by one, as they do there.
_HAN = Pattern(r"([\u4e00-\u9fd5]+)")

# jieba's model of how the states of a word follow each other (finalseg/prob_start.py, prob_trans.py), as logarithms.
_START_B, _START_S = -0.26268660809250016, -1.4652633398537678
_B_E, _B_M = -0.510825623765990, -0.916290731874155
_E_B, _E_S = -0.5897149736854513, -0.8085250474669937
_M_E, _M_M = -0.33344856811948514, -1.2603623820268226
_S_B, _S_S = -0.7211965654669841, -0.6658631448798212

_UNSEEN_EMISSIONS = (UNSEEN, UNSEEN, UNSEEN, UNSEEN)

# No word of the dictionary: differs from None, which marks a prefix that is no word itself.
_ABSENT = 0.0


class _WeightOfFrequency(dict[str, float | None]):
    """log(frequency / total) of a frequency as written in a shard; most words share a few hundred of them."""

    def __init__(self, total: int) -> None:
        super().__init__({"0": None})
        self.log_total = log(total)

    def __missing__(self, frequency: str) -> float:
        weight = self[frequency] = log(int(frequency)) - self.log_total
        return weight


class Segmenter:
    """Cuts Han text into words; opens the dictionary on first use, and of it what the text needs.

    `cache_dir` is where the prepared dictionary is kept (None: the user's cache folder).
    Safe to use from several threads.
    """

    def __init__(self, cache_dir: Path | None = None) -> None:
        self._cache_dir = cache_dir
        self._lock = threading.RLock()
        self._dictionary: Dictionary | None = None
        self._weight_of_frequency = _WeightOfFrequency(1)
        self._weights: dict[str, float | None] = {}
        self._emissions: dict[str, tuple[float, float, float, float]] = {}
        self._loaded: set[str] = set()

    def cut(self, text: str) -> list[str]:
        """The words of a run of Han, in order; joined they are the text again."""
        words: list[str] = []
        for position, piece in enumerate(_HAN().split(text)):
            if position % 2:
                self._load(piece)
                words += self._joined(self._path(piece))
            else:
                words += piece
        return words

    def inner(self, word: str) -> list[str]:
        """The words of two, then of three characters that a longer word holds; the word must come from `cut`."""
        weight = self._weights.get
        size = len(word)
        pairs = [word[i : i + 2] for i in range(size - 1) if weight(word[i : i + 2])] if size > 2 else []
        triples = [word[i : i + 3] for i in range(size - 2) if weight(word[i : i + 3])] if size > 3 else []
        return pairs + triples

    def knows(self, word: str) -> bool:
        """Whether the dictionary holds the word; it must come from `cut`."""
        return self._weights.get(word) is not None

    def add_words(self, words: Iterable[str]) -> None:
        """Let these words of two or more Han characters win over the shorter words they would be cut into."""
        with self._lock:
            for word in words:
                if len(word) > 1 and _HAN().fullmatch(word):
                    self._add(word)

    def load_all(self) -> None:
        """Open the whole dictionary at once (0.4 s, about 70 MB), for bulk work that should not stop for it later."""
        self._load("".join(self._opened().spans))

    def _opened(self) -> Dictionary:
        with self._lock:
            if self._dictionary is None:
                self._dictionary = opened(self._cache_dir)
                self._weight_of_frequency = _WeightOfFrequency(self._dictionary.total)
            return self._dictionary

    def _load(self, text: str) -> None:
        missing = set(text).difference(self._loaded)
        if not missing:
            return
        with self._lock:
            dictionary = self._opened()
            for character in missing.difference(self._loaded):
                shard = dictionary.shard(character)
                if shard is not None:
                    weights = map(self._weight_of_frequency.__getitem__, shard.frequencies)
                    self._weights.update(zip(shard.words, weights, strict=True))
                    self._emissions[character] = shard.emissions
                for word in domain_words.BY_FIRST_CHARACTER.get(character, ()):
                    self._add_frequent(word)
                self._loaded.add(character)  # last: another thread trusts it without the lock

    def _add_frequent(self, word: str) -> None:
        """A word of ours, if the dictionary's own figure is not larger; the shard of its first character is loaded."""
        weight = log(domain_words.FREQUENCY) - self._weight_of_frequency.log_total
        self._weights[word] = max(weight, self._weights.get(word) or weight)
        for end in range(1, len(word)):
            self._weights.setdefault(word[:end], None)

    def _add(self, word: str) -> None:
        self._load(word)
        total, log_total = self._opened().total, self._weight_of_frequency.log_total
        parts = [self._weights.get(part) or -log_total for part in self._path(word)]
        weight = log(int(exp(sum(parts)) * total) + 1) - log_total
        self._weights[word] = max(weight, self._weights.get(word) or weight)
        for end in range(1, len(word)):
            self._weights.setdefault(word[:end], None)

    def _path(self, run: str) -> list[str]:
        """The most probable way to cut the run into words of the dictionary."""
        weight_of = self._weights.get
        unknown = -self._weight_of_frequency.log_total  # an unknown character counts as seen once
        size = len(run)
        best = [0.0] * (size + 1)
        ends = [0] * size
        for start in range(size - 1, -1, -1):
            top, top_end = unknown + best[start + 1], 0
            end = start + 1
            weight = weight_of(run[start:end], _ABSENT)
            while weight != _ABSENT:
                if weight is not None:
                    score = weight + best[end]
                    if score >= top or not top_end:  # of equals, the longest
                        top, top_end = score, end
                end += 1
                if end > size:
                    break
                weight = weight_of(run[start:end], _ABSENT)
            best[start], ends[start] = top, top_end or start + 1
        words, start = [], 0
        while start < size:
            words.append(run[start : ends[start]])
            start = ends[start]
        return words

    def _joined(self, path: list[str]) -> list[str]:
        """The path with its stretches of single characters given to the model, which knows how names are made."""
        words: list[str] = []
        singles: list[str] = []
        for word in path:
            if len(word) == 1:
                singles.append(word)
                continue
            if singles:
                words += self._recognised(singles)
                singles = []
            words.append(word)
        if singles:
            words += self._recognised(singles)
        return words

    def _recognised(self, singles: list[str]) -> list[str]:
        stretch = "".join(singles)
        if len(singles) == 1 or self._weights.get(stretch) is not None:
            return singles
        return _words_by_states(stretch, [self._emissions.get(c, _UNSEEN_EMISSIONS) for c in singles])


def _words_by_states(stretch: str, emissions: list[tuple[float, float, float, float]]) -> list[str]:
    """Viterbi's most probable states of the characters, read as words; of equals jieba prefers S to E, M to B."""
    begin, middle, end, single = emissions[0]
    b, m, e, s = _START_B + begin, UNSEEN + middle, UNSEEN + end, _START_S + single
    came: list[tuple[bool, bool, bool, bool]] = []  # per character: B from S, M from M, E from M, S from S
    for begin, middle, end, single in emissions[1:]:
        b_of_e, b_of_s = e + _E_B + begin, s + _S_B + begin
        m_of_b, m_of_m = b + _B_M + middle, m + _M_M + middle
        e_of_b, e_of_m = b + _B_E + end, m + _M_E + end
        s_of_e, s_of_s = e + _E_S + single, s + _S_S + single
        came.append((b_of_s >= b_of_e, m_of_m >= m_of_b, e_of_m >= e_of_b, s_of_s >= s_of_e))
        b, m = max(b_of_e, b_of_s), max(m_of_b, m_of_m)
        e, s = max(e_of_b, e_of_m), max(s_of_e, s_of_s)
    state = "S" if s >= e else "E"
    words: list[str] = []
    stop = len(stretch)
    for position in range(len(stretch) - 1, -1, -1):
        if state in "BS":  # a word begins here
            words.append(stretch[position:stop])
            stop = position
        if position:
            from_s, from_m, e_from_m, s_from_s = came[position - 1]
            match state:
                case "B":
                    state = "S" if from_s else "E"
                case "M":
                    state = "M" if from_m else "B"
                case "E":
                    state = "M" if e_from_m else "B"
                case _:
                    state = "S" if s_from_s else "E"
    if stop:
        words.append(stretch[:stop])
    return words[::-1]
