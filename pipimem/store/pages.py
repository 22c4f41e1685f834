"""Messages of a transcript read by their place, without keeping their text."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.notes.message import Message
from pipimem.store import jsonlines
from pipimem.store.disk import told
from pipimem.store.transcript import Transcript, parsed

# A place is the number of a part and a byte in it; parts are rotated at 8 MB, far below this.
_BYTES = 40
_BYTE = (1 << _BYTES) - 1


@dataclass(slots=True)
class Pages:
    """The places of a transcript's messages, oldest first: eight bytes a message.

    Parts keep their order for ever: a rotation renames the last one and begins another.
    """

    transcript: Transcript
    _places: array[int] = field(default_factory=lambda: array("Q"))
    _inodes: list[int] = field(default_factory=list)
    _read: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._places)

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
                self._inodes.append(part.stat().st_ino)
                self._read.append(0)
            for data in jsonlines.lines(part, self._read[number]):
                if not data.endswith(b"\n"):
                    break
                start = self._read[number]
                self._read[number] += len(data)
                if message := parsed(data):
                    self._places.append(number << _BYTES | start)
                    yield message

    def message(self, place: int) -> Message:
        """The message of a place, from 0. Raises `StoreError` where the files were rewritten meanwhile."""
        number, start = self._places[place] >> _BYTES, self._places[place] & _BYTE
        part = self._part(number)
        with told("read", part), part.open("rb") as file:
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

    def _part(self, number: int) -> Path:
        parts = self.transcript.parts()
        if number >= len(parts):
            raise StoreError(f"Parts of {self.transcript.path} are gone. Search again.")
        return parts[number]
