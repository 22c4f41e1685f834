"""What a question is after, by its cue phrases, and which sections answer it."""

from __future__ import annotations

from enum import StrEnum

from pipimem.notes.kinds import Kind
from pipimem.recall.items import Item, Source
from pipimem.recall.phrases import phrases, says


class Intent(StrEnum):
    """What a question is after; its cues have its name in `data/recall/phrases.txt`."""

    STATE = "current state"
    NEXT = "next steps"
    CONSTRAINTS = "constraints"
    DECISIONS = "decisions"
    ERRORS = "errors"
    HISTORY = "history"
    PREFERENCES = "preferences"


# What an item of the section that was asked for gains, in hundredths. Session state changes by the
# hour, so asking for it is the surest sign.
BONUS: dict[Intent, float] = {
    Intent.STATE: 10,
    Intent.NEXT: 10,
    Intent.CONSTRAINTS: 9,
    Intent.DECISIONS: 9,
    Intent.ERRORS: 9,
    Intent.HISTORY: 8,
    Intent.PREFERENCES: 8,
}

# Where each is answered: kinds of durable entries, sections of SESSION.md, a whole source.
ANSWERED_BY: dict[Intent, frozenset[str]] = {
    Intent.STATE: frozenset(("Current State", "User Intent", "Session Title", Kind.ONGOING)),
    Intent.NEXT: frozenset(("Next Steps", Kind.OPEN_LOOP)),
    Intent.CONSTRAINTS: frozenset(("Constraints", Kind.CONSTRAINT)),
    Intent.DECISIONS: frozenset(("Decisions", Kind.DECISION)),
    Intent.ERRORS: frozenset(("Errors & Corrections", Kind.LESSON)),
    Intent.HISTORY: frozenset(("Worklog", Source.HISTORY)),
    Intent.PREFERENCES: frozenset((Kind.PREFERENCE,)),
}


def intents_of(text: str) -> tuple[Intent, ...]:
    """Every intent that has a cue in the text."""
    lowered = text.lower()
    return tuple([intent for intent in Intent if says(intent, lowered)])


def without_cues(text: str) -> str:
    """The text, in small letters, with the cues of every intent taken out."""
    text = text.lower()
    for intent in Intent:
        text = phrases(intent).sub(" ", text)
    return text


def answers(item: Item, intent: Intent) -> bool:
    """Whether an item stands where this intent is answered."""
    places = ANSWERED_BY[intent]
    return item.kind in places or item.source in places
