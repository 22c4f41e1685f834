"""The files of a channel that people read, by name."""

from __future__ import annotations

from enum import StrEnum


class File(StrEnum):
    """A Markdown file of a channel; the value is its name in the channel's folder."""

    SESSION = "SESSION.md"
    MEMORY = "MEMORY.md"
    HISTORY = "HISTORY.md"
    ARCHIVE = "HISTORY.archive.md"


NOTE_FILES = (File.SESSION, File.MEMORY, File.HISTORY)
"""The files that commits replace."""
