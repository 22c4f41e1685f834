"""Files that grow at their end: one write each, their lines from either end, set aside when full.

A file that is full gets a number: `log-0001.jsonl` beside `log.jsonl`.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pipimem.store.disk import presence
from pipimem.store.disk.fencing import check_fence, move_name
from pipimem.store.disk.syscalls import opened, reading, store_errors, sync_data, write_whole

# Read from the end in pieces of so many bytes, and more.
_PIECE = 64 * 1024


def append(path: Path, data: bytes) -> None:
    """Puts `data` at the end of a file in one write, which others cannot cut in two; not synced."""
    with store_errors("write", path):
        descriptor = opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            check_fence()
            write_whole(descriptor, data)
        finally:
            os.close(descriptor)


def append_synced(path: Path, data: bytes, *, at: int | None = None) -> int:
    """Puts `data` at the end of a file in one write and waits for the disk. Returns the new size.

    `at` is the size to cut the file back to before. A failure leaves the file as it was before the
    call, or as it was cut; with `LockLost` the data may be there.
    """
    with store_errors("write", path):
        descriptor = opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            # Behind the opening: of a file that is replaced from now on, nobody sees the old one.
            check_fence()
            size = os.fstat(descriptor).st_size
            if at is not None and at < size:
                os.ftruncate(descriptor, at)
                size = at
            try:
                write_whole(descriptor, data)
                sync_data(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
            check_fence()
            return size + len(data)
        finally:
            os.close(descriptor)


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
