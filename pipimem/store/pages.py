"""Messages of a transcript read by their place, without keeping their text."""

from __future__ import annotations

import json
import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.notes.message import Message
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import reading, told
from pipimem.store.transcript import Transcript, parsed

# A place is the number of a part and a byte in it; parts are rotated at 8 MB, far below this.
_BYTES = 40
_BYTE = (1 << _BYTES) - 1
# Reading a part again to see that it still says the same: 8 MB in 10 ms.
_BLOCK = 1 << 20
_DIGEST = 16


@dataclass(frozen=True, slots=True)
class Mark:
    """A part as far as it was read: `size` bytes with their `digest`, and the file's inode and time (ns) before that."""

    inode: int
    time: int
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Bookmark:
    """How far a transcript was read: a mark of each part, and the places of the messages up to there as bytes."""

    marks: tuple[Mark, ...]
    places: bytes

    def fits(self, transcript: Transcript) -> bool:
        """Whether the files still say what was read; what was appended since does not matter."""
        parts = transcript.parts()
        return len(parts) >= len(self.marks) and all(map(_says, parts, self.marks))


@dataclass(slots=True)
class Pages:
    """The places of a transcript's messages, oldest first: eight bytes a message.

    Parts keep their order for ever: a rotation renames the last one and begins another.
    """

    transcript: Transcript
    _places: array[int] = field(default_factory=lambda: array("Q"))
    _inodes: list[int] = field(default_factory=list)
    _read: list[int] = field(default_factory=list)
    _times: list[int] = field(default_factory=list)
    # Of what was read of each part; None where its mark was believed without reading it.
    _digests: list[blake2b | None] = field(default_factory=list)
    _marks: tuple[Mark, ...] = ()

    @classmethod
    def resumed(cls, transcript: Transcript, bookmark: Bookmark) -> Pages | None:
        """As they were; None where the files do not say the same any more."""
        parts, marks = transcript.parts(), bookmark.marks
        if len(parts) < len(marks):
            return None
        pages = cls(transcript, array("Q", bookmark.places), _marks=marks)
        for number, (part, mark) in enumerate(zip(parts, marks, strict=False)):
            status = part.stat()
            # The last part is read again in any case: it goes on from there.
            is_last = number == len(marks) - 1
            digest = None if _untouched(status, mark) and not is_last else _digest(part, mark.size)
            if digest is not None and digest.hexdigest() != mark.digest:
                return None
            pages._inodes.append(status.st_ino)
            pages._read.append(mark.size)
            pages._times.append(mark.time if digest is None else status.st_mtime_ns)
            pages._digests.append(digest)
        return pages

    def __len__(self) -> int:
        return len(self._places)

    def bookmark(self) -> Bookmark | None:
        """Where the reading stands; None where that can no longer be told."""
        marks = []
        for number, (digest, size) in enumerate(zip(self._digests, self._read, strict=True)):
            if digest is not None:
                marks.append(Mark(self._inodes[number], self._times[number], size, digest.hexdigest()))
            elif size == self._marks[number].size:
                marks.append(self._marks[number])
            else:  # somebody appended to a part that was full
                return None
        return Bookmark(tuple(marks), self._places.tobytes())

    @property
    def rewritten(self) -> bool:
        """Whether what was read is no longer what the files hold (`forget` rewrites them): begin anew."""
        parts = self.transcript.parts()
        if len(parts) < len(self._inodes):
            return True
        for part, inode, read in zip(parts, self._inodes, self._read, strict=False):
            status = part.stat()
            if status.st_ino != inode or status.st_size < read:
                return True
        return False

    def fresh(self) -> Iterator[Message]:
        """What has come since the last reading, oldest first; a line that is still being written waits."""
        for number, part in enumerate(self.transcript.parts()):
            if number == len(self._inodes):
                self._begin(part)
            elif part.stat().st_size > self._read[number]:
                self._times[number] = part.stat().st_mtime_ns
            for data in jsonlines.lines(part, self._read[number]):
                if not data.endswith(b"\n"):
                    break
                start = self._read[number]
                self._read[number] += len(data)
                if digest := self._digests[number]:
                    digest.update(data)
                if message := parsed(data):
                    self._places.append(number << _BYTES | start)
                    yield message

    def message(self, place: int) -> Message:
        """The message of a place, from 0. Raises `StoreError` where the files were rewritten meanwhile."""
        number, start = self._places[place] >> _BYTES, self._places[place] & _BYTE
        part = self._part(number)
        with told("read", part), reading(part) as file:
            file.seek(start)
            message = parsed(file.readline())
        if message is None:
            raise StoreError(f"{part} was rewritten while it was being searched. Search again.")
        return message

    def place(self, name: str) -> int | None:
        """Where the message of an id stands, None where there is none; reads the heads of the lines."""
        quoted = json.dumps(name, ensure_ascii=False)
        # As `line` writes it, and as hands do. A quotation in a message comes later in its line.
        heads = tuple(f'{{"id":{blank}{quoted},'.encode("utf-8", "backslashreplace") for blank in (" ", ""))
        for number, part in enumerate(self.transcript.parts()):
            start = number << _BYTES
            for data in jsonlines.lines(part):
                if data.startswith(heads):
                    place = bisect_left(self._places, start)
                    return place if place < len(self._places) and self._places[place] == start else None
                start += len(data)
        return None

    def _begin(self, part: Path) -> None:
        status = part.stat()
        self._inodes.append(status.st_ino)
        self._times.append(status.st_mtime_ns)  # before it is read: what is written meanwhile has another
        self._read.append(0)
        self._digests.append(blake2b(digest_size=_DIGEST))

    def _part(self, number: int) -> Path:
        parts = self.transcript.parts()
        if number >= len(parts):
            raise StoreError(f"Parts of {self.transcript.path} are gone. Search again.")
        return parts[number]


def _untouched(status: os.stat_result, mark: Mark) -> bool:
    """Whether a file is as it was, by what the system says of it."""
    return (status.st_ino, status.st_mtime_ns, status.st_size) == (mark.inode, mark.time, mark.size)


def _says(part: Path, mark: Mark) -> bool:
    return _untouched(part.stat(), mark) or _digest(part, mark.size).hexdigest() == mark.digest


def _digest(part: Path, size: int) -> blake2b:
    digest, left = blake2b(digest_size=_DIGEST), size
    with told("read", part), reading(part) as file:
        while left and (data := file.read(min(left, _BLOCK))):
            digest.update(data)
            left -= len(data)
    return digest
