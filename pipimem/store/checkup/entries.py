"""Entries of MEMORY.md that say the same, may contradict each other, will not stay true, or are too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pipimem.notes import losses
from pipimem.notes.entry import Entry
from pipimem.notes.notes import Notes
from pipimem.store.checkup.finding import Finding, worth_knowing, wrong
from pipimem.store.checkup.near_duplicates import alike_earlier
from pipimem.text.dates import dated
from pipimem.text.quotes import read_quote
from pipimem.text.similarity import Statement

# An entry should be one thought; a turn is shown five thousand characters in all.
_LONG = 800
_TOLD = 60


def entry_findings(path: Path, notes: Notes, now: datetime) -> Iterator[Finding]:
    """All there is to say about the entries of a channel's MEMORY.md."""
    entries = notes.memory.entries
    for entry in entries:
        where = f"{path}, line {entry.start + 1}"
        if len(entry.text) > _LONG:
            yield worth_knowing(
                where, f"an entry of {len(entry.text)} characters; recall finds shorter ones better"
            )
        said = _said(notes, entry) or now
        # A quote has its day in front.
        if not read_quote(entry.text).day and (absolute := dated(entry.text, said)) != entry.text:
            what = f"a relative date, which will not stay true: {_short(entry.text)}; as of {said:%Y-%m-%d} it means: "
            yield wrong(where, what + _short(absolute))
    if losses.is_used_up(notes, now.date()):
        what = f"models have taken out half of what stood within {losses.DAYS} days and may take out no more before "
        undo = "`pipimem undo CHANNEL --author model --since 30d` takes back all that they changed"
        yield worth_knowing(path, f"{what}{losses.reopens(notes, now.date())}; {undo}")
    yield from _pairs(path, [entry for entry in entries if entry.bullet])


def _pairs(path: Path, entries: Sequence[Entry]) -> Iterator[Finding]:
    """One finding an entry, however many are like it: a line that stands there a thousand times has half a million."""
    first: dict[str, Entry] = {}
    for entry in entries:
        if (earlier := first.setdefault(entry.id, entry)) is not entry:
            yield _found(path, entry, earlier, same=True)
    distinct = list(first.values())
    statements = [Statement.of(entry.text) for entry in distinct]
    for place, near in enumerate(alike_earlier(statements)):
        if near:
            same = [other for other in near if statements[place].says_the_same(statements[other])]
            earlier = distinct[same[0] if same else near[0]]
            yield _found(path, distinct[place], earlier, same=bool(same), more=len(near) - 1)


def _found(path: Path, entry: Entry, earlier: Entry, *, same: bool, more: int = 0) -> Finding:
    told = "says the same as" if same else "may contradict"
    others = f"; it is like {more} more" if more else ""
    what = f"{told} line {earlier.start + 1}: {_short(entry.text)} / {_short(earlier.text)}{others}"
    return worth_knowing(f"{path}, line {entry.start + 1}", what)


def _said(notes: Notes, entry: Entry) -> datetime | None:
    known = notes.ledger.records.get(entry.id)
    return datetime.fromisoformat(known.when) if known and known.when else None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line}”" if len(line) <= _TOLD else f"“{line[: _TOLD - 1]}…”"
