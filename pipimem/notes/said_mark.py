"""What an emptied message keeps of its words: a keyed mark, by which they are known again."""

from __future__ import annotations

from pipimem.notes.entry import content_id
from pipimem.notes.message import Role


def said_mark(key: bytes, role: Role, content: str) -> str:
    """A hash of 40 bits, under the channel's key, of a role and a text; blanks do not count."""
    return content_id(key, f"{role} {content.strip()}")
