"""Messages of a transcript read by their place, without keeping their text."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path

from msgspec import Struct

from pipimem.errors import StoreError
from pipimem.notes.message import Message
from pipimem.store.disk import appended_files
from pipimem.store.disk.appended_files import KnownParts, KnownPrefix
from pipimem.store.disk.syscalls import reading, store_errors
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.message_line import parsed

# A place is the number of a part and a byte in it; parts are rotated at 8 MB, far below this.
_BYTES = 40
_BYTE = (1 << _BYTES) - 1


class ReadPosition(Struct, frozen=True):
    """How far a transcript was read.

    `marks` are size and digest of each file up to there, `places` those of its messages, as bytes.
    """

    marks: Sequence[tuple[int, str]]
    places: bytes


@dataclass(slots=True)
class TranscriptReader:
    """The places of a transcript's messages, oldest first: eight bytes a message."""

    transcript: Transcript
    _places: array[int] = field(default_factory=lambda: array("Q"))
    _parts: KnownParts = field(default_factory=KnownParts)
    # The files as they were found last.
    _paths: list[Path] = field(default_factory=list)

    @classmethod
    def resumed(
        cls, transcript: Transcript, read_position: ReadPosition
    ) -> TranscriptReader | None:
        """A reader that goes on from a position; `None` where the files were rewritten since."""
        parts, marks = transcript.parts(), read_position.marks
        if len(parts) < len(marks):
            return None
        reader = cls(transcript, array("Q", read_position.places), _paths=parts)
        for part, (size, digest) in zip(parts, marks, strict=False):
            prefix = KnownPrefix.of(part, size)
            if prefix.digest != digest:
                return None
            reader._parts.prefixes.append(prefix)
        return reader

    def __len__(self) -> int:
        return len(self._places)

    @property
    def size(self) -> int:
        """How many bytes were read."""
        return sum(part.end for part in self._parts.prefixes)

    def read_position(self) -> ReadPosition:
        """Where the reading stands."""
        return ReadPosition(
            [(part.end, part.digest) for part in self._parts.prefixes], self._places.tobytes()
        )

    @property
    def rewritten(self) -> bool:
        """Whether the files were rewritten, as `forget` does: only a new reader helps."""
        return not self._parts.still_stand(self.transcript.parts())

    def fresh(self) -> Iterator[Message]:
        """The messages that were added since the last call, oldest first.

        A line that is still being written is left for the next call. Yields nothing where the files
        were rewritten.
        """
        self._paths = self.transcript.parts()
        for number, start, data in self._parts.fresh(self._paths):
            message = parsed(data)
            if message:
                self._places.append(number << _BYTES | start)
                yield message

    def message(self, place: int) -> Message:
        """The message of a place, from 0. Raises `StoreError` where the files were rewritten."""
        number, start = self._places[place] >> _BYTES, self._places[place] & _BYTE
        part = self._paths[number]
        with store_errors("read", part):
            try:
                file = reading(part)
            except FileNotFoundError:
                gone = f"Parts of {self.transcript.path} are gone. Search again."
                raise StoreError(gone) from None
            with file:
                file.seek(start)
                message = parsed(file.readline())
        if message is None:
            raise StoreError(f"{part} was rewritten while it was being searched. Search again.")
        return message

    def place(self, name: str) -> int | None:
        """The place of the message of an id, among those that were read; `None` for none."""
        said = enumerate(islice(self.transcript.messages(), len(self)))
        return next((place for place, message in said if message.id == name), None)


def last_said(log: Path) -> datetime | None:
    """When the newest message of a transcript was said; `None` without one, or without its time.

    Raises `StoreError`.
    """
    messages = filter(None, map(parsed, appended_files.lines_backwards(log)))
    newest = next(messages, None)
    return newest.time if newest is not None else None
