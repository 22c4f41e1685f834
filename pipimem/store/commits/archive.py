"""The archive of a channel, `HISTORY.archive.md`: what was folded, word for word, added at the end."""

from __future__ import annotations

from pathlib import Path

from pipimem.notes.files import File
from pipimem.store.commits.desk import Desk
from pipimem.store.disk.calls import append_synced, reading, told
from pipimem.store.disk.files import resolved
from pipimem.store.journal.records import JournalRecord


def archive_size(desk: Desk) -> int:
    """How many bytes the archive has."""
    path = _path(desk)
    return path.stat().st_size if path.exists() else 0


def append_archived(desk: Desk, record: JournalRecord) -> None:
    """Adds what a record archived, unless it is there; half of it, left by a crash, is cut first."""
    path, data = _path(desk), record.archived.encode()
    there = _from(path, record.archive_size)
    if there.startswith(data):
        return
    # A power cut may have left blanks of the disk. Something else behind the old end is a person's: it stays, ours follows.
    append_synced(path, data, at=record.archive_size if data.startswith(there.rstrip(b"\0")) else None)


def _from(path: Path, start: int) -> bytes:
    with told("read", path):
        try:
            with reading(path) as file:
                file.seek(start)
                return file.read()
        except FileNotFoundError:
            return b""


def _path(desk: Desk) -> Path:
    return resolved(desk.path(File.ARCHIVE), desk.root)
