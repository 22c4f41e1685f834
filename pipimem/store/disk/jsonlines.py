"""One JSON object a line, as bytes: unescaped so that people can grep, and never torn by what is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pipimem.store.disk.calls import reading, told


def line(value: Mapping[str, object]) -> bytes:
    """The object as one line with its ending."""
    # Half of a surrogate pair, as broken clients send it, survives as an escape that JSON has too.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def value(data: bytes) -> dict[str, object] | None:
    """The object on a line, `None` where there is none."""
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
