"""The ledger carried along when a person changed a text: what was reworded, moved, deleted or added by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter

from pipimem.notes.echoes import echoes
from pipimem.notes.entry import Entry
from pipimem.notes.kinds import kind_of
from pipimem.notes.ledger import Delta, Record, Tombstone, still
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust
from pipimem.text.similarity import REWORDED, alike, bigrams

# Comparing each lost entry with each new one is quadratic; a file that changed more than this was rewritten.
_MOST_PAIRS = 200_000
# What only moved to other lines of its section did not change.
_PLACE = attrgetter("id", "section", "bullet")


def reconciled(old: Notes, new: Notes) -> Delta:
    """What a person's edit between two readings means for the ledger; `new.ledger` is not looked at.

    A bullet that kept its text keeps its record wherever it stands. A reworded one inherits the record of the
    bullet it most resembles, and is a person's from now on. One that is gone leaves a tombstone.
    """
    before = old.ledger.records
    was, now = _touched(old.memory.entries, new.memory.entries)
    lost = [entries[0] for name, entries in was.items() if name not in now]
    fresh = [entries[0] for name, entries in now.items() if name not in was]
    heirs = _heirs(lost, fresh)
    records: dict[str, Record | None] = {entry.id: None for entry in lost if entry.id in before}
    stone = Tombstone("deleted by hand", upto=_newest(old))
    deleted = [entry for entry in lost if entry.id not in heirs.values()]
    tombstones: dict[str, Tombstone | None] = {
        name: stone for entry in deleted for name in (entry.id, *echoes(old, entry))
    }
    for entry in fresh:
        records[entry.id] = _inherited(before.get(heirs.get(entry.id, "")), entry, heirs.get(entry.id, ""))
        for name in (entry.id, still(entry.id)):
            if name in old.ledger.tombstones:
                tombstones[name] = None
    for name, places in now.items():
        if (
            name in before
            and name not in records
            and (kind := kind_of(places[0].section))
            and kind != before[name].kind
        ):
            records[name] = replace(before[name], kind=kind)
    return Delta(records=records, tombstones=tombstones)


def _newest(notes: Notes) -> int:
    # What was said before the deletion and is not consolidated yet may be learnt: it was said after what the entry rests on.
    return notes.ledger.cursor


def _touched(old: Sequence[Entry], new: Sequence[Entry]) -> tuple[dict[str, list[Entry]], dict[str, list[Entry]]]:
    """The bullets by id before and now: all of those ids that a change between the two readings had to do with."""
    gone, came = Counter(map(_PLACE, old)), Counter(map(_PLACE, new))
    touched = {place[0] for place, _ in gone.items() ^ came.items()}
    was, now = ([entry for entry in entries if entry.id in touched] for entries in (old, new))
    return _by_id(was), _by_id(now)


def _by_id(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.bullet:
            found[entry.id].append(entry)
    return found


def _inherited(record: Record | None, entry: Entry, predecessor: str) -> Record:
    kind = kind_of(entry.section) or ""
    if record is None:
        return Record(trust=Trust.HUMAN, kind=kind)
    return replace(record, trust=Trust.HUMAN, kind=kind or record.kind, predecessor=predecessor, probation_until="")


def _heirs(lost: Sequence[Entry], fresh: Sequence[Entry]) -> dict[str, str]:
    """New id → old id, the most alike first, each used once; one lost and one new in the same place also pair."""
    if len(lost) * len(fresh) > _MOST_PAIRS:
        return {}
    grams = {entry.id: bigrams(entry.text) for entry in (*lost, *fresh)}
    pairs = sorted(
        (
            (
                alike(grams[gone.id], grams[came.id]) + (0.1 if gone.section == came.section else 0.0),
                gone.id,
                came.id,
            )
            for gone in lost
            for came in fresh
        ),
        reverse=True,
    )
    heirs: dict[str, str] = {}
    for score, gone_id, came_id in pairs:
        if score < REWORDED:
            break
        if came_id not in heirs and gone_id not in heirs.values():
            heirs[came_id] = gone_id
    return heirs
