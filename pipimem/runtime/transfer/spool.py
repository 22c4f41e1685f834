"""Messages kept on the disk until all of them are read, then given back in their order."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from pipimem.notes.message import Message
from pipimem.store.disk.syscalls import opened
from pipimem.store.transcript.message_line import line, parsed

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class SpoolFile:
    """The one file in which the messages of all channels are kept."""

    path: Path
    _file: BinaryIO | None = None
    _end: int = 0

    def __enter__(self) -> Self:
        descriptor = opened(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        self._file = os.fdopen(descriptor, "w+b")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, data: bytes) -> int:
        """Writes a line; returns the byte where it begins."""
        assert self._file is not None
        begins = self._end
        self._file.seek(begins)
        self._file.write(data)
        self._end += len(data)
        return begins

    def line_at(self, place: int) -> bytes:
        """The line that begins at a byte."""
        assert self._file is not None
        self._file.seek(place)
        return self._file.readline()


@dataclass(slots=True)
class Spool:
    """Messages of one channel, session by session: whichever began first comes first.

    In memory are 16 bytes of each.
    """

    file: SpoolFile
    # Where each message begins, and of which session it is.
    _places: array[int] = field(default_factory=lambda: array("Q"))
    _sessions: array[int] = field(default_factory=lambda: array("Q"))
    _numbers: dict[str, int] = field(default_factory=dict)
    _began: list[datetime] = field(default_factory=list)

    def add(self, message: Message) -> None:
        """Keeps a message, which must have an id."""
        number = self._numbers.setdefault(message.session, len(self._began))
        if number == len(self._began):
            self._began.append(message.time or _LONG_AGO)
        data = line(replace(message, number=len(self._places) + 1))
        self._places.append(self.file.append(data))
        self._sessions.append(number)

    def messages(self) -> Iterator[Message]:
        """All messages in their order, without numbers."""
        for index in sorted(range(len(self._places)), key=self._key):
            message = parsed(self.file.line_at(self._places[index]))
            assert message is not None
            yield replace(message, number=0)

    def _key(self, index: int) -> tuple[datetime, int, int]:
        session = self._sessions[index]
        return self._began[session], session, index
