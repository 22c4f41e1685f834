"""What of MEMORY.md a prompt shows: all while it is small, else what the window may change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime

from msgspec import Struct

from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Target, Trust
from pipimem.sidecar.tasks import KnownEntry
from pipimem.text.dates import mentioned
from pipimem.text.quotes import words_said
from pipimem.text.words.similarity import shared_words_with_each

PLANS = (Kind.OPEN_LOOP, Kind.ONGOING)
# After so long nobody asks for it: it is recalled where a question is about it, and shown nowhere.
STALE_DAYS = 60


def days_past(kind: str | None, text: str, said: datetime, today: date) -> int:
    """The days since the last day that a plan names; 0 for what is no plan, or names none.

    A day that was past when the plan was `said` is none of the plan's: "works there since May".
    """
    if kind not in PLANS:
        return 0
    last = max((span.end for span in mentioned(words_said(text), said)), default=None)
    if last is None or last < said.date():
        return 0
    return max(0, (today - last).days)


# About 2,000 tokens: a prompt with a full window stays within 13,000.
_MOST_CHARS = 8_000
# What comes first and is never weighed against the talk, in this order. Open loops can only be
# ended where they are shown; together they leave a third of the room to what the talk is about.
_ALWAYS = (Kind.WISH, Kind.HEALTH, Kind.IDENTITY, Kind.OPEN_LOOP)
_SHARE_OF_ALWAYS = 0.67
# Of each message the entries that it may change: most change none, few more than one.
_PER_MESSAGE = 2


class ShownMemory(Struct, frozen=True):
    """The entries that a prompt shows, in the order of the file, and how many it does not show."""

    entries: tuple[KnownEntry, ...]
    hidden: int = 0


def known(
    notes: Notes, now: datetime, talk: Sequence[str] = (), chars: int = _MOST_CHARS
) -> ShownMemory:
    """The bullets of MEMORY.md in file order, those that fit into `chars`.

    Of too many: wishes, health, who is who and open loops, the newest first; then what is nearest
    to each message of the `talk`, the nearest of all first; then the newest.
    """
    bullets = shown_bullets(notes)
    count = len(bullets)
    if sum(len(entry.text) for entry in bullets) > chars:
        newest = sorted(bullets, key=lambda entry: (_when(notes, entry), entry.start), reverse=True)
        chosen: set[int] = set()
        room = _take(_of_kinds(newest, _ALWAYS), int(chars * _SHARE_OF_ALWAYS), chosen)
        room += chars - int(chars * _SHARE_OF_ALWAYS)
        room = _take(_nearest(bullets, talk), room, chosen)
        _take(newest, room, chosen)
        bullets = [entry for entry in bullets if entry.start in chosen]
    shown = tuple(known_entry(notes, entry, now) for entry in bullets)
    return ShownMemory(shown, count - len(shown))


def shown_bullets(notes: Notes) -> list[Entry]:
    """The bullets of MEMORY.md, of equal ones in a section the first."""
    return [entry for entry in notes.memory.entries if entry.bullet and entry.ordinal == 1]


def newest_within(texts: Sequence[str], chars: int) -> tuple[str, ...]:
    """As many of the last texts as have `chars` characters together, in their order."""
    first, room = len(texts), chars
    while first and len(texts[first - 1]) <= room:
        first -= 1
        room -= len(texts[first])
    return tuple(texts[first:])


def stamped(notes: Notes, bullets: Iterable[Entry]) -> list[str]:
    """The texts of bullets of HISTORY.md, each with the minute of what it rests on in front."""
    lines = []
    for bullet in bullets:
        record = notes.record(bullet.record_name)
        lines.append(f"{minute(record.when if record else '')}{bullet.text}")
    return lines


def minute(when: str) -> str:
    """A time (ISO 8601) as `2026-05-04 10:02` with a space behind it; empty where unknown."""
    return f"{datetime.fromisoformat(when):%Y-%m-%d %H:%M} " if when else ""


def targets(notes: Notes) -> dict[str, Target]:
    """The entries that an answer may name, by id."""
    return {entry.id: entry.target for entry in reversed(notes.memory.entries) if entry.bullet}


def _of_kinds(entries: Sequence[Entry], kinds: Sequence[Kind]) -> Iterator[Entry]:
    """The entries of these kinds, in the order of the kinds."""
    for kind in kinds:
        yield from (entry for entry in entries if kind_of(entry.section) is kind)


def _nearest(bullets: Sequence[Entry], talk: Sequence[str]) -> list[Entry]:
    """The entries nearest to each message of a talk, the nearest of all first.

    An entry that a message and many others share words with counts by its best message.
    """
    texts = [entry.text for entry in bullets]
    best: dict[int, float] = {}
    for shared in shared_words_with_each(texts, talk):
        order = sorted(shared, key=lambda index: (-shared[index], -index))
        for index in order[:_PER_MESSAGE]:
            best[index] = max(shared[index], best.get(index, 0.0))
    ranked = sorted(best, key=lambda index: (-best[index], -index))
    return [bullets[index] for index in ranked]


def _take(entries: Iterable[Entry], room: int, chosen: set[int]) -> int:
    """Add where the entries start that fit into `room` characters; return what is left of it."""
    for entry in entries:
        if entry.start not in chosen and len(entry.text) <= room:
            chosen.add(entry.start)
            room -= len(entry.text)
    return room


def _when(notes: Notes, entry: Entry) -> float:
    record = notes.record(entry.id)
    return datetime.fromisoformat(record.when).timestamp() if record and record.when else 0.0


def known_entry(notes: Notes, entry: Entry, now: datetime, group: int = 0) -> KnownEntry:
    """The entry as a task shows it. What a person typed is shown as it stands."""
    record = notes.record(entry.id)
    if record is None:
        return KnownEntry(entry.id, entry.section, entry.text, group=group)
    said = datetime.fromisoformat(record.when) if record.when else None
    return KnownEntry(
        entry.id,
        entry.section,
        entry.text,
        Trust(record.trust),
        age_days=(now - said).days if said else None,
        no_news=is_overdue(record, now.date()),
        awaits_second_voice=record.awaits_second_voice,
        due=record.due,
        said=f"{said:%Y-%m-%d}" if said else "",
        group=group,
    )


def is_overdue(record: Record, today: date) -> bool:
    """Return whether the due day of an open loop has passed."""
    return bool(record.due) and date.fromisoformat(record.due) < today
