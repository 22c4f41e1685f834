"""The files of a source, whether it is a folder, one file, or a ZIP file; never written to."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast
from zipfile import BadZipFile, ZipFile, is_zipfile

from msgspec import Struct, field

from pipimem.errors import ArchiveError
from pipimem.store.disk import presence
from pipimem.store.disk.syscalls import opened

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


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


# A note is a person's reading; what is longer is none.
_LONGEST_TEXT = 16 * 1024 * 1024
# A folder with more is no memory: somebody named a home folder.
_MOST_FILES = 50_000
_DEPTH = 8
# As for our own archives: text shrinks to a tenth, a bomb to a thousandth.
_MOST_SHRUNK, _FLOOR = 200, 64 * 1024 * 1024
_BUFFER = 256 * 1024
_BROKEN = (BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error)


@dataclass(slots=True)
class _ReadBytes:
    """How many bytes were read of all files; `report` gets the sum at each reading."""

    report: Callable[[int], None] = lambda _: None
    count: int = 0

    def counting(self, file: BinaryIO) -> BinaryIO:
        """The file, of which each reading is counted and reported."""
        return io.BufferedReader(_CountedFile(file, self), _BUFFER)

    def add(self, count: int) -> None:
        """Reports that so many bytes more were read."""
        self.count += count
        self.report(self.count)


class _CountedFile(io.RawIOBase):
    """A file that says how much is read of it; whoever opened it closes it."""

    def __init__(self, file: BinaryIO, read: _ReadBytes) -> None:
        self._file, self._count = file, read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        data = self._file.read(len(memoryview(buffer)))
        memoryview(buffer)[: len(data)] = data
        self._count.add(len(data))
        return len(data)


class SourceFiles(Struct, frozen=True):
    """The regular files of a source by their names in it, with `/` between folders.

    Links are not followed, and hidden folders are left out. What cannot be read raises
    `ArchiveError`.
    """

    path: Path
    names: tuple[str, ...]
    _zip: ZipFile | None = None
    _read: _ReadBytes = field(default_factory=lambda: _ReadBytes())

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder on the disk."""
        return self._zip is None and presence.is_folder(self.path)

    def named(self, *endings: str) -> tuple[str, ...]:
        """The names that end with one of some words."""
        return tuple(name for name in self.names if name.endswith(endings))

    def base(self, name: str) -> str:
        """The name without its folders."""
        return name.rpartition("/")[2]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        if self._zip is not None:
            return sum(self._zip.getinfo(name).file_size for name in self.names)
        return sum(self._place(name).stat().st_size for name in self.names)

    def report_to(self, report: Callable[[int], None]) -> None:
        """Has the bytes read of all files together reported, at each reading from now on."""
        self._read.report = report

    @contextmanager
    def stream(self, name: str) -> Iterator[BinaryIO]:
        """A file opened for reading."""
        with _sentences(f"{self.path}: {name}" if self.is_folder or self._zip else str(self.path)):
            if self._zip is not None:
                with self._zip.open(name) as member:
                    yield self._read.counting(cast("BinaryIO", member))
            else:
                with os.fdopen(opened(self._place(name)), "rb") as file:
                    yield self._read.counting(file)

    def text(self, name: str) -> str:
        """A whole text. Raises `ArchiveError` for one over 16 MiB, and for what is no UTF-8."""
        with self.stream(name) as file:
            data = file.read(_LONGEST_TEXT + 1)
        if len(data) > _LONGEST_TEXT:
            raise ArchiveError(f"{self.path}: {name} is longer than a text of 16 MiB")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ArchiveError(
                f"{self.path}: {name} is not UTF-8 text (byte {error.start}); save it as UTF-8"
            ) from error

    def head(self, name: str, size: int = 4096) -> str:
        """The beginning of a file as text, whatever it is; empty where it cannot be read."""
        try:
            with self.stream(name) as file:
                return file.read(size).decode("utf-8", "ignore").removeprefix("\ufeff")
        except (ArchiveError, OSError):
            return ""

    def _place(self, name: str) -> Path:
        return self.path / name if presence.is_folder(self.path) else self.path


@contextmanager
def _sentences(where: str) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise ArchiveError(f"{where} is damaged ({error}); nothing was taken in") from error


@contextmanager
def opened_source(path: Path) -> Iterator[SourceFiles]:
    """The files at a path. Raises `ArchiveError` for a ZIP file that is damaged or a bomb, and
    for a folder with too many files to be a memory.
    """
    if presence.is_folder(path):
        yield SourceFiles(path, tuple(_files_below(path)))
    elif is_zipfile(path):
        with _sentences(str(path)), ZipFile(path) as packed:
            _refuse_bomb(path, packed)
            files = (one for one in packed.infolist() if not one.is_dir())
            names = tuple(sorted({one.filename for one in files}))
            yield SourceFiles(path, names, packed)
    else:
        path.stat()  # what is not there is told by the system
        yield SourceFiles(path, (path.name,))


def _refuse_bomb(path: Path, packed: ZipFile) -> None:
    size = sum(one.file_size for one in packed.infolist())
    if size > max(_FLOOR, _MOST_SHRUNK * path.stat().st_size):
        raise ArchiveError(f"{path} would unpack to {size / 1e6:,.0f} MB: no export does that")


def _files_below(root: Path) -> Iterator[str]:
    count = 0
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        depth = len(here.relative_to(root).parts)
        folders[:] = sorted(one for one in folders if _is_looked_into(one) and depth < _DEPTH)
        for name in sorted(names):
            path = here / name
            if presence.is_file(path) and not presence.is_link(path):
                count += 1
                if count > _MOST_FILES:
                    raise ArchiveError(f"{root} has more than {_MOST_FILES:,} files; name the one")
                yield path.relative_to(root).as_posix()


def _is_looked_into(folder: str) -> bool:
    """Whether a folder may hold a memory; one program keeps its own in `.memory`."""
    return not folder.startswith(".") or folder == ".memory"
