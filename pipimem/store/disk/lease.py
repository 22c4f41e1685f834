"""Whether somebody has a file open for writing: a read lease says it, on Linux alone."""

from __future__ import annotations

import errno
import signal
import sys
from enum import Enum


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
