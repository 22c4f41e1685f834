"""The archive of a channel, `HISTORY.archive.md`: what was folded is added at its end."""

from __future__ import annotations

from pathlib import Path

from pipimem.notes.files import File
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk.known_prefix import KnownPrefix
from pipimem.store.disk.syscalls import append_synced, reading, store_errors
from pipimem.store.journal.records import JournalRecord


def archive_state(working_copy: WorkingCopy) -> tuple[int, str]:
    """Returns how many bytes the archive has, and their etag."""
    path = working_copy.target(File.ARCHIVE)
    prefix = KnownPrefix.of(path, path.stat().st_size if path.exists() else 0)
    return prefix.end, prefix.digest


def append_archived(working_copy: WorkingCopy, record: JournalRecord) -> None:
    """Adds what a record archived, unless it is there; half of it, left by a crash, is cut first.

    Where the archive no longer begins with what it had, somebody changed it: then nothing is cut.
    """
    path, data = working_copy.target(File.ARCHIVE), record.archived.encode()
    is_known = KnownPrefix.of(path, record.archive_size).digest == record.archive_etag
    if not is_known and record.archive_etag:  # pipimem 0.1 kept no etag
        whole = b"\n" + _from(path, 0)
        if b"\n" + data not in whole:
            append_synced(path, data if whole.endswith((b"\n", b"\r")) else b"\n" + data)
        return
    behind = _from(path, record.archive_size)
    if behind.startswith(data):
        return
    # A power cut may have left blanks of the disk. Something else behind the old end is a
    # person's: it stays.
    is_half = data.startswith(behind.rstrip(b"\0"))
    append_synced(path, data, at=record.archive_size if is_half else None)


def _from(path: Path, start: int) -> bytes:
    with store_errors("read", path):
        try:
            with reading(path) as file:
                file.seek(start)
                return file.read()
        except FileNotFoundError:
            return b""
