"""Where a text still stands in files, in any of its spellings."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipimem.store.disk import presence
from pipimem.store.disk.syscalls import store_errors
from pipimem.store.forget.targets import folded, folded_lines, stands_in

# What JSON, and other writers of it than ours, make of a character.
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_BETWEEN = re.compile(r'(?<!\\)", ?"')
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Editors of other systems save so; the byte order mark is not needed to tell.
_WIDE = ("utf-16-le", "utf-16-be")


@dataclass(frozen=True, slots=True)
class Trace:
    """A file and a line where the text stands; 0 where it runs over lines or is in the name."""

    path: Path
    line: int


def traces(folders: Iterable[Path], text: str, *, inside_words: bool = False) -> Iterator[Trace]:
    """Yields where a text stands in some files, or in the files below some folders.

    White space, case, width and bullets do not matter; it is also found where it is escaped as in
    JSON, cut into a JSON list of lines, or in UTF-16. `inside_words` is as in `stands_in`; in a
    file that is no UTF-8 it is always on. Raises `StoreError`.
    """
    search = _Search(text, folded(text), inside_words)
    if not search.needle:
        return
    for folder in folders:
        for path in _files_in(folder):
            if search.is_in(folded(path.name)):
                yield Trace(path, 0)
            if presence.is_file(path):
                with store_errors("read", path):
                    data = path.read_bytes()
                for line in search.lines_in(data):
                    yield Trace(path, line)


def _files_in(folder: Path) -> list[Path]:
    """The files and links below a folder; a file is its own only one."""
    with store_errors("read", folder):
        below = [folder] if presence.is_file(folder) else folder.rglob("*")
        return sorted(path for path in below if presence.is_file(path) or presence.is_link(path))


@dataclass(frozen=True, slots=True)
class _Search:
    """A text that is looked for, as given and folded."""

    text: str
    needle: str
    inside_words: bool

    def is_in(self, text: str) -> bool:
        """Whether a folded text holds it."""
        return stands_in(text, self.needle, inside_words=self.inside_words)

    def lines_in(self, data: bytes) -> list[int]:
        """The numbers of the lines that hold it; `[0]` where only the file as a whole does."""
        content = data.decode("utf-8", "replace")
        search = self
        if "\ufffd" in content:
            search = _Search(self.text, self.needle, inside_words=True)
        contents = [content]
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            contents.append(data.decode("utf-16", "replace"))
        for each in contents:
            found = search._lines_of(each)
            if found:
                return found
        is_whole = any(search._is_in_whole(each) for each in contents)
        is_wide = any(self.text.encode(name, "surrogatepass") in data for name in _WIDE)
        return [0] if is_whole or is_wide else []

    def _lines_of(self, content: str) -> list[int]:
        # Line by line it takes ten times as long, and most files are past texts without it.
        if self.needle not in folded(content) and "\\" not in content:
            return []
        lines = enumerate(content.split("\n"), start=1)
        return [number for number, line in lines if self._holds(line)]

    def _is_in_whole(self, content: str) -> bool:
        return self._holds(content) or self.is_in(folded_lines(content))

    def _holds(self, line: str) -> bool:
        """Whether a line holds it, as it stands or as JSON, where lines are a list of strings."""
        readings = [folded(line)]
        if "\\" in line:
            joined = _BETWEEN.sub("", line)
            readings += [folded(_unescaped(line)), folded_lines(_unescaped(joined))]
        return any(self.is_in(reading) for reading in readings)


def _unescaped(line: str) -> str:
    return _ESCAPE.sub(_character, line)


def _character(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _PLAIN.get(escape[2], escape[2])
