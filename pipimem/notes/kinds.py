"""The three files of a channel, and the kinds of durable entries."""

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


class Kind(StrEnum):
    """The kind of a durable entry: it decides section, retention and the intents that seed it."""

    IDENTITY = "identity"
    WISH = "wish"  # what a person asks of the bot for good
    HEALTH = "health"  # allergies, diets, medication, conditions of a person
    FACT = "fact"
    PREFERENCE = "preference"
    ONGOING = "ongoing"
    CONSTRAINT = "constraint"
    DECISION = "decision"
    OPEN_LOOP = "open_loop"
    LESSON = "lesson"


# What happened once belongs to history; what holds (decisions, constraints, preferences …) stands
# in both on purpose.
EVENTS = (Kind.FACT, Kind.ONGOING)
# What comes with every turn.
STANDING = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.IDENTITY)
