"""Remember: what a person asked to keep, word for word, as an entry of its own."""

from __future__ import annotations

from datetime import date, datetime

from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
from pipimem.text.dates.lasting import lasts_until


def remembered(
    text: str, kind: Kind, now: datetime, *, speaker: str = "", until: date | None = None
) -> Decision:
    """The decision to add `text`; without `until` it holds to the last day that it names itself, if it names one."""
    evidence = Evidence(speaker=speaker, when=now)
    add = Add(kind, text, Trust.EXPLICIT, evidence, expires=until or lasts_until(text))
    return Decision("remember", Author.PERSON, (add,), why="asked for")
