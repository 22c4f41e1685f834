"""Whether an editor is in the middle of saving a file.

The text that it has tells; and, on Linux alone, a read lease that others have it open for writing.
"""

from __future__ import annotations

import errno
import signal
import sys
import time
from enum import Enum
from pathlib import Path

from pipimem.store.disk import presence

# Editors that truncate and write are done within hundreds of ms; what stands longer was meant.
SAVE_GRACE_SECONDS = 2.0


def save_deadline() -> float:
    """Answers until when, by `time.monotonic`, a save that began is waited for from now on."""
    return time.monotonic() + SAVE_GRACE_SECONDS


def may_be_half_saved(path: Path, text: str, known: str) -> bool:
    """Whether the file was just now emptied, removed, or cut in the middle of a line.

    `text` is what it has, `known` the text that it had before.
    """
    if len(text) >= len(known) or (text.strip() and not _is_cut(text, known)):
        return False
    try:
        changed = (path if presence.exists(path) else path.parent).stat().st_mtime
    except OSError:  # the folder went too: nothing is being saved there
        return False
    return is_recent(changed)


def is_recent(changed: float) -> bool:
    """Whether a file of this modification time, in seconds, may be in the middle of a save."""
    # The disk's own clock is the wall clock; no other part of the store reads it.
    return abs(time.time() - changed) < SAVE_GRACE_SECONDS


def _is_cut(text: str, known: str) -> bool:
    # Editors write in blocks, which end anywhere; a person who deletes the last bullet leaves whole
    # lines.
    return (
        known.startswith(text)
        and not text.endswith(("\n", "\r"))
        and known[len(text)] not in "\r\n"
    )


class Lease(Enum):
    """What asking for a read lease says about a file."""

    HELD = "nobody writes, and a writer would wait for us"
    WRITTEN = "somebody has it open for writing"
    NONE = "this file or system has no leases"


if sys.platform == "linux":
    import fcntl

    def leased(descriptor: int) -> Lease:
        """Takes a read lease on an open file; closing the file gives it back."""
        try:
            # The default signal for a writer who waits, SIGIO, ends a process; this one is ignored
            # by default.
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError as error:  # not our file, a network file system, a sandbox
            return Lease.WRITTEN if error.errno == errno.EAGAIN else Lease.NONE
        return Lease.HELD

    def is_wanted(descriptor: int) -> bool:
        """Whether a writer waits for our lease to end; it has looked the name up already."""
        return fcntl.fcntl(descriptor, fcntl.F_GETLEASE) != fcntl.F_RDLCK
else:

    def leased(descriptor: int) -> Lease:  # noqa: ARG001 - the same call everywhere
        """There are no leases here."""
        return Lease.NONE

    def is_wanted(descriptor: int) -> bool:  # noqa: ARG001
        """There are no leases here."""
        return False
