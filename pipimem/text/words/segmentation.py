"""Cuts Han text into words with jieba, whose dictionary is read as texts need it.

All words that begin with a character stand together in jieba's `dict.txt`, and so do all prefixes
of them: a few lines of the file are enough for a short text. Read whole it costs most of a second.
jieba's own cache, which lies in the shared temporary folder and is believed whoever wrote it, is
neither read nor written.
"""

from __future__ import annotations

import sys
import threading
import warnings
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from io import BytesIO
from typing import Any

from pipimem.text.characters import HAN, HAN_CHARACTER
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import by_first_character

_ALL_HAN = Pattern(rf"[{HAN}]+")

# The dictionary of jieba 0.42.1: its size in bytes, and the sum of its frequencies. From the first
# line that begins with 一 its lines are sorted by their first character, which a test checks. Any
# other file is read whole.
_SORTED_SIZE = 5_071_852
_SORTED_TOTAL = 60_101_967
_FIRST_SORTED = "\n一".encode()

# A run of one character 100,000 times took half a minute: jieba's time for what it does not know
# grows with the square of its length. Nobody writes so much without a sign.
_MOST_AT_ONCE = 500

# Words of ours count as neither rare nor common in the dictionary's own corpus: enough to win over
# their pieces.
_FREQUENCY = 500

_IMPORTING = threading.Lock()


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
        """The words of two, then of three characters that a longer word holds.

        The word must come from `cut`.
        """
        return list(filter(self.knows, _parts(word, 2) + _parts(word, 3)))

    def knows(self, word: str) -> bool:
        """Whether the dictionary holds the word; it must come from `cut`."""
        return bool(self._tokenizer.FREQ.get(word))

    def add_words(self, words: Iterable[str]) -> None:
        """Let these words of two or more Han characters win over the words they consist of."""
        for word in words:
            if len(word) > 1 and _ALL_HAN().fullmatch(word):
                self._load(word)
                with self._lock:
                    self._tokenizer.add_word(word)

    def _load(self, text: str) -> None:
        """Read what the dictionary has of the Han characters of a text, where that is not done."""
        missing = set(text).difference(self._loaded)
        if self._tokenizer is not None and not missing:
            return
        with self._lock:
            if self._tokenizer is None:
                self._open()
            for character in missing.difference(self._loaded):
                self._load_character(character)
                self._loaded.add(character)  # last: another thread trusts it without the lock

    def _load_character(self, character: str) -> None:
        if HAN_CHARACTER().match(character):
            self._tokenizer.FREQ.update(self._words_of(character))
        for word in by_first_character().get(character, ()):
            self._add_frequent(word)

    def _open(self) -> None:
        tokenizer = _jieba_tokenizer()
        lines = _dictionary()
        if len(lines) == _SORTED_SIZE:
            self._lines, self._sorted_from = lines, lines.index(_FIRST_SORTED) + 1
            tokenizer.FREQ, _ = tokenizer.gen_pfdict(BytesIO(lines[: self._sorted_from]))
            tokenizer.total = _SORTED_TOTAL
        else:
            tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(BytesIO(lines))
        tokenizer.initialized = True  # or it would look for its cache in the temporary folder
        self._tokenizer = tokenizer

    def _words_of(self, character: str) -> dict[str, int]:
        """The words that begin with a character, and their frequencies; their prefixes with 0."""
        lines = self._lines[self._start(character) : self._start(chr(ord(character) + 1))]
        fields = lines.decode().split()  # three a line: word, frequency, part of speech
        words = fields[::3]
        found = dict.fromkeys((word[:end] for word in words for end in range(1, len(word))), 0)
        found.update(zip(words, map(int, fields[1::3]), strict=True))
        return found

    def _start(self, character: str) -> int:
        """Where the first line stands that begins with a character or, in UTF-8, a later one."""
        first = character.encode()

        def line_at(position: int) -> bytes:
            start = self._lines.rfind(b"\n", 0, position) + 1
            return self._lines[start : start + len(first)]

        return bisect_left(range(len(self._lines)), first, lo=self._sorted_from, key=line_at)

    def _add_frequent(self, word: str) -> None:
        """Add a word of ours, if the dictionary's own figure is not larger."""
        frequencies = self._tokenizer.FREQ
        frequencies[word] = max(_FREQUENCY, frequencies.get(word, 0))
        for end in range(1, len(word)):
            frequencies.setdefault(word[:end], 0)


def _parts(word: str, length: int) -> list[str]:
    """All parts of so many characters; none of a word that is no longer."""
    if len(word) <= length:
        return []
    return [word[start : start + length] for start in range(len(word) - length + 1)]


@cache  # 5 MB, the same for all workspaces of a process
def _dictionary() -> bytes:
    """The lines of jieba's dictionary."""
    with _jieba_tokenizer().get_dict_file() as file:
        lines: bytes = file.read()
    return lines


def _jieba_tokenizer() -> Any:  # noqa: ANN401 - jieba has no types
    """A tokenizer of jieba's, imported without `pkg_resources` and without a line on stderr.

    `pkg_resources` takes 70 ms and warns. Meanwhile `pkg_resources` looks as if it were not
    installed; jieba then opens its files with `open`. Afterwards others can import it as ever.
    """
    with _IMPORTING:
        hidden = "pkg_resources" not in sys.modules
        if hidden:
            # None makes an import fail.
            sys.modules["pkg_resources"] = None  # type: ignore[assignment]
        try:
            # Python 3.12 complains of jieba's patterns where it has to compile them.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                from jieba import Tokenizer  # here: 30 ms, and only Chinese needs it
        finally:
            if hidden:
                del sys.modules["pkg_resources"]
    return Tokenizer()
