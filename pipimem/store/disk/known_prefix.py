"""How far a file was read, with a digest of the bytes up to there.

An offset counts only where these bytes are still the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from pipimem.store.disk import appended_files
from pipimem.store.disk.files import NEVER, Stamp, stamp
from pipimem.store.disk.syscalls import reading, store_errors

# Reading 8 MB again to see that they are the same takes 10 ms.
_BLOCK = 1 << 20
_DIGEST_BYTES = 16


def _new_digest() -> blake2b:
    return blake2b(digest_size=_DIGEST_BYTES)


@dataclass(slots=True)
class KnownPrefix:
    """The bytes that were read from `start` up to `end` of a file that is only appended to.

    `stamp` is the stamp that the file had when these bytes were last seen in it.
    """

    start: int = 0
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
        prefix._digest = _digest(path, 0, end)
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
        again = _digest(path, self.start, self.end)
        if self.end > self.start and again.digest() != self._digest.digest():
            return False
        self.stamp = found
        return True


@dataclass(slots=True)
class KnownParts:
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
            for data in appended_files.lines(path, prefix.end):
                if not data.endswith(b"\n"):
                    break
                start = prefix.end
                prefix.take(data)
                yield number, start, data


def _digest(path: Path, start: int, end: int) -> blake2b:
    """The digest of the bytes from `start` to `end`, or of as many as the file has."""
    digest, left = _new_digest(), end - start
    with store_errors("read", path):
        try:
            file = reading(path)
        except FileNotFoundError:
            return digest
        with file:
            file.seek(start)
            while left:
                data = file.read(min(left, _BLOCK))
                if not data:
                    break
                digest.update(data)
                left -= len(data)
    return digest
