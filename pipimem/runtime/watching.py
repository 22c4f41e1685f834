"""Watching the files: the one door of watchdog, which only says that a person may have edited a channel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipimem.notes.files import File

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

_NOTES = frozenset({File.SESSION, File.MEMORY, File.HISTORY})


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
        """Begin to watch; gives the reason when the system refuses, empty when it does not."""
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
            return f"watching {self.channels} failed ({error}); edits are seen at the next turn"
        self._observer = observer
        return ""

    def stop(self) -> None:
        """End the watch; a watch that never began is ended already."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(timeout=2)
            self._observer = None

    def _report(self, path: str) -> None:
        changed = Path(path)
        if changed.name in _NOTES and changed.parent.parent == self.channels:
            self.edited(changed.parent.name)
