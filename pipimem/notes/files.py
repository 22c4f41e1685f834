"""The files of a channel that people read: their names, and the mark of an exact text."""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b


class File(StrEnum):
    """A Markdown file of a channel; the value is its name in the channel's folder."""

    SESSION = "SESSION.md"
    MEMORY = "MEMORY.md"
    HISTORY = "HISTORY.md"
    ARCHIVE = "HISTORY.archive.md"


NOTE_FILES = (File.SESSION, File.MEMORY, File.HISTORY)
"""The files that commits replace."""


def etag(text: str) -> str:
    """The mark of one exact text: two texts with the same etag are the same text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
