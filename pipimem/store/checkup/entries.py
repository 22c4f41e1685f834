"""Entries of MEMORY.md that say the same, may contradict each other, will not stay true, or are too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pipimem.notes.entry import Entry
from pipimem.notes.notes import Notes
from pipimem.store.checkup.finding import Finding, worth_knowing, wrong
from pipimem.text.bigrams import alike, bigrams, same_thought
from pipimem.text.dates import dated

# An entry should be one thought; a turn is shown five thousand characters in all.
_LONG = 800
# Above this two entries differ in a word or a number. "Hall 1 is painted" and "Hall 2 is painted" do too: a person
# decides.
_NEARLY_ALIKE = 0.8
# Comparing all pairs is quadratic: 1,500 entries take about a second.
_MOST = 1_500
_TOLD = 60


def entry_findings(path: Path, notes: Notes, now: datetime) -> Iterator[Finding]:
    """All there is to say about the entries of a channel's MEMORY.md."""
    entries = notes.memory.entries
    for entry in entries:
        where = f"{path}, line {entry.start + 1}"
        if len(entry.text) > _LONG:
            yield worth_knowing(where, f"an entry of {len(entry.text)} characters; recall finds shorter ones better")
        said = _said(notes, entry) or now
        if (absolute := dated(entry.text, said)) != entry.text:
            what = f"a relative date, which will not stay true: {_short(entry.text)}; as of {said:%Y-%m-%d} it means: "
            yield wrong(where, what + _short(absolute))
    yield from _pairs(path, [entry for entry in entries if entry.bullet][:_MOST])


def _pairs(path: Path, entries: Sequence[Entry]) -> Iterator[Finding]:
    grams = [bigrams(entry.text) for entry in entries]
    for place, entry in enumerate(entries):
        for other in range(place):
            if not _may_be_alike(len(grams[place]), len(grams[other])):
                continue
            earlier = entries[other]
            if entry.id != earlier.id and alike(grams[place], grams[other]) < _NEARLY_ALIKE:
                continue
            same = entry.id == earlier.id or same_thought(entry.text, earlier.text)
            told = "says the same as" if same else "may contradict"
            what = f"{told} line {earlier.start + 1}: {_short(entry.text)} / {_short(earlier.text)}"
            yield worth_knowing(f"{path}, line {entry.start + 1}", what)


def _may_be_alike(one: int, other: int) -> bool:
    """Dice's coefficient is at most this, whatever the texts: most pairs need no look."""
    return 2 * min(one, other) >= _NEARLY_ALIKE * (one + other)


def _said(notes: Notes, entry: Entry) -> datetime | None:
    known = notes.ledger.records.get(entry.id)
    return datetime.fromisoformat(known.when) if known and known.when else None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line}”" if len(line) <= _TOLD else f"“{line[: _TOLD - 1]}…”"
