"""JSON lines: one object a line, unescaped so that people can grep, with or without a checksum.

A checksum is the last field of its line, and goes over the line and the checksum before it. A file
that is full is set aside: `log-0001.jsonl` beside `log.jsonl`.
"""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from pipimem.store.disk import presence
from pipimem.store.disk.fencing import move_name
from pipimem.store.disk.syscalls import reading, store_errors

# Read from the end in pieces of so many bytes, and more.
_PIECE = 64 * 1024

_CHECKSUM = re.compile(rb', "sum": "([0-9a-f]{8})"\}\n$')
TAIL_LENGTH = len(b', "sum": "01234567"}\n')


def line(value: Mapping[str, object]) -> bytes:
    """The object as one line with its ending."""
    # Half of a surrogate pair, as broken clients send it, survives as an escape that JSON has too.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def value(data: bytes) -> dict[str, object] | None:
    """The object on a line, `None` where there is none."""
    if b"{" not in data:  # an exception for each of a million empty lines takes seconds
        return None
    try:
        # As UTF-8, which is what we write: zeros would be taken for UTF-32.
        found = json.loads(data.decode("utf-8").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def checked_line(fields: Mapping[str, object], previous: str = "") -> bytes:
    """The object as one line; `previous` is the checksum of the line before, empty for none."""
    body = line(fields).rstrip(b"\n")
    return body[:-1] + f', "sum": "{_checksum(body, previous)}"}}\n'.encode()


def checked_value(data: bytes, previous: str = "") -> dict[str, object] | None:
    """Returns the object on a line with a checksum; `previous` is that of the line before.

    Returns `None` where the line is torn, was changed or follows another line than it did.
    """
    checksum = checksum_of(data)
    body = data[:-TAIL_LENGTH] + b"}"
    if not checksum or _checksum(body, previous) != checksum:
        return None
    return value(body)


def checksum_of(data: bytes) -> str:
    """The checksum that bytes end with, empty where they end with none."""
    found = _CHECKSUM.search(data)
    return found[1].decode() if found else ""


def _checksum(body: bytes, previous: str) -> str:
    return f"{zlib.crc32(body, int(previous or '0', 16)):08x}"


def lines(path: Path, start: int = 0) -> Iterator[bytes]:
    """The lines of a file from a byte on, each with its ending; the last may lack it.

    A file that is not there has none.
    """
    with store_errors("read", path):
        try:
            file = reading(path)
        except FileNotFoundError:
            return
        with file:
            file.seek(start)
            yield from file


def lines_backwards(path: Path) -> Iterator[bytes]:
    """The lines of a file from its end on, each with its ending; the last may lack it."""
    with store_errors("read", path), reading(path) as file:
        end, piece = file.seek(0, io.SEEK_END), _PIECE
        # The line whose beginning may not have been read yet.
        first = b""
        while end > 0:
            start = max(0, end - piece)
            file.seek(start)
            first, *others = io.BytesIO(file.read(end - start) + first).readlines()
            yield from reversed(others)
            # Twice as many, or a long line would be put together from its end again and again.
            end, piece = start, 2 * piece
        if first:
            yield first


def older_parts(path: Path) -> list[Path]:
    """The files that were set aside, oldest first."""
    with store_errors("read", path.parent):
        try:
            paths = list(path.parent.iterdir())
        except FileNotFoundError:
            return []
    number = partial(_number, path)
    return sorted(filter(number, paths), key=number)


def parts(path: Path) -> list[Path]:
    """The files that were set aside, oldest first, then the one at `path` if it is there."""
    with store_errors("read", path):
        current = [path] if presence.exists(path) else []
    return older_parts(path) + current


def set_aside(path: Path) -> None:
    """Renames a file to the next number."""
    number = max((_number(path, part) for part in older_parts(path)), default=0) + 1
    with store_errors("rotate", path):
        move_name(path, path.with_name(f"{path.stem}-{number:04d}{path.suffix}"))


def _number(path: Path, part: Path) -> int:
    """The number in the name of a file that was set aside, 0 for any other file."""
    found = re.fullmatch(rf"{path.stem}-(\d{{4,}}){re.escape(path.suffix)}", part.name)
    return int(found[1]) if found else 0
