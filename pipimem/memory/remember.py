"""Remember: what a person asked to keep, word for word, as an entry of its own."""

from __future__ import annotations

from datetime import date, datetime

from pipimem.errors import PipimemError
from pipimem.memory.promote import named_end
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust


def remembered(
    text: str, kind: Kind, now: datetime, *, speaker: str = "", until: date | None = None
) -> Decision:
    """The decision to add `text`.

    Without `until` it holds to the last day that it names itself, if it names one. Raises
    `PipimemError` where `until` is over on the day of `now`.
    """
    if until and until < now.date():
        raise PipimemError(
            f"{until} is over: today is {now.date()} in this workspace; "
            "give a last day that is to come"
        )
    evidence = Evidence(speaker=speaker, when=now)
    add = Add(kind, text, Trust.EXPLICIT, evidence, expires=until or named_end(text, evidence))
    return Decision("remember", Author.PERSON, (add,), why="asked for")
