"""Messages of a transcript read by their place, without keeping their text."""

from __future__ import annotations

import json
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
from pipimem.store.disk.files import Stamp, stamp
from pipimem.store.transcript import Transcript, parsed

# A place is the number of a part and a byte in it; parts are rotated at 8 MB, far below this.
_BYTES = 40
_BYTE = (1 << _BYTES) - 1
# Reading a part again to see that it still says the same: 8 MB in 10 ms.
_BLOCK = 1 << 20
_DIGEST = 16


@dataclass(frozen=True, slots=True)
class Mark:
    """A part as far as it was read: `size` bytes with their `digest`."""

    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Bookmark:
    """How far a transcript was read: a mark of each part, and the places of the messages up to there as bytes."""

    marks: tuple[Mark, ...]
    places: bytes


@dataclass(slots=True)
class _Part:
    """A part as it is read: its stamp before the last reading, the bytes read, and their digest.

    The same stamp says that nothing changed; after any other one only the digest says what the file holds.
    """

    stamp: Stamp | None
    read: int
    digest: blake2b


@dataclass(slots=True)
class Pages:
    """The places of a transcript's messages, oldest first: eight bytes a message.

    Parts keep their order for ever: a rotation renames the last one and begins another.
    """

    transcript: Transcript
    _places: array[int] = field(default_factory=lambda: array("Q"))
    _parts: list[_Part] = field(default_factory=list)

    @classmethod
    def resumed(cls, transcript: Transcript, bookmark: Bookmark) -> Pages | None:
        """As they were, whatever was appended since; None where the files do not say the same any more."""
        parts, marks = transcript.parts(), bookmark.marks
        if len(parts) < len(marks):
            return None
        pages = cls(transcript, array("Q", bookmark.places))
        for part, mark in zip(parts, marks, strict=False):
            known, digest = stamp(part), _digest(part, mark.size)
            if digest.hexdigest() != mark.digest:
                return None
            pages._parts.append(_Part(known, mark.size, digest))
        return pages

    def __len__(self) -> int:
        return len(self._places)

    def bookmark(self) -> Bookmark:
        """Where the reading stands."""
        marks = tuple(Mark(part.read, part.digest.hexdigest()) for part in self._parts)
        return Bookmark(marks, self._places.tobytes())

    @property
    def rewritten(self) -> bool:
        """Whether what was read is no longer what the files hold (`forget` rewrites them): begin anew."""
        files = self.transcript.parts()
        return len(files) < len(self._parts) or not all(map(_still_says, self._parts, files))

    def fresh(self) -> Iterator[Message]:
        """What has come since the last reading, oldest first; a line that is still being written waits."""
        for number, path in enumerate(self.transcript.parts()):
            if number == len(self._parts):
                self._parts.append(_Part(None, 0, blake2b(digest_size=_DIGEST)))
            part = self._parts[number]
            part.stamp = stamp(path)  # before it is read: what is written meanwhile has another
            for data in jsonlines.lines(path, part.read):
                if not data.endswith(b"\n"):
                    break
                start = part.read
                part.read += len(data)
                part.digest.update(data)
                if message := parsed(data):
                    self._places.append(number << _BYTES | start)
                    yield message

    def message(self, place: int) -> Message:
        """The message of a place, from 0. Raises `StoreError` where the files were rewritten meanwhile."""
        number, start = self._places[place] >> _BYTES, self._places[place] & _BYTE
        parts = self.transcript.parts()
        if number >= len(parts):
            raise StoreError(f"Parts of {self.transcript.path} are gone. Search again.")
        part = parts[number]
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


def _still_says(part: _Part, path: Path) -> bool:
    """Whether a file still begins with what was read of it."""
    found = stamp(path)
    if found == part.stamp:
        return True
    if _digest(path, part.read).digest() != part.digest.digest():
        return False
    part.stamp = found
    return True


def _digest(part: Path, size: int) -> blake2b:
    digest, left = blake2b(digest_size=_DIGEST), size
    with told("read", part), reading(part) as file:
        while left and (data := file.read(min(left, _BLOCK))):
            digest.update(data)
            left -= len(data)
    return digest
