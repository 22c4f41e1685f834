"""What a holder of a lock asks for before it changes a file: whether it still holds the lock.

On one host the system frees the lock of a dead process, and a suspended one keeps it: nothing here
does anything then. A lease on a lock of several hosts ends by time, and its holder may be suspended
at any system call. So whatever gets a name was written under a draft's name before, which has the
number of the hold in it, and the server is asked after that. Whoever takes the lock over removes
the drafts of holders before: a rename that was about to happen finds nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Protocol

HALF = "half"
"""The tag of a temporary file that is still being written."""


class Hold(Protocol):
    """A lock of several hosts that this thread holds."""

    @property
    def name(self) -> str:
        """The lock's name in the database."""

    @property
    def fence(self) -> int:
        """Greater than that of every holder before."""

    @property
    def draft_tag(self) -> str:
        """The tag of the drafts that are written under it."""

    def check(self) -> None:
        """Raise `LockLost` where another holder may have the lock. Writing follows."""


_held: ContextVar[Hold | None] = ContextVar("pipimem_hold", default=None)
_job: ContextVar[Hold | None] = ContextVar("pipimem_job_hold", default=None)


@contextmanager
def fenced_by(hold: Hold) -> Iterator[None]:
    """While this lasts, each change that this thread makes is made under a lock."""
    token = _held.set(hold)
    try:
        yield
    finally:
        _held.reset(token)


@contextmanager
def under_job_fence(hold: Hold | None) -> Iterator[None]:
    """While this lasts, what this task commits counts only while its job's lock is held, too.

    A job with a model takes minutes and holds no lock to write; its threads inherit the hold.
    """
    token = _job.set(hold)
    try:
        yield
    finally:
        _job.reset(token)


def holds() -> tuple[Hold, ...]:
    """Return what this thread holds: the lock to write, then that of its job."""
    held = _held.get()
    return () if held is None else tuple(filter(None, (held, _job.get())))


def check_fence() -> None:
    """Raise `LockLost` where another holder may have a lock of this thread."""
    for hold in holds():
        hold.check()


def draft_tag() -> str:
    """Return the tag of a draft of this thread."""
    held = _held.get()
    return HALF if held is None else held.draft_tag


def revalidate(paths: tuple[Path, ...]) -> None:
    """Open files, so that what the system shows of them is as others left them.

    A network file system asks its server about a file when it is opened, and believes for seconds
    what it was told.
    """
    for path in paths:
        with suppress(OSError):
            os.close(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))
