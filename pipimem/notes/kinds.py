"""The kinds of durable entries."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The kind of a durable entry: it decides section, retention and the intents that seed it."""

    IDENTITY = "identity"
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
