"""Watching the files: the one door of watchdog, which only says that somebody may have changed a channel."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipimem.notes.files import File

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

# People edit the notes; another process adds to the transcript.
_NAMES = frozenset({File.SESSION.value, File.MEMORY.value, File.HISTORY.value, "log.jsonl"})
_LIMIT = Path("/proc/sys/fs/inotify/max_user_watches")
_MOUNTS = Path("/proc/self/mountinfo")
# File systems that others write to without this kernel hearing of it.
_DEAF = frozenset(
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "vboxsf", "afs", "ceph", "glusterfs", "lustre", "prl_fs"]
)
# A channel's folder, its `.pipimem/` and the versions in it.
_FOLDERS = 3
# The fifth field is the mount point, blanks in it written in octal; the type follows the hyphen.
_MOUNT = re.compile(r"(?:\S+ ){4}(\S+) .*? - (\S+) ")
_ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(slots=True)
class Watch:
    """A watch on the channels' folder; `edited(folder name)` is called from a thread of its own.

    Events are a hint, never the truth: a lost one only means that idle work starts later, for every read looks at
    the files themselves.
    """

    channels: Path
    edited: Callable[[str], None]
    _observer: BaseObserver | None = None

    def start(self) -> str:
        """Begin to watch; gives the reason where that is no use, empty where it is."""
        if reason := blind_on(self.channels) or _too_many(self.channels):
            return f"{self.channels} cannot be watched ({reason}); its files are compared every minute instead"
        from watchdog.events import (
            DirCreatedEvent,
            DirDeletedEvent,
            DirMovedEvent,
            FileClosedEvent,
            FileDeletedEvent,
            FileMovedEvent,
            FileSystemEvent,
            FileSystemEventHandler,
        )
        from watchdog.observers import Observer

        report = self._report

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                for path in (event.src_path, event.dest_path):
                    report(path if isinstance(path, str) else path.decode("utf-8", "surrogateescape"))

        observer = Observer()
        # Without the filter watchdog's own walk of the folders floods its queue and livelocks from about 6,000 on.
        kinds = [
            FileMovedEvent,
            FileClosedEvent,
            FileDeletedEvent,
            DirCreatedEvent,
            DirMovedEvent,
            DirDeletedEvent,
        ]
        try:
            observer.schedule(Handler(), str(self.channels), recursive=True, event_filter=kinds)
            observer.start()
        except OSError as error:
            return f"{self.channels} cannot be watched ({error}); its files are compared every minute instead"
        self._observer = observer
        return ""

    def stop(self) -> None:
        """End the watch; a watch that never began is ended already."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(timeout=2)
            self._observer = None

    def _report(self, path: str) -> None:
        folder, _, name = path.rpartition("/") if os.sep == "/" else path.replace(os.sep, "/").rpartition("/")
        if name in _NAMES and Path(folder).parent == self.channels:
            self.edited(Path(folder).name)


def blind_on(folder: Path, mounts: Path = _MOUNTS) -> str:
    """Why events of a folder would not be heard: the type of its file system; empty where they would."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux: there watchdog knows the system's own way
        return ""
    target, longest, kind = folder.resolve(), "", ""
    for line in lines:
        if (found := _MOUNT.match(line)) is None:
            continue
        point = _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), found[1])
        if target.is_relative_to(point) and len(point) >= len(longest):
            longest, kind = point, found[2]
    return f"{kind} tells nothing of what others write" if kind in _DEAF or kind.startswith("fuse.") else ""


def _too_many(channels: Path) -> str:
    """The system's limit where the folders go beyond it: past it watchdog begins as usual and reports nothing."""
    try:
        limit = int(_LIMIT.read_text())
        folders = _FOLDERS * sum(entry.is_dir() for entry in os.scandir(channels))
    except (OSError, ValueError):
        return ""
    if folders < limit:
        return ""
    return f"about {folders} folders, while fs.inotify.max_user_watches is {limit}"
