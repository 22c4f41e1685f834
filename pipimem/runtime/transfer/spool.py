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
class _Session:
    """When a session began, and the numbers of its first and its last message."""

    began: datetime
    first: int
    last: int


@dataclass(slots=True)
class Spool:
    """Messages of one channel, session by session: whichever began first comes first.

    In memory are 12 bytes of each, and each session's name.
    """

    file: SpoolFile
    # Where each message begins, and the next one of its session, counted from 1; 0 for none.
    _places: array[int] = field(default_factory=lambda: array("Q"))
    _next: array[int] = field(default_factory=lambda: array("I"))
    _sessions: dict[str, _Session] = field(default_factory=dict)

    def add(self, message: Message) -> None:
        """Keeps a message, which must have an id."""
        number = len(self._places) + 1
        session = self._sessions.get(message.session)
        if session is None:
            self._sessions[message.session] = _Session(message.time or _LONG_AGO, number, number)
        else:
            self._next[session.last - 1] = number
            session.last = number
        self._places.append(self.file.append(line(replace(message, number=number))))
        self._next.append(0)

    def messages(self) -> Iterator[Message]:
        """All messages in their order, without numbers."""
        # Of sessions that began at once the one that was found first comes first.
        for session in sorted(self._sessions.values(), key=lambda one: one.began):
            number = session.first
            while number:
                message = parsed(self.file.line_at(self._places[number - 1]))
                assert message is not None
                yield replace(message, number=0)
                number = self._next[number - 1]
