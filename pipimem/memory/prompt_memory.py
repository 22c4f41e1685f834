"""What of MEMORY.md a prompt shows: all while it is small, else what is like the window."""

from __future__ import annotations

from datetime import datetime

from pipimem.notes.entry import Entry
from pipimem.notes.kinds import Kind, kind_of
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Target, Trust
from pipimem.sidecar.tasks import KnownEntry
from pipimem.text.dates import mentioned
from pipimem.text.quotes import words_said
from pipimem.text.words.similarity import bigrams, share_in

# About 4,000 tokens: a prompt with a full window stays within 16,000.
_MOST_CHARS = 12_000
# People tell what came of a plan within days, or not at all.
_NO_NEWS_DAYS = 14


def known(
    notes: Notes, now: datetime, about: str = "", chars: int = _MOST_CHARS
) -> tuple[KnownEntry, ...]:
    """The bullets of MEMORY.md in file order; of too many, those that share most with `about`."""
    bullets = [entry for entry in notes.memory.entries if entry.bullet and entry.ordinal == 1]
    if sum(len(entry.text) for entry in bullets) > chars:
        bullets = _nearest(bullets, about, chars)
    return tuple(_seen(notes, entry, now) for entry in bullets)


def targets(notes: Notes) -> dict[str, Target]:
    """The entries that an answer may name, by id."""
    return {entry.id: entry.target for entry in reversed(notes.memory.entries) if entry.bullet}


def _nearest(bullets: list[Entry], about: str, chars: int) -> list[Entry]:
    topic = bigrams(about)
    ranked = sorted(bullets, key=lambda entry: -share_in(bigrams(entry.text), topic))
    chosen, room = set(), chars
    for entry in ranked:
        room -= len(entry.text)
        if room < 0:
            break
        chosen.add(entry.start)
    return [entry for entry in bullets if entry.start in chosen]


def _seen(notes: Notes, entry: Entry, now: datetime) -> KnownEntry:
    record = notes.record(entry.id)
    if record is None:
        return KnownEntry(entry.id, entry.section, entry.text)
    trust = Trust(record.trust)
    if not record.when:
        return KnownEntry(entry.id, entry.section, entry.text, trust)
    said = datetime.fromisoformat(record.when)
    is_quiet = _is_quiet(entry, said, now)
    return KnownEntry(entry.id, entry.section, entry.text, trust, (now - said).days, is_quiet)


def _is_quiet(entry: Entry, said: datetime, now: datetime) -> bool:
    """Whether it is a plan whose last day passed `_NO_NEWS_DAYS` ago; no rule knows its outcome."""
    if kind_of(entry.section) not in (Kind.OPEN_LOOP, Kind.ONGOING):
        return False
    days = [span.end for span in mentioned(words_said(entry.text), said)]
    return bool(days) and (now.date() - max(days)).days > _NO_NEWS_DAYS
