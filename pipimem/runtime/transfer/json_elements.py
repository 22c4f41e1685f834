"""The values of a long JSON file one by one: elements of an array, or one value a line."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from typing import BinaryIO

from pipimem.errors import ArchiveError

_PIECE = 1024 * 1024
# An element that is longer than the first piece is read on in ever longer ones, up to this.
_LONGEST_PIECE = 4 * _PIECE
# Bytes in memory. A conversation of years has 20 MB; what is longer is no element but a broken
# file.
_LONGEST = 64 * 1024 * 1024
# Bytes that the values of an element may take at most, estimated from its signs: of an object, an
# array, a string without what it says, and a place in one of them.
_MOST_VALUES = 128 * 1024 * 1024
_COSTS = (("{", 200), ("[", 80), ('"', 30), (",", 10))
_BLANK = re.compile(r"[ \t\r\n]*")
_BETWEEN = re.compile(r"[ \t\r\n,]*")
# One of these in a text makes each of its characters take four bytes. Replacing takes 100 bytes for
# each, so a few are replaced at once.
_ESCAPED_AT_ONCE = 65_536
_ASTRAL = re.compile(r"[\U00010000-\U0010ffff]")


class JsonElements:
    """Reads a file of gigabytes with no more than its longest element in memory."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = io.TextIOWrapper(file, encoding="utf-8-sig", errors="strict")
        self._name = name
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._has_ended = False
        self._count = 0

    def __iter__(self) -> Iterator[object]:
        self._skip(_BLANK)
        is_array = self._text[self._at : self._at + 1] == "["
        self._at += is_array
        while True:
            self._skip(_BETWEEN)
            rest = self._text[self._at : self._at + 1]
            if not rest and not is_array:
                return
            if rest == "]" and is_array:
                return
            yield self._next()

    def _skip(self, signs: re.Pattern[str]) -> None:
        """Goes on to what is none of some signs."""
        while True:
            found = signs.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text) or not self._read(_PIECE):
                return

    def _next(self) -> object:
        size = _PIECE
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise self._broken("it is nested too deeply") from error
            except ValueError as error:
                if self._has_ended:
                    raise self._broken("it is cut short, or no JSON") from error
            else:
                # A number may go on behind what was read.
                if end < len(self._text) or self._has_ended:
                    self._at, self._count = end, self._count + 1
                    return value
                del value  # its room is needed
            self._read_more_of_it(size)
            size = min(2 * size, _LONGEST_PIECE)  # not tried again at each piece

    def _read_more_of_it(self, size: int) -> None:
        """Reads on in an element that has not ended, unless it is longer than any."""
        if sys.getsizeof(self._text) > _LONGEST:
            raise self._broken("it is no JSON, or too long")
        self._read(size)
        if sum(self._text.count(sign) * cost for sign, cost in _COSTS) > _MOST_VALUES:
            raise self._broken("it has too many values for one element")

    def _read(self, size: int) -> bool:
        """Reads on; whether there was more."""
        try:
            more = self._file.read(size)
        except UnicodeDecodeError as error:
            raise self._broken(f"it is not UTF-8 (byte {error.start} of a piece)") from error
        self._has_ended = not more
        rest, self._text = self._text[self._at :], ""
        self._text = rest + _narrow(more)
        self._at = 0
        return not self._has_ended

    def _broken(self, why: str) -> ArchiveError:
        number = self._count + 1
        return ArchiveError(f"{self._name}, element {number}: {why}; nothing was taken in")


def _narrow(text: str) -> str:
    """The same JSON with no character that would widen all others."""
    if not _ASTRAL.search(text):
        return text
    starts = range(0, len(text), _ESCAPED_AT_ONCE)
    return "".join(
        _ASTRAL.sub(_escaped, text[start : start + _ESCAPED_AT_ONCE]) for start in starts
    )


def _escaped(found: re.Match[str]) -> str:
    """A character as JSON writes it with the signs of ASCII."""
    return json.dumps(found[0])[1:-1]
