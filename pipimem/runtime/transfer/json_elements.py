"""The values of a long JSON file one by one: elements of an array, or one value a line."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import BinaryIO

from pipimem.errors import ArchiveError

_PIECE = 1024 * 1024
# A conversation of years has 20 MB; what is longer is no element but a broken file.
_LONGEST = 64 * 1024 * 1024
_BLANK = re.compile(r"[ \t\r\n]*")
_BETWEEN = re.compile(r"[ \t\r\n,]*")


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
            if len(self._text) - self._at > _LONGEST:
                raise self._broken("it is no JSON, or too long")
            self._read(size)
            size *= 2  # a long element is not tried again at each piece

    def _read(self, size: int) -> bool:
        """Reads on; whether there was more."""
        try:
            more = self._file.read(size)
        except UnicodeDecodeError as error:
            raise self._broken(f"it is not UTF-8 (byte {error.start} of a piece)") from error
        self._text = self._text[self._at :] + more
        self._at = 0
        self._has_ended = not more
        return bool(more)

    def _broken(self, why: str) -> ArchiveError:
        number = self._count + 1
        return ArchiveError(f"{self._name}, element {number}: {why}; nothing was taken in")
