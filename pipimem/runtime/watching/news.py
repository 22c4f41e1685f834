"""What a watch has to tell; always a hint, never the truth: every read looks at the files themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipimem.notes.files import File

# People edit the notes; another process adds to the transcript.
NAMES = frozenset({File.SESSION.value, File.MEMORY.value, File.HISTORY.value, "log.jsonl"})
"""The files of a channel that a watch tells of."""


@dataclass(frozen=True, slots=True)
class Edited:
    """Files of these folders below `channels/` may have changed, or the folders came or went."""

    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Missed:
    """More happened than was told: all folders are to be compared."""


@dataclass(frozen=True, slots=True)
class Deaf:
    """From here on not everything is heard: all folders are to be compared now and then."""

    reason: str


News = Edited | Missed | Deaf
Tell = Callable[[News], None]
"""Takes news, in a thread of the watch's own."""


class Ears(Protocol):
    """One way to hear of changes below `channels/`."""

    def start(self) -> None:
        """Begin to listen: what changes from the return on is told. Raises `OSError` where that cannot be."""

    def stop(self) -> None:
        """End; no news after it."""


class MakeEars(Protocol):
    """What makes the ears of a system."""

    def __call__(self, channels: Path, tell: Tell) -> Ears:
        """The ears for a folder `channels/`; they do not listen yet."""
