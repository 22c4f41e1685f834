"""The entries of the notes with all that is known of them: kind, trust, age, recalls, expiry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pipimem.memory.expire import first_end
from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import File, Kind
from pipimem.notes.ledger import Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust
from pipimem.text.dates.bounds import aware, later


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """One entry of MEMORY.md, or a line of SESSION.md or HISTORY.md.

    `since` is when it was said, else when it was learnt; `None` for what a person typed. `recalls`
    counts the turns that showed it, `recalled` is the last of them. It `expires` then, `why` in a
    sentence, unless it is recalled before; `None` where it stays. `sources` are ids of messages.
    `heard_by` are the people who were there when it was learnt: all who had spoken by then.
    """

    id: str
    text: str
    section: str
    kind: Kind | None
    trust: Trust
    speaker: str = ""
    since: datetime | None = None
    recalls: int = 0
    recalled: datetime | None = None
    expires: datetime | None = None
    why: str = ""
    sources: tuple[str, ...] = ()
    heard_by: tuple[str, ...] = ()


def listed_entries(
    notes: Notes,
    now: datetime,
    kind: Kind | None = None,
    trust: Trust | None = None,
    older_than: timedelta | None = None,
) -> list[ListedEntry]:
    """The entries in the order of the file: of a kind, of a trust, known for longer than that."""
    oldest = later(now, -older_than) if older_than is not None else None
    found = all_listed(notes, File.MEMORY, now)
    return [entry for entry in found if _is_meant(entry, kind, trust, oldest)]


def _is_meant(
    entry: ListedEntry, kind: Kind | None, trust: Trust | None, oldest: datetime | None
) -> bool:
    if kind is not None and entry.kind != kind:
        return False
    if trust is not None and entry.trust != trust:
        return False
    return oldest is None or (entry.since is not None and entry.since <= oldest)


def all_listed(notes: Notes, file: File, now: datetime) -> Iterator[ListedEntry]:
    """The entries of a file, as its `Note` has them."""
    listed = listing(notes, file, now)
    return map(listed, notes.note(file).entries)


def listing(notes: Notes, file: File, now: datetime) -> Callable[[Entry], ListedEntry]:
    """A function that tells what is known of an entry of a file."""

    def listed(entry: Entry) -> ListedEntry:
        record = notes.record(entry.record_name) or Record(Trust.HUMAN)
        ends = first_end(notes, entry, now) if file is File.MEMORY else (None, "")
        found = _listed(entry, record, *ends)
        return replace(found, heard_by=notes.ledger.heard_by(record))

    return listed


def _listed(entry: Entry, record: Record, end: datetime | None, why: str) -> ListedEntry:
    return ListedEntry(
        id=entry.ref,
        text=entry.text,
        section=entry.section,
        kind=kind_of(entry.section),
        trust=record.trust,
        speaker=record.speaker,
        since=_time(record.when or record.learnt),
        recalls=record.recalls,
        recalled=_time(record.recalled),
        expires=end,
        why=why,
        sources=record.sources,
    )


def _time(text: str) -> datetime | None:
    return aware(datetime.fromisoformat(text)) if text else None
