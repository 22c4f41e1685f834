"""Proof of a forgetting: where a text is found in the bytes of files and rows of databases."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pipimem.state.rows import Schema
from pipimem.state.sqlite import SqliteDatabase
from pipimem.store.disk import presence
from pipimem.store.disk.syscalls import store_errors
from pipimem.store.forget.targets import ForgetTargets

# What JSON, and other writers of it than ours, make of a character.
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Editors of other systems save so; the byte order mark is not needed to tell.
_WIDE = ("utf-16-le", "utf-16-be")
# SQLite reads it: whoever else closes the file drops the locks of this process on it.
_STATE = re.compile(r"state(~.*)?\.db")
_TEXT = re.compile(rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3}){2,}")


class Trace(Struct, frozen=True):
    """A file and a line where the text stands; 0 where it runs over lines or is in the name."""

    path: Path
    line: int


def traces(folders: Iterable[Path], text: str, *, inside_words: bool = False) -> Iterator[Trace]:
    """Yield where a text stands in some files, or in the files below some folders.

    White space, case, width and bullets do not matter; it is also found where it is escaped as in
    JSON, in UTF-16, and in the rows of a database. `inside_words`
    is as in `stands_in`; in a file that is no UTF-8 it is always on. Raises `StoreError`.
    """
    targets = ForgetTargets.of([text], inside_words=inside_words)
    if not targets.texts:
        return
    search = _Search(targets, tuple(text.encode(name, "surrogatepass") for name in _WIDE))
    for folder in folders:
        for path in _files_in(folder):
            if search.targets.are_in(path.name):
                yield Trace(path, 0)
            if not presence.is_file(path):
                continue
            if _STATE.fullmatch(path.name):
                lines = [0] if _is_in_database(path, search) else []
            else:
                with store_errors("read", path):
                    lines = search.lines_in(path.read_bytes())
            yield from (Trace(path, line) for line in lines)


def is_in_bytes(data: bytes, targets: ForgetTargets) -> bool:
    """Return whether the bytes of a file hold a target, in any of its spellings."""
    return bool(_Search(targets).lines_in(data))


def _is_in_database(path: Path, search: _Search) -> bool:
    """Return whether a value of a row, or a byte that is free, holds a target.

    Nothing but SQLite may open the file.
    """
    database = SqliteDatabase(path, Schema(0, 0, ()))
    values = list(filter(None, map(_decoded, database.values())))
    if any(map(search.holds, values)):
        return True
    # Between the bytes of rows no word ends. But a value may have the target inside a word, and is
    # found there as well: then the bytes are read as words.
    inside = search.inside_words()
    search = search if any(map(inside.holds, values)) else inside
    return search.holds("\n".join(_texts_in(database.contents())))


def _decoded(value: object) -> str:
    """Return a value of a row as text; empty for ids of lines, and for what is damaged."""
    try:
        return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        return ""


def _texts_in(data: bytes) -> Iterator[str]:
    """Yield what of the bytes of a database may be text: most of it is numbers."""
    return (found[0].decode("utf-8", "replace") for found in _TEXT.finditer(data))


def _files_in(folder: Path) -> list[Path]:
    """Return the files and links below a folder, or the file that is given instead."""
    with store_errors("read", folder):
        below = [folder] if presence.is_file(folder) else folder.rglob("*")
        return sorted(path for path in below if presence.is_file(path) or presence.is_link(path))


class _Search(Struct, frozen=True):
    """Targets that are looked for; `wide` is the text as it was given, in UTF-16."""

    targets: ForgetTargets
    wide: tuple[bytes, ...] = ()

    def inside_words(self) -> _Search:
        """Return a search that finds the targets inside words, too."""
        return _Search(replace(self.targets, inside_words=True), self.wide)

    def lines_in(self, data: bytes) -> list[int]:
        """Return the numbers of the lines that hold it; `[0]` where the file as a whole does."""
        content = data.decode("utf-8", "replace")
        search = self.inside_words() if "\ufffd" in content else self
        contents = [content]
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            contents.append(data.decode("utf-16", "replace"))
        for content in contents:
            found = search.lines_of(content)
            if found:
                return found
        is_whole = any(map(search.holds, contents))
        return [0] if is_whole or any(text in data for text in self.wide) else []

    def lines_of(self, content: str) -> list[int]:
        """Return the numbers of the lines of a text that hold it."""
        # Line by line it takes ten times as long, and most files are past texts without it.
        if "\\" not in content and not self.targets.are_in(content):
            return []
        lines = enumerate(content.split("\n"), start=1)
        return [number for number, line in lines if self.holds(line)]

    def holds(self, text: str) -> bool:
        """Return whether a text holds it, as it is or as JSON."""
        readings = [text]
        if "\\" in text:
            readings.append(_unescaped(text))
        return any(map(self.targets.are_in, readings))


def _unescaped(line: str) -> str:
    return _ESCAPE.sub(_character, line)


def _character(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _PLAIN.get(escape[2], escape[2])
