"""What is left of a text: every byte of a channel's folder and of the workspace's own state, in all its spellings."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipimem.store.disk.calls import told
from pipimem.store.forgetting.needles import folded, folded_lines

# What JSON, and other writers of it than ours, make of a character.
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_BETWEEN = re.compile(r'(?<!\\)", ?"')
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Editors of other systems save so; the byte order mark is not needed to tell.
_WIDE = ("utf-16-le", "utf-16-be")


@dataclass(frozen=True, slots=True)
class Trace:
    """A place where the text still stands: a file and a line, 0 where it runs over lines or is in the name."""

    path: Path
    line: int


def traces(folders: Iterable[Path], text: str) -> Iterator[Trace]:
    """Where a text stands in some files, or in those below some folders: white space, case, width and bullets aside, also where it
    is escaped as in JSON, cut into lines of one, or in UTF-16."""
    needle = folded(text)
    if not needle:
        return
    for folder in folders:
        with told("read", folder):
            below = [folder] if folder.is_file() else folder.rglob("*")
            paths = sorted(path for path in below if path.is_file() or path.is_symlink())
        for path in paths:
            if needle in folded(path.name):
                yield Trace(path, 0)
            if path.is_file():
                with told("read", path):
                    data = path.read_bytes()
                yield from (Trace(path, line) for line in _lines(data, needle, text))


def _lines(data: bytes, needle: str, text: str) -> list[int]:
    """The numbers of the lines that hold it; `[0]` where only the file as a whole does."""
    contents = [data.decode("utf-8", "replace")]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        contents.append(data.decode("utf-16", "replace"))
    for content in contents:
        # Line by line it takes ten times as long, and most files are past texts without it.
        if needle not in folded(content) and "\\" not in content:
            continue
        lines = content.split("\n")
        if found := [number for number, line in enumerate(lines, start=1) if _holds(line, needle)]:
            return found
    whole = any(_holds(content, needle) or needle in folded_lines(content) for content in contents)
    return [0] if whole or any(text.encode(name) in data for name in _WIDE) else []


def _holds(line: str, needle: str) -> bool:
    """Whether a line holds it, as it stands or as JSON; the journal keeps lines as a list of strings."""
    if needle in folded(line):
        return True
    if "\\" not in line:
        return False
    return needle in folded(_unescaped(line)) or needle in folded_lines(
        _unescaped(_BETWEEN.sub("", line))
    )


def _unescaped(line: str) -> str:
    return _ESCAPE.sub(
        lambda found: chr(int(found[1], 16)) if found[1] else _PLAIN.get(found[2], found[2]), line
    )
