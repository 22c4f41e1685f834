"""Changes of files that a holder can no longer make once another one took its lock over.

On one host the system frees the lock of a dead process, and a suspended one keeps it: nothing here
does anything then. A lease on a lock of several hosts ends by time, and its holder may be suspended
at any system call. So whatever gets or loses a name passes through the holder's *staging
directory*, one with the number of its fence in the name, and whoever takes the lock over empties
and removes that directory: a rename that was about to happen finds nothing. What is appended to is
opened first and checked then, and is replaced by a copy with the takeover: what is written later
goes into a file without a name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, unquote

from pipimem.store.disk import presence


class Fence(Protocol):
    """What a holder of a lease shows before each change of a file."""

    @property
    def number(self) -> int:
        """Greater than that of every holder before."""

    @property
    def staging(self) -> Path:
        """The folder of this holder alone, on the disk of what it writes."""

    @property
    def folder(self) -> Path:
        """What the names in the staging directory are relative to."""

    def check(self) -> None:
        """Raises `LockLost` where the lease is over, or another holder has planted its fence."""

    def wrote(self, record: int) -> None:
        """Notes a writing of which others get a notice: its record's number, 0 for none."""


_MOVING, _TRASH = "to-", "gone-"
_held: ContextVar[Fence | None] = ContextVar("pipimem_fence", default=None)
_job_fence: ContextVar[Fence | None] = ContextVar("pipimem_job_fence", default=None)


@contextmanager
def fenced_by(fence: Fence) -> Iterator[None]:
    """While this lasts, each change that this thread makes is made under a fence."""
    token = _held.set(fence)
    try:
        yield
    finally:
        _held.reset(token)


@contextmanager
def under_job_fence(fence: Fence | None) -> Iterator[None]:
    """While this lasts, what this task commits counts only while its job's `fence` stands, too.

    A job with a model takes minutes and holds no lock to write; its threads inherit the fence.
    """
    token = _job_fence.set(fence)
    try:
        yield
    finally:
        _job_fence.reset(token)


def fence_number() -> int:
    """The number of the fence of this thread, 0 without one."""
    fence = _held.get()
    return 0 if fence is None else fence.number


def note_written(record: int = 0) -> None:
    """Has other hosts notified, when this thread gives the lock back; does nothing on one host."""
    fence = _held.get()
    if fence is not None:
        fence.wrote(record)


def check_fence() -> None:
    """Raises `LockLost` where this thread has a fence that another holder has passed."""
    fence = _held.get()
    if fence is None:
        return
    fence.check()
    job = _job_fence.get()
    if job is not None and job.folder == fence.folder:
        job.check()


def staged_draft() -> Path | None:
    """Where a text is written before it gets its name; `None` without a fence."""
    fence = _held.get()
    return None if fence is None else _free(fence.staging, "half-")


def give_name(draft: Path, target: Path) -> None:
    """Renames a draft of this holder's to its name, or does nothing but raise `LockLost`."""
    check_fence()
    draft.replace(target)


def take_name(path: Path) -> None:
    """Removes a file; one that is gone already is fine."""
    fence = _held.get()
    if fence is None or path.parent == fence.staging:
        path.unlink(missing_ok=True)
        return
    if not os.path.lexists(path):
        return
    check_fence()
    trash = _free(fence.staging, _TRASH)
    try:
        path.rename(trash)
    except FileNotFoundError:
        if not presence.is_folder(fence.staging):
            raise  # another holder removed the staging directory
        return
    trash.unlink(missing_ok=True)


def move_name(path: Path, target: Path) -> None:
    """Renames a file that lies under a name which other holders use, too."""
    with staged(path, target) as ours:
        if ours == path:
            path.rename(target)


@contextmanager
def staged(path: Path, target: Path | None = None) -> Iterator[Path]:
    """Stages a file while this lasts, and renames it to `target` then, if it is still there.

    By default that is the name it had. Yields where it lies: `path` itself without a fence.
    """
    fence = _held.get()
    if fence is None:
        yield path
        return
    check_fence()
    ours = fence.staging / _staged_name(fence.folder, target or path)
    path.rename(ours)
    try:
        yield ours
    finally:
        if presence.is_folder(fence.staging):  # else another holder has what lay there
            put_back(fence.staging, fence.folder)


def put_back(staging: Path, folder: Path) -> None:
    """Moves what is staged to where it belongs, and removes drafts and what was removed."""
    for name in sorted(os.listdir(staging)):  # noqa: PTH208 - names
        path = staging / name
        if not name.startswith(_MOVING):
            path.unlink(missing_ok=True)
            continue
        path.rename(_target_of(folder, name))


def take_staging(staging: Path, mine: Path, folder: Path) -> None:
    """Empties and removes the staging directory of a former holder: it can change nothing then.

    What it had there is moved to `mine`, and from there to where it belongs.
    """
    while True:
        try:
            names = os.listdir(staging)  # noqa: PTH208 - names
            for name in names:
                (staging / name).rename(mine / name)
            staging.rmdir()
        except FileNotFoundError:
            if presence.is_folder(staging):
                continue  # the holder was not suspended, and moved on
        except OSError:
            if not os.listdir(staging):  # noqa: PTH208 - names
                raise
            continue
        break
    put_back(mine, folder)


def unstaged_name(path: Path) -> str:
    """The name that a file in the staging directory has where it belongs."""
    return Path(unquote(path.name.removeprefix(_MOVING))).name


def _staged_name(folder: Path, target: Path) -> str:
    return _MOVING + quote(os.path.relpath(target, folder), safe="")


def _target_of(folder: Path, name: str) -> Path:
    target = folder / unquote(name.removeprefix(_MOVING))
    return Path(os.path.normpath(target))


def _free(staging: Path, beginning: str) -> Path:
    return presence.first_unused(staging / f"{beginning}{number}" for number in count())
