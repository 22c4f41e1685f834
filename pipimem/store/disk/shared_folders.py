"""Folders in which other hosts write, too: whether what the file system shows of a file is its own.

A network file system shows the attributes of a file as they were some seconds ago, and asks its
server again where the file is opened. So behind each notice of another host's writing a file is
opened before its attributes are believed. On one host there are no such folders.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

from msgspec import Struct

# The files of a channel lie in its folder, in `.pipimem/`, or in a folder of that.
_DEEPEST = 3
_numbers = count(1)

StatusOf = Callable[[Path], os.stat_result]


class _Opened(Struct, frozen=True):
    """A file as it was when it was opened behind a notice, and what was shown of it before.

    `None` for one that was not there.
    """

    notice: int
    shown: os.stat_result | None
    status: os.stat_result | None

    def corrected(self, shown: os.stat_result) -> os.stat_result | None:
        """The status of the file, where the same is shown of it still."""
        before = self.shown
        if before is None or not os.path.samestat(shown, before):
            return shown
        return self.status if shown.st_ctime_ns == before.st_ctime_ns else shown


@dataclass(slots=True, weakref_slot=True, eq=False)
class SharedFolder:
    """A folder that this process has in use; `is_listening` says whether notices come right now.

    Its methods may be called from any thread.
    """

    is_listening: Callable[[], bool]
    _notice: int = 0
    # Under which number this process held the folder's lock last.
    _fence: int = 0
    # The newest record that a notice named, and the newest that was read here.
    _named: int = 0
    _read: int = 0
    _opened: dict[str, _Opened] = field(default_factory=dict)

    def distrust(self, record: int = 0) -> None:
        """Another host wrote here, or may have: its newest record has this number, 0 for unknown.

        Until that one was read, each look opens the file.
        """
        self._named = record or self._named
        self._notice = next(_numbers)

    def locked(self, fence: int) -> None:
        """This process has the lock, under a number that changes when another host had it."""
        if fence != self._fence:
            self._fence = fence
            self.distrust()

    def read(self, record: int) -> None:
        """The newest record that was read here."""
        self._read = record

    def status(self, path: Path, by_opening: StatusOf) -> os.stat_result:
        """The status of a file in it. Raises `OSError` as `Path.stat` does."""
        notice, known = self._notice, self._opened.get(os.fspath(path))
        is_believed = self.is_listening() and self._read >= self._named
        if known is not None and known.notice == notice and is_believed:
            status = known.corrected(path.stat())
        else:
            # Before the opening: what is written in between is shown later, or opened again.
            shown = _found(path, Path.stat)
            status = _found(path, by_opening)
            self._opened[os.fspath(path)] = _Opened(notice, shown, status)
        if status is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
        return status


# Held by who adds one, by who looks through all, and by a fork: the child would never get it.
_changing = Lock()
if hasattr(os, "register_at_fork"):  # Windows has none
    os.register_at_fork(
        before=_changing.acquire,
        after_in_parent=_changing.release,
        after_in_child=_changing.release,
    )
_folders: WeakValueDictionary[str, SharedFolder] = WeakValueDictionary()


def share(folder: Path, is_listening: Callable[[], bool]) -> SharedFolder:
    """A folder is in use by several hosts as long as what is returned is kept."""
    with _changing:
        return _folders.setdefault(os.fspath(folder), SharedFolder(is_listening))


def shared_folder(folder: Path) -> SharedFolder | None:
    """What is known of a folder in use; `None` for one that is not, or not shared."""
    return _folders.get(os.fspath(folder)) if _folders else None


def note_read(folder: Path, record: int) -> None:
    """The changes of a folder were read up to one."""
    shared = shared_folder(folder)
    if shared is not None:
        shared.read(record)


def shared_folders_in(folder: Path) -> list[SharedFolder]:
    """All in use right below a folder."""
    with _changing:
        return [each for path, each in _folders.items() if Path(path).parent == folder]


def current_status(path: Path, by_opening: StatusOf) -> os.stat_result:
    """The status of a file, by opening it where another host may have written since the last look.

    Raises `OSError` as `Path.stat` does.
    """
    folder = _holding(path) if _folders else None
    return path.stat() if folder is None else folder.status(path, by_opening)


def _holding(path: Path) -> SharedFolder | None:
    name = os.fspath(path)
    for _ in range(_DEEPEST):
        name = name.rpartition(os.sep)[0]
        found = _folders.get(name)
        if found is not None:
            return found
    return None


def _found(path: Path, status_of: StatusOf) -> os.stat_result | None:
    try:
        return status_of(path)
    except FileNotFoundError:
        return None
