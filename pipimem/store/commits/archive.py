"""The archive of a channel, `HISTORY.archive.md`: what was folded, word for word, added at the end."""

from __future__ import annotations

from pathlib import Path

from pipimem.notes.files import File
from pipimem.store.commits.desk import Desk
from pipimem.store.disk.calls import append_synced, reading, told
from pipimem.store.disk.files import resolved
from pipimem.store.disk.known_prefix import KnownPrefix
from pipimem.store.journal.records import JournalRecord


def archive_standing(desk: Desk) -> tuple[int, str]:
    """How many bytes the archive has, and their etag."""
    path = _path(desk)
    prefix = KnownPrefix.of(path, path.stat().st_size if path.exists() else 0)
    return prefix.end, prefix.digest


def append_archived(desk: Desk, record: JournalRecord) -> None:
    """Adds what a record archived, unless it is there; half of it, left by a crash, is cut first.

    Where the archive no longer begins with what it had, somebody changed it: then nothing is cut.
    """
    path, data = _path(desk), record.archived.encode()
    there = _from(path, record.archive_size)
    is_known = KnownPrefix.of(path, record.archive_size).digest == record.archive_etag
    if is_known or not record.archive_etag:  # pipimem 0.1 kept no etag
        if there.startswith(data):
            return
        # A power cut may have left blanks of the disk. Something else behind the old end is a person's: it stays.
        append_synced(
            path, data, at=record.archive_size if data.startswith(there.rstrip(b"\0")) else None
        )
        return
    whole = b"\n" + _from(path, 0)
    if b"\n" + data not in whole:
        append_synced(path, data if whole.endswith((b"\n", b"\r")) else b"\n" + data)


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
