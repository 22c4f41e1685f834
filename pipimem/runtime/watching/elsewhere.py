"""The watch on systems without inotify: the one door of watchdog."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipimem.runtime.watching.news import NAMES, Edited, Tell

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver


@dataclass(slots=True)
class Elsewhere:
    """Ears on all that lies below `channels/`."""

    channels: Path
    tell: Tell
    _observer: BaseObserver | None = None

    def start(self) -> None:
        """Begin to listen. Raises `OSError`."""
        from watchdog.events import (
            DirCreatedEvent,
            DirDeletedEvent,
            DirMovedEvent,
            FileClosedEvent,
            FileDeletedEvent,
            FileModifiedEvent,
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
        # Only Linux tells that a file was closed; elsewhere a save is known by its writing.
        kinds = [
            FileMovedEvent, FileClosedEvent, FileDeletedEvent, FileModifiedEvent,
            DirCreatedEvent, DirMovedEvent, DirDeletedEvent,
        ]  # fmt: skip
        observer.schedule(Handler(), str(self.channels), recursive=True, event_filter=kinds)
        observer.start()
        self._observer = observer

    def stop(self) -> None:
        """End; ears that never listened are closed already."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(timeout=2)
            self._observer = None

    def _report(self, path: str) -> None:
        found = Path(path)
        if found.parent == self.channels:  # a channel came, went, or was moved: with all that is in it
            self.tell(Edited((found.name,)))
        elif found.name in NAMES and found.parent.parent == self.channels:
            self.tell(Edited((found.parent.name,)))
