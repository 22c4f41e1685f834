"""Watches the channels' files with watchdog, and tells why change events are unavailable."""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pipimem.clock import Clock
from pipimem.errors import described
from pipimem.runtime.maintenance.background import Background, Failure
from pipimem.store.disk.syscalls import MOUNTS, file_system
from pipimem.store.schedule import STAMPED

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

# File systems that others write to without this kernel hearing of it.
_WITHOUT_CHANGE_EVENTS = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "vboxsf", "afs", "ceph", "glusterfs",
    "lustre", "prl_fs",
})  # fmt: skip
_LIMITS = {
    errno.ENOSPC: ("watch", Path("/proc/sys/fs/inotify/max_user_watches")),
    errno.EMFILE: ("queue", Path("/proc/sys/fs/inotify/max_user_instances")),
}
_LONGEST_JOIN = 2.0
# The job, as the operator reads of it.
JOB = "watch"


@dataclass(slots=True)
class Watch:
    """A watch on `channels/`.

    `tell` is called from watchdog's threads: with the name of a folder below `channels/` of which
    one of `files` may have changed, or that came or went; with an empty name where one of
    `workspace_files` may have, beside `channels/`; with `None` where any of them may have and the
    watch is to be started again. What such a thread raises goes to `background`.
    """

    channels: Path
    tell: Callable[[str | None], None]
    background: Background = field(default_factory=lambda: Background(Clock()))
    files: Collection[str] = STAMPED
    workspace_files: Collection[str] = ()
    _observer: BaseObserver | None = None
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> str:
        """Begin to watch, or begin anew; returns the reason where that is no use, else ``""``."""
        self.stop()
        reason = lacks_change_events(self.channels)
        if not reason:
            try:
                self._begin()
            except OSError as error:
                self.stop()
                reason = _sentence(error)
            except Exception as error:  # noqa: BLE001 - without watchdog idle work goes on
                self.stop()
                reason = described(error)
        if not reason:
            return ""
        return (
            f"{self.channels} cannot be watched ({reason}); "
            "its files are compared every minute instead"
        )

    @property
    def is_unavailable(self) -> bool:
        """Whether it began, and one of its threads has ended since."""
        return not all(thread.is_alive() for thread in self._threads)

    def stop(self) -> None:
        """End the watch; one that never began is ended already."""
        self._threads = []
        if self._observer is not None:
            self._observer.stop()
            with suppress(RuntimeError):  # its thread never began
                self._observer.join(_LONGEST_JOIN)
            self._observer = None

    def _begin(self) -> None:
        from watchdog import events, observers

        channels = self.channels.resolve(strict=True)
        expected = 2 + _folders_in(channels)  # with `channels/` itself and the folder it lies in
        before = _inotify_watches()
        report = partial(self._reported, channels)

        class Handler(events.FileSystemEventHandler):
            is_broken = False

            def on_any_event(self, event: FileSystemEvent) -> None:
                self.is_broken = self.is_broken or not report(event)

        handler, kinds = Handler(), _kinds(events)
        self._observer = observers.Observer()
        self._observer.schedule(handler, str(channels), recursive=True, event_filter=kinds)
        # There `channels/` itself may be moved away, deleted and made again.
        self._observer.schedule(handler, str(channels.parent), event_filter=kinds)
        reader = getattr(self._observer, "_inotify_fd", None)  # of watchdog 7 on Linux
        if reader is not None:
            _add_quietly(reader)
        self._observer.start()
        self._threads = [self._observer, *self._observer.emitters, *([reader] if reader else [])]
        for emitter in self._observer.emitters:
            # watchdog 7.1 answers an overflow of the queue by taking all watches back and setting
            # them again. Where they are more than the queue holds (16,384), that overflows it
            # again, without end.
            group = getattr(emitter, "_inotify", None)
            if group is not None and hasattr(group, "on_queue_overflow"):
                group.on_queue_overflow = lambda: self.tell(None)
        # watchdog 7 passes over watches that the kernel refuses.
        if 0 < _inotify_watches() - before < expected:
            raise OSError(errno.ENOSPC, "no inotify watch is left")

    def _reported(self, channels: Path, event: FileSystemEvent) -> bool:
        """Reports an event; whether that went well, else the watch is to be started again."""
        work = partial(self._report_event, channels, event)
        outcome = self.background.attempt_in_thread(JOB, work, then=self._lost)
        return not isinstance(outcome, Failure)

    def _report_event(self, channels: Path, event: FileSystemEvent) -> None:
        # Our own state is written with every change, and tells nobody anything.
        if "/.pipimem/" in os.fsdecode(event.src_path):
            return
        if not event.is_synthetic:  # a file in a folder that was moved; the folder is told
            for path in (event.src_path, event.dest_path):
                self._report(channels, Path(os.fsdecode(path)))

    def _lost(self) -> None:
        self.tell(None)

    def _report(self, channels: Path, path: Path) -> None:
        if path == channels:
            self.tell(None)
        elif path.is_relative_to(channels):
            folder, *name = path.relative_to(channels).parts
            if not name or "/".join(name) in self.files:
                self.tell(folder)
        elif path.name in self.workspace_files:
            self.tell("")


def _add_quietly(reader: Any) -> None:  # noqa: ANN401 - a private class of watchdog's
    """Keeps a reader from warning where a new folder is both heard of and found by a walk.

    As an error, which a host may make of warnings, that would end the reader's thread; a filter
    for warnings would be the whole host's.
    """

    def add(path: bytes, mask: int, callback: object, name: int) -> int:
        watch = getattr(reader, "_get_or_create_watch")(path, mask)  # noqa: B009 - private
        watch.callbacks[name] = callback
        return int(watch.wd)

    setattr(reader, "_add_callback", add)  # noqa: B010 - private


def lacks_change_events(folder: Path, mounts: Path = MOUNTS) -> str:
    """The type of a file system that gives no change events; empty for all others."""
    kind = file_system(folder, mounts)
    if kind in _WITHOUT_CHANGE_EVENTS or kind.startswith("fuse."):
        return f"{kind} tells nothing of what others write"
    return ""


def _kinds(events: ModuleType) -> list[type[FileSystemEvent]]:
    """The events that are asked for; without a filter watchdog's own walk fills inotify's queue."""
    # Only Linux tells that a file was closed; elsewhere a save is known by its writing.
    saved = "FileClosed" if sys.platform == "linux" else "FileModified"
    names = ("FileMoved", saved, "FileDeleted", "DirCreated", "DirMoved", "DirDeleted")
    return [getattr(events, f"{name}Event") for name in names]


def _folders_in(channels: Path) -> int:
    """How many folders the watch covers: channels and our own folders in them."""
    names = [entry.path for entry in os.scandir(channels)]
    return sum(_is_folder(name + inner) for name in names for inner in ("", "/.pipimem"))


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _inotify_watches() -> int:
    """The inotify watches of this process; 0 without Linux or /proc."""
    watches = 0
    for descriptor in Path("/proc/self/fdinfo").glob("*"):
        with suppress(OSError):  # closed meanwhile
            watches += descriptor.read_bytes().count(b"\ninotify wd:")
    return watches


def _sentence(error: OSError) -> str:
    """What an error says, with the remedy where a limit of inotify is reached."""
    if error.errno not in _LIMITS:
        return f"{error.strerror}: {error.filename}" if error.filename else str(error)
    what, limit = _LIMITS[error.errno]
    try:
        most = limit.read_text(encoding="ascii").strip()
    except OSError:
        most = "unknown"
    return f"no inotify {what} is left, fs.inotify.{limit.name} is {most}; raise it with sysctl"
