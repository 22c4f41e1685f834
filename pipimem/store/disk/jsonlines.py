"""One JSON object a line, as bytes: unescaped so that people can grep, and never torn by what is in it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pipimem.store.disk.calls import reading, told

# Read from the end in pieces of so many bytes.
_PIECE = 64 * 1024


def line(value: Mapping[str, object]) -> bytes:
    """The object as one line with its ending."""
    # Half of a surrogate pair, as broken clients send it, survives as an escape that JSON has too.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def value(data: bytes) -> dict[str, object] | None:
    """The object on a line, `None` where there is none."""
    if b"{" not in data:  # an exception for each of a million empty lines takes seconds
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def lines(path: Path, start: int = 0) -> Iterator[bytes]:
    """The lines of a file from a byte on, each with its ending; the last may lack it. No file, no lines."""
    with told("read", path):
        try:
            file = reading(path)
        except FileNotFoundError:
            return
        with file:
            file.seek(start)
            yield from file


def lines_backwards(path: Path) -> Iterator[bytes]:
    """The lines of a file from its end on, each with its ending; the last may lack it."""
    with told("read", path), reading(path) as file:
        end = file.seek(0, io.SEEK_END)
        # Of a line whose beginning has not been read yet, the last piece first.
        rest: list[bytes] = []
        while end > 0:
            start = max(0, end - _PIECE)
            file.seek(start)
            pieces = io.BytesIO(file.read(end - start)).readlines()
            end = start
            if rest and pieces and pieces[-1].endswith(b"\n"):
                yield b"".join(reversed(rest))
                rest = []
            while pieces:
                rest.append(pieces.pop())
                if pieces:
                    yield b"".join(reversed(rest))
                    rest = []
        if rest:
            yield b"".join(reversed(rest))
