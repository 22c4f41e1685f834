"""Whether anybody has read a text since we put it in its place: nobody can have changed what nobody read.

Most systems note the first reading of a file after its writing (`relatime`). We set the time of last access to one
that carries digits of the text's etag, and read without leaving a trace ourselves. While those digits stand
there, whoever saves the file saves an older text. Where nothing is noted there is no such proof, and every
text counts as read.
"""

from __future__ import annotations

import os
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from pipimem.notes.files import File
from pipimem.store.disk.calls import opened, read_whole, told, write_whole

NO_TRACE = getattr(os, "O_NOATIME", 0)
_SECOND = 1_000_000_000
_NOWHERE = -1
# Enough for a number below 10**9 to be as good as drawn by lot.
_DIGITS = 12
# Some thousand texts; what is forgotten of them only counts as read again.
_LARGEST = 64 * 1024


def leave_mark(descriptor: int, etag: str) -> None:
    """Marks a file just written as unread; its time of modification stays."""
    written = os.fstat(descriptor).st_mtime_ns
    if os.utime in os.supports_fd:
        # Before the modification: else the next reading would not be noted.
        os.utime(descriptor, ns=((written // _SECOND - 1) * _SECOND + _digits(etag), written))


def mark_on(descriptor: int) -> int:
    """What `is_unread` compares; a number no text has where this file system notes no readings."""
    if not hasattr(os, "ST_NOATIME") or os.fstatvfs(descriptor).f_flag & os.ST_NOATIME:
        return _NOWHERE
    return os.fstat(descriptor).st_atime_ns % _SECOND


def is_unread(mark: int, etag: str) -> bool:
    """Whether nobody has read the text of this etag, which was put into the file that had this mark."""
    return bool(etag) and mark == _digits(etag)


def _digits(etag: str) -> int:
    return int(etag[:_DIGITS], 16) % _SECOND


@dataclass(frozen=True, slots=True)
class Unread:
    """The texts that stood in a channel's files and went again without anybody having read them.

    A hint, so it is not synced: a text that is not among them counts as read.
    """

    path: Path

    def note(self, file: File, etag: str) -> None:
        """Adds one; the caller holds the channel's lock."""
        with told("write", self.path):
            descriptor = opened(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                if os.fstat(descriptor).st_size > _LARGEST:
                    os.ftruncate(descriptor, 0)
                write_whole(descriptor, f"{file} {etag}\n".encode())
            finally:
                os.close(descriptor)

    def etags(self, file: File) -> Set[str]:
        """The etags of a file's unread texts."""
        with told("read", self.path):
            try:
                lines = read_whole(self.path).decode().splitlines()
            except (FileNotFoundError, UnicodeDecodeError):
                return frozenset()
        return frozenset(etag for line in lines if (etag := line.removeprefix(f"{file} ")) != line)
