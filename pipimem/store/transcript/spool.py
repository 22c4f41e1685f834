"""Talk that waits beside the transcript while no host may write to it.

Each process has a file of its own in `.pipimem/spool/`, so it needs no lock. Whoever holds the
channel's lock takes in the files of all: it renames a file before it reads it. A process that was
suspended in its own append finds its file gone from its name then, and appends once more; what was
taken in already is known by its id.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipimem.notes.message import Message
from pipimem.store.disk import appended_files, presence
from pipimem.store.disk.exchange import move
from pipimem.store.disk.files import remove
from pipimem.store.disk.folder_lock import is_at
from pipimem.store.disk.syscalls import (
    make_folder,
    opened,
    store_errors,
    sync_data,
    sync_folder,
    write_whole,
)
from pipimem.store.transcript.message_line import line, parsed

_WRITTEN, _TAKEN = ".jsonl", ".taking"
_ID_BYTES = 6


@dataclass(slots=True)
class TalkSpool:
    """The talk that waits for one channel; `owner` names this process among all hosts."""

    folder: Path
    owner: str
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    @property
    def watched(self) -> tuple[Path, ...]:
        """What changes with each message that waits, or is taken in."""
        return self.folder, self._own

    @property
    def _own(self) -> Path:
        return self.folder / f"{self.owner}{_WRITTEN}"

    def append(self, messages: Iterable[Message], after: int) -> tuple[Message, ...]:
        """Keeps messages, synced; returns them with ids, and numbers after `after` for the time.

        Raises `StoreError`.
        """
        with self._mutex:
            first = after + 1 + sum(1 for _ in self.messages())
            kept = tuple(
                replace(message, id=message.id or _new_id(), number=first + position)
                for position, message in enumerate(messages)
            )
            data = b"".join(map(line, kept))
            make_folder(self.folder)
            while not self._is_appended(data):
                pass
            return tuple(filter(None, map(parsed, data.splitlines(keepends=True))))

    def messages(self) -> Iterator[Message]:
        """What waits, of all hosts, each message once; numbers are those of the time."""
        known: set[str] = set()
        for path in self._files():
            for message in filter(None, map(parsed, appended_files.lines(path))):
                if message.id not in known:
                    known.add(message.id)
                    yield message

    def taken(self) -> list[tuple[Path, list[Message]]]:
        """The files by age with what they hold, out of their writers' reach.

        The caller holds the channel's lock, and removes each with `drop` once it is taken in.
        """
        if not presence.is_folder(self.folder):
            return []
        for path in self._files():
            if path.suffix == _WRITTEN:
                move(path, _free(path))
        files = [path for path in self._files() if path.suffix == _TAKEN]
        return [
            (path, list(filter(None, map(parsed, appended_files.lines(path))))) for path in files
        ]

    def drop(self, path: Path) -> None:
        """Removes a file that was taken in."""
        remove(path)

    def _is_appended(self, data: bytes) -> bool:
        """Appends to this process's file; whether it stands under its name still."""
        path = self._own
        with store_errors("write", path):
            descriptor = opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                write_whole(descriptor, data)
                sync_data(descriptor)
                sync_folder(self.folder)
                return is_at(path, descriptor)
            finally:
                os.close(descriptor)

    def _files(self) -> list[Path]:
        with store_errors("read", self.folder):
            try:
                found = [
                    (entry.stat().st_mtime_ns, entry.name) for entry in os.scandir(self.folder)
                ]
            except FileNotFoundError:
                return []
        names = [name for _, name in sorted(found)]
        return [self.folder / name for name in names if name.endswith((_WRITTEN, _TAKEN))]


def _new_id() -> str:
    return f"spooled-{os.urandom(_ID_BYTES).hex()}"


def _free(path: Path) -> Path:
    return path.with_name(f"{path.stem}-{os.urandom(_ID_BYTES).hex()}{_TAKEN}")
