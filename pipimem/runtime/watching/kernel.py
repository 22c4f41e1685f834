"""The watch on Linux: one inotify watch a channel, kept true while folders come, go and move."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from pipimem.runtime.watching.news import NAMES, Deaf, Edited, Missed, Tell
from pipimem.store.disk.inotify import (
    CLOSED,
    CREATED,
    DELETED,
    ENDED,
    MOVED_FROM,
    MOVED_TO,
    OVERFLOWED,
    SELF_DELETED,
    SELF_MOVED,
    Event,
    Inotify,
)

_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
_QUEUES = Path("/proc/sys/fs/inotify/max_user_instances")
# What a finished save looks like: written in place, or renamed into the place.
_SAVED = CLOSED | MOVED_TO | MOVED_FROM | DELETED
_CAME = CREATED | MOVED_TO
_WENT = DELETED | MOVED_FROM
_LONGEST_GOODBYE = 2.0


@dataclass(slots=True)
class Kernel:
    """Ears on `channels/`, on the folders in it, and on the workspace, where `channels/` itself may come and go.

    A library that watches recursively would need three watches a channel, and says nothing when the queue overflows.
    """

    channels: Path
    tell: Tell
    _inotify: Inotify = field(init=False)
    _thread: Thread | None = None
    _workspace: int = -1
    _top: int = -1
    # By watch the folder, and the other way round.
    _folders: dict[int, str] = field(default_factory=dict)
    _watches: dict[str, int] = field(default_factory=dict)

    def start(self) -> None:
        """Begin to listen. Raises `OSError`, with a sentence for the limits of inotify."""
        try:
            self._open()
        except OSError as error:
            raise OSError(error.errno, _sentence(error)) from error
        self._thread = Thread(target=self._listen, name="pipimem watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; ears that never listened are closed already."""
        if self._thread is not None:
            self._inotify.stop()
            self._thread.join(_LONGEST_GOODBYE)
            self._thread = None

    def _open(self) -> None:
        self._inotify = Inotify()
        try:
            workspace = os.fspath(self.channels.parent)
            self._workspace = self._inotify.watch(workspace, _CAME | _WENT | SELF_DELETED | SELF_MOVED)
            self._begin()
        except OSError:  # the watches that could be had are of use to others
            self._inotify.close()
            raise

    def _listen(self) -> None:
        for events in self._inotify.events():
            # One word a folder, however often it was written to.
            edited: dict[str, None] = {}
            try:
                edited = dict.fromkeys(folder for event in events for folder in self._heard(event))
            except _Anew:
                self._anew()
            except OSError as error:
                self.tell(Deaf(_sentence(error)))
            if edited:
                self.tell(Edited(tuple(edited)))

    def _heard(self, event: Event) -> Iterator[str]:
        """The folders an event tells of. Raises `_Anew` where what was watched can no longer be told."""
        if event.what & OVERFLOWED or event.watch == self._workspace:
            if event.what & (SELF_MOVED | SELF_DELETED | ENDED):
                self.tell(Deaf(f"{self.channels.parent} was moved away"))
            elif event.what & OVERFLOWED or event.name == self.channels.name:
                raise _Anew
        elif event.watch == self._top:
            if event.name and event.what & (_CAME | _WENT):
                self._leave(event.name)
                if event.what & _CAME:
                    self._follow(event.name)
                # After the watch is set: what was written before it is seen in the files.
                yield event.name
        elif event.what & ENDED:
            if (name := self._folders.pop(event.watch, None)) is not None:
                self._watches.pop(name, None)
        elif event.name in NAMES and event.watch in self._folders:
            yield self._folders[event.watch]

    def _anew(self) -> None:
        """Watch what is there now, whatever was heard, and let everything be compared."""
        try:
            self._begin()
        except FileNotFoundError:
            pass  # `channels/` was moved away: the workspace tells when it comes back
        except OSError as error:
            self.tell(Deaf(_sentence(error)))
        self.tell(Missed())

    def _begin(self) -> None:
        """Set the watches of all that is there, and leave those of what is not."""
        if self._top >= 0:
            self._inotify.leave(self._top)
        self._top = -1
        try:
            self._top = self._inotify.watch(os.fspath(self.channels), _CAME | _WENT)
            there = {entry.name for entry in os.scandir(self.channels) if entry.is_dir()}
        except OSError:
            there = set()
            raise
        finally:
            for name in self._watches.keys() - there:
                self._leave(name)
        for name in there:
            self._follow(name)

    def _follow(self, name: str) -> None:
        try:
            watch = self._inotify.watch(f"{self.channels}/{name}", _SAVED)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
            return  # gone again, a file, or not ours to read: a turn tells
        if self._watches.get(name, watch) != watch:
            self._leave(name)  # another folder has taken its name
        self._watches[name] = watch
        self._folders[watch] = name

    def _leave(self, name: str) -> None:
        watch = self._watches.pop(name, None)
        if watch is not None and self._folders.get(watch) == name:
            del self._folders[watch]
            self._inotify.leave(watch)


class _Anew(Exception):
    """The queue overflowed, or `channels/` is another folder."""


def _sentence(error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC:
            return f"no inotify watch is left, fs.inotify.max_user_watches is {_limit(_WATCHES)}; raise it with sysctl"
        case errno.EMFILE:
            return f"no inotify queue is left, fs.inotify.max_user_instances is {_limit(_QUEUES)}; raise it with sysctl"
    return f"{error.strerror}: {error.filename}" if error.filename else str(error)


def _limit(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"
