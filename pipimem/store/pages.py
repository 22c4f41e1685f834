"""Messages of a transcript read by their place, without keeping their text."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from pipimem.errors import StoreError
from pipimem.notes.message import Message
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import reading, told
from pipimem.store.disk.known_prefix import KnownPrefix
from pipimem.store.transcript import Transcript, parsed

# A place is the number of a part and a byte in it; parts are rotated at 8 MB, far below this.
_BYTES = 40
_BYTE = (1 << _BYTES) - 1


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
class Pages:
    """The places of a transcript's messages, oldest first: eight bytes a message.

    Parts keep their order for ever: a rotation renames the last one and begins another.
    """

    transcript: Transcript
    _places: array[int] = field(default_factory=lambda: array("Q"))
    _parts: list[KnownPrefix] = field(default_factory=list)

    @classmethod
    def resumed(cls, transcript: Transcript, bookmark: Bookmark) -> Pages | None:
        """As they were, whatever was appended since; None where the files do not say the same any more."""
        parts, marks = transcript.parts(), bookmark.marks
        if len(parts) < len(marks):
            return None
        pages = cls(transcript, array("Q", bookmark.places))
        for part, mark in zip(parts, marks, strict=False):
            prefix = KnownPrefix.of(part, mark.size)
            if prefix.digest != mark.digest:
                return None
            pages._parts.append(prefix)
        return pages

    def __len__(self) -> int:
        return len(self._places)

    def bookmark(self) -> Bookmark:
        """Where the reading stands."""
        marks = tuple(Mark(part.end, part.digest) for part in self._parts)
        return Bookmark(marks, self._places.tobytes())

    @property
    def rewritten(self) -> bool:
        """Whether what was read is no longer what the files hold (`forget` rewrites them): begin anew."""
        files = self.transcript.parts()
        return len(files) < len(self._parts) or not all(
            map(KnownPrefix.still_stands, self._parts, files)
        )

    def fresh(self) -> Iterator[Message]:
        """What has come since the last reading, oldest first; a line that is still being written waits.

        Nothing where the files were rewritten: then `rewritten` says so.
        """
        for number, path in enumerate(self.transcript.parts()):
            if number == len(self._parts):
                self._parts.append(KnownPrefix())
            part = self._parts[number]
            if not part.still_stands(path):
                return
            for data in jsonlines.lines(path, part.end):
                if not data.endswith(b"\n"):
                    break
                start = part.end
                part.take(data)
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
        heads = tuple(
            f'{{"id":{blank}{quoted},'.encode("utf-8", "backslashreplace") for blank in (" ", "")
        )
        for number, part in enumerate(self.transcript.parts()):
            start = number << _BYTES
            for data in jsonlines.lines(part):
                if data.startswith(heads):
                    place = bisect_left(self._places, start)
                    return (
                        place
                        if place < len(self._places) and self._places[place] == start
                        else None
                    )
                start += len(data)
        return None
