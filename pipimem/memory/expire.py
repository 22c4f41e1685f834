"""Expire: entries leave MEMORY.md for the archive by the calendar, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache

from pipimem import resources
from pipimem.memory.wishes_and_health import kind_in_effect
from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of, personal_kind
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Decision, Invalidate, Trust
from pipimem.text.dates.bounds import aware, end_of, later
from pipimem.text.markdown.lines import cut, split_lines
from pipimem.text.quotes import words_said

# Days after which an inferred entry that nobody asks for is stale. Constraints, decisions, wishes
# and health hold until somebody says otherwise, and what stands under a heading of people's own is
# theirs to judge.
_DAYS: Mapping[Kind | None, int] = {
    Kind.IDENTITY: 365,
    Kind.PREFERENCE: 365,
    Kind.FACT: 180,
    Kind.LESSON: 180,
    Kind.OPEN_LOOP: 90,
    Kind.ONGOING: 30,
}
# Each recall adds half the time, up to twice; at the third an entry has proved itself.
_BOOST, _MOST_BOOST = 0.5, 2.0
_PROVED = 3
_DATED = "it held until"


def expired(notes: Notes, now: datetime) -> Decision:
    """The decision that takes out all whose probation, date or retention is over."""
    operations = tuple(overdue(notes, now))
    reasons = dict.fromkeys(op.reason.partition(":")[0] for op in operations)
    return Decision("expire", Author.RULE, operations, why=", ".join(reasons))


def overdue(notes: Notes, now: datetime) -> Iterator[Invalidate]:
    """The operations of `expired`, in the order of the file; the gate asks for the first."""
    for entry, record in _learnt(notes):
        reason = next((why for end, why in _ends(entry, record, now) if end <= now), "")
        if reason and entry.ordinal == 1:
            yield Invalidate(entry.target, reason, still_so=True, archived=True)


def next_end(notes: Notes, now: datetime) -> datetime | None:
    """When the next entry expires after `now`, `None` where none will by the calendar."""
    ends = (end for entry, record in _learnt(notes) for end, _ in _ends(entry, record, now))
    return min((end for end in ends if end > now), default=None)


def first_end(notes: Notes, entry: Entry, now: datetime) -> tuple[datetime, str] | tuple[None, str]:
    """When an entry of MEMORY.md expires by the calendar, and why; `None` for one that stays."""
    record = _learnt_as(notes, entry)
    if record is None:
        return None, ""
    return min(_ends(entry, record, now), default=(None, ""))


def is_dated(op: Invalidate) -> bool:
    """Whether an entry goes because its own date is past: then it is over, whoever asks for it."""
    return op.reason.startswith(_DATED)


def _learnt(notes: Notes) -> Iterator[tuple[Entry, Record]]:
    """The bullets that no person typed, with what is known of them."""
    for entry in notes.memory.entries:
        record = _learnt_as(notes, entry)
        if record is not None:
            yield entry, record


def _learnt_as(notes: Notes, entry: Entry) -> Record | None:
    """What is known of a bullet that no person typed."""
    record = notes.record(entry.id)
    is_learnt = entry.bullet and record is not None and record.trust is not Trust.HUMAN
    return record if is_learnt else None


def _ends(entry: Entry, record: Record, now: datetime) -> Iterator[tuple[datetime, str]]:
    """When an entry expires, and why: by its own date, its probation, or its retention."""
    if record.expires:
        # The end of the last day it holds, where people read the clock now.
        end = end_of(date.fromisoformat(record.expires), now.tzinfo)
        yield end, f"{_DATED} {record.expires}"
    # Wishes and health hold until somebody says otherwise, under whatever heading they stand, and
    # a mark of a person's keeps any entry.
    if _is_personal(entry, record) or is_pinned(entry.text):
        return
    due = _due_ends(record, now)
    if not record.probation_until:
        yield from _stale(entry, record, due)
    elif not record.recalls and record.trust is not Trust.EXPLICIT:
        end = max([aware(datetime.fromisoformat(record.probation_until)), *due])
        yield end, "its probation ended without a recall"


def _due_ends(record: Record, now: datetime) -> list[datetime]:
    """Return the end of the due day, if there is one: an open loop is not over before."""
    return [end_of(date.fromisoformat(record.due), now.tzinfo)] if record.due else []


def _is_personal(entry: Entry, record: Record) -> bool:
    """Return whether an entry is a wish or health by its words, also under Constraints."""
    kind = kind_in_effect(entry.text, kind_of(entry.section), record.trust)
    if kind == Kind.CONSTRAINT and record.trust is not Trust.QUOTED:
        kind = personal_kind(words_said(entry.text)) or kind
    return kind in (Kind.WISH, Kind.HEALTH)


def _stale(entry: Entry, record: Record, due: Sequence[datetime]) -> Iterator[tuple[datetime, str]]:
    """When an inferred entry is stale, never before it is due; nothing for one that stays."""
    kind = kind_of(entry.section)
    times = [when for when in (record.when, record.learnt, record.recalled) if when]
    if record.trust is not Trust.INFERRED or kind not in _DAYS or not times:
        return
    if record.recalls < _PROVED:
        days = _DAYS[kind] * min(_MOST_BOOST, 1 + _BOOST * record.recalls)
        seen = max([*due, *(aware(datetime.fromisoformat(when)) for when in times)])
        yield (
            later(seen, timedelta(days=days)),
            f"stale: nobody came back to it for {days:.0f} days",
        )


def is_pinned(text: str) -> bool:
    """Whether a person marked the entry to stay whatever the calendar says."""
    return _pin().search(text) is not None


def with_pin(text: str) -> str:
    """Return the lines of an entry with a mark that pins it, behind the words of the first line.

    What ends that line stays behind the mark: its line end, and a comment that goes on below.
    """
    first, *rest = split_lines(text)
    words = first.rstrip()
    if cut([first], 0, first, inside=False, markup=True).ends_hidden:
        words = words[: words.rfind("<!--")].rstrip()
    (mark, *_) = resources.sections("pins")[""]
    return "".join((f"{words} {mark}{first[len(words) :]}", *rest))


def without_pins(text: str) -> str:
    """The text of an entry without any mark that pins it."""
    return re.sub(rf" ?(?:{_pin().pattern})", "", text, flags=re.IGNORECASE)


@cache  # the file travels with the package and does not change while it runs
def _pin() -> re.Pattern[str]:
    """Any mark of `data/pins.txt`; one with # is a word of its own."""
    marks = resources.sections("pins")[""]
    words = (rf"(?<!\w){re.escape(mark)}(?![\w-])" for mark in marks if mark.startswith("#"))
    signs = (re.escape(mark) for mark in marks if not mark.startswith("#"))
    return re.compile("|".join((*words, *signs)), re.IGNORECASE)
