"""Cuts Han text into words with jieba, whose dictionary is read by first characters, as texts need them.

All words that begin with a character stand together in jieba's `dict.txt`, and so do all prefixes of them: a few
lines of the file are enough for a short text. Read whole it costs most of a second. jieba's own cache, which lies in
the shared temporary folder and is believed whoever wrote it, is neither read nor written.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from pipimem.text import domain_words
from pipimem.text.han import HAN, HAN_CHARACTER
from pipimem.text.patterns import Pattern

_ALL_HAN = Pattern(rf"[{HAN}]+")

# The dictionary of jieba 0.42.1: its size in bytes, and the sum of its frequencies. From the first line that begins
# with 一 its lines are sorted by their first character, which a test checks. Any other file is read whole.
_SORTED_SIZE = 5_071_852
_SORTED_TOTAL = 60_101_967
_FIRST_SORTED = "\n一".encode()

# A run of one character 100,000 times took half a minute: jieba's time for what it does not know grows with the square
# of its length. Nobody writes so much without a sign.
_MOST_AT_ONCE = 500


class Segmenter:
    """Cuts Han text into words; imports jieba and opens its dictionary on first use.

    Safe to use from several threads. What `add_words` adds is known to this segmenter only.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokenizer: Any = None  # jieba has no types
        self._lines = b""
        self._sorted_from = 0
        self._loaded: set[str] = set()

    def is_ready_for(self, text: str) -> bool:
        """Whether all is read that the dictionary has of the Han characters of a text."""
        return self._loaded.issuperset(HAN_CHARACTER().findall(text))

    def cut(self, text: str) -> list[str]:
        """The words of a run of Han, in order; joined they are the text again."""
        self._load(text)
        words: list[str] = []
        for start in range(0, len(text), _MOST_AT_ONCE):
            words += self._tokenizer.cut(text[start : start + _MOST_AT_ONCE])
        return words

    def inner(self, word: str) -> list[str]:
        """The words of two, then of three characters that a longer word holds; the word must come from `cut`."""
        size = len(word)
        found: list[str] = []
        for length in (2, 3):
            if size > length:
                parts = (word[start : start + length] for start in range(size - length + 1))
                found += [part for part in parts if self.knows(part)]
        return found

    def knows(self, word: str) -> bool:
        """Whether the dictionary holds the word; it must come from `cut`."""
        return bool(self._tokenizer.FREQ.get(word))

    def add_words(self, words: Iterable[str]) -> None:
        """Let these words of two or more Han characters win over the shorter words they would be cut into."""
        for word in words:
            if len(word) > 1 and _ALL_HAN().fullmatch(word):
                self._load(word)
                with self._lock:
                    self._tokenizer.add_word(word)

    def _load(self, text: str) -> None:
        """Read what the dictionary has of the Han characters of a text, as far as that has not been done."""
        missing = set(text).difference(self._loaded)
        if self._tokenizer is not None and not missing:
            return
        with self._lock:
            if self._tokenizer is None:
                self._open()
            for character in missing.difference(self._loaded):
                if HAN_CHARACTER().match(character):
                    self._tokenizer.FREQ.update(self._words_of(character))
                for word in domain_words.BY_FIRST_CHARACTER.get(character, ()):
                    self._add_frequent(word)
                self._loaded.add(character)  # last: another thread trusts it without the lock

    def _open(self) -> None:
        from pipimem.text.jieba_import import Tokenizer  # here: 30 ms, and only Chinese needs it

        tokenizer = Tokenizer()
        with tokenizer.get_dict_file() as file:
            lines = file.read()
        if len(lines) == _SORTED_SIZE:
            self._lines, self._sorted_from = lines, lines.index(_FIRST_SORTED) + 1
            tokenizer.FREQ, _ = tokenizer.gen_pfdict(BytesIO(lines[: self._sorted_from]))
            tokenizer.total = _SORTED_TOTAL
        else:
            tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(BytesIO(lines))
        tokenizer.initialized = True  # or it would look for its cache in the temporary folder
        self._tokenizer = tokenizer

    def _words_of(self, character: str) -> dict[str, int]:
        """The words that begin with a character, with their frequencies, and their prefixes with 0."""
        lines = self._lines[self._start(character) : self._start(chr(ord(character) + 1))]
        fields = lines.decode().split()  # three a line: word, frequency, part of speech
        words = fields[::3]
        found = dict.fromkeys((word[:end] for word in words for end in range(1, len(word))), 0)
        found.update(zip(words, map(int, fields[1::3]), strict=True))
        return found

    def _start(self, character: str) -> int:
        """Where the first line stands that begins with a character or a later one (UTF-8 keeps their order)."""
        first = character.encode()

        def line_at(position: int) -> bytes:
            start = self._lines.rfind(b"\n", 0, position) + 1
            return self._lines[start : start + len(first)]

        return bisect_left(range(len(self._lines)), first, lo=self._sorted_from, key=line_at)

    def _add_frequent(self, word: str) -> None:
        """Add a word of ours, if the dictionary's own figure is not larger."""
        frequencies = self._tokenizer.FREQ
        frequencies[word] = max(domain_words.FREQUENCY, frequencies.get(word, 0))
        for end in range(1, len(word)):
            frequencies.setdefault(word[:end], 0)
