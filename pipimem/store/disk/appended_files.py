"""Files that grow at their end: one write each, their lines from either end, set aside when full.

A file that is full gets a number: `log-0001.jsonl` beside `log.jsonl`.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct, field

from pipimem.store.disk import presence
from pipimem.store.disk.exchange import move
from pipimem.store.disk.fencing import check_fence
from pipimem.store.disk.files import NEVER, Stamp, stamp
from pipimem.store.disk.syscalls import opened, reading, store_errors, sync_data, write_whole

# Reading 8 MB again to see that they are the same takes 10 ms.
_BLOCK = 1 << 20
_DIGEST_BYTES = 16


def _new_digest() -> blake2b:
    return blake2b(digest_size=_DIGEST_BYTES)


class KnownPrefix(Struct):
    """The first bytes of a file that is only appended to, up to `end`, as they were read.

    `stamp` is the stamp that the file had when these bytes were last seen in it.
    """

    end: int = 0
    stamp: Stamp | None = NEVER
    _digest: blake2b = field(default_factory=_new_digest)

    @property
    def digest(self) -> str:
        """The digest of the bytes that were read, in hexadecimal."""
        return self._digest.hexdigest()

    @classmethod
    def of(cls, path: Path, end: int) -> KnownPrefix:
        """The first `end` bytes of a file, or as many as it has."""
        prefix = cls(stamp=stamp(path))
        prefix._digest = _digest(path, end)
        prefix.end = end
        return prefix

    def take(self, data: bytes) -> None:
        """Counts the bytes that follow as read."""
        self._digest.update(data)
        self.end += len(data)

    def still_stands(self, path: Path) -> bool:
        """Whether a file still has what was read of it, whatever follows.

        The same stamp says so at once; after any other one the bytes are read again.
        """
        found = stamp(path)
        if found == self.stamp:
            return True
        if self.end and _digest(path, self.end).digest() != self._digest.digest():
            return False
        self.stamp = found
        return True


class KnownParts(Struct):
    """How far each of several files was read that are only appended to, in the same order."""

    prefixes: list[KnownPrefix] = field(default_factory=list)

    def still_stand(self, paths: Sequence[Path]) -> bool:
        """Whether the files still have what was read of them, whatever follows."""
        return len(paths) >= len(self.prefixes) and all(
            map(KnownPrefix.still_stands, self.prefixes, paths)
        )

    def fresh(self, paths: Iterable[Path]) -> Iterator[tuple[int, int, bytes]]:
        """The new lines: the number of their file, the byte where they begin, and their bytes.

        A line still being written waits for its end. Nothing more where a file was rewritten.
        """
        for number, path in enumerate(paths):
            if number == len(self.prefixes):
                self.prefixes.append(KnownPrefix())
            prefix = self.prefixes[number]
            if not prefix.still_stands(path):
                return
            if prefix.stamp and prefix.stamp[1] == prefix.end:
                continue
            for data in lines(path, prefix.end):
                if not data.endswith(b"\n"):
                    break
                start = prefix.end
                prefix.take(data)
                yield number, start, data


def _digest(path: Path, end: int) -> blake2b:
    """Return the digest of the first `end` bytes, or of as many as the file has."""
    digest, left = _new_digest(), end
    with store_errors("read", path):
        try:
            file = reading(path)
        except FileNotFoundError:
            return digest
        with file:
            while left:
                data = file.read(min(left, _BLOCK))
                if not data:
                    break
                digest.update(data)
                left -= len(data)
    return digest


# Read from the end in pieces of so many bytes, and more.
_PIECE = 64 * 1024


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
        move(path, path.with_name(f"{path.stem}-{number:04d}{path.suffix}"))


def _number(path: Path, part: Path) -> int:
    """The number in the name of a file that was set aside, 0 for any other file."""
    found = re.fullmatch(rf"{path.stem}-(\d{{4,}}){re.escape(path.suffix)}", part.name)
    return int(found[1]) if found else 0
