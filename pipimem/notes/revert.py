"""The change of the ledger that goes with texts of the past that are put back."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone, tombstone_names
from pipimem.notes.notes import Change, Notes

_PREFIXES = {File.MEMORY: "", File.SESSION: "session:", File.HISTORY: "history:"}


def reverted_ledger(
    old: Notes, new: Notes, then: Ledger, undone: Delta | None, reason: str
) -> Delta:
    """The change of the ledger that goes with the texts of `new`.

    `old` has today's ledger, `then` is the ledger that goes with the past. `undone` is the one
    change that is taken back, `None` where all goes back to that time. `reason` is that of the
    tombstones of what leaves MEMORY.md.
    """
    ledger = old.ledger
    before, after = _names(old), _names(new)
    gone = before - after
    records: dict[str, Record | None] = dict.fromkeys(gone & ledger.records.keys())
    unknown = after - (before & ledger.records.keys())
    records |= {name: then.records[name] for name in unknown & then.records.keys()}
    if undone is not None:
        records |= _records_before(ledger, then, undone, after)
    tombstones = _tombstones_before(ledger, then, undone, after)
    left, came = _bullets(old) - _bullets(new), _bullets(new) - _bullets(old)
    tombstones |= dict.fromkeys(left, Tombstone(reason, ledger.cursor))
    for name in came:
        tombstones |= dict.fromkeys(ledger.tombstones.keys() & tombstone_names(name))
    return Delta(records, tombstones)


def _records_before(
    ledger: Ledger, then: Ledger, undone: Delta, after: Set[str]
) -> dict[str, Record | None]:
    """The records that a change made, as they were before it; those altered again since stay."""
    found: dict[str, Record | None] = {}
    for name, left in undone.records.items():
        current, before = ledger.records.get(name), then.records.get(name)
        if current is None or left is None or _with_recalls_of(left, current) != left:
            continue
        found[name] = _with_recalls_of(current, before) if before and name in after else None
    return found


def _with_recalls_of(counted: Record, record: Record) -> Record:
    """The record with the recalls of another; a recall that it lacks has ended its probation."""
    is_over = counted.recalls > record.recalls
    probation = counted.probation_until if is_over else record.probation_until
    return replace(
        record, recalls=counted.recalls, recalled=counted.recalled, probation_until=probation
    )


def changes_between(old: Notes, new: Notes) -> Iterator[Change]:
    """What left and what came back, entry by entry, for people."""
    for file in _PREFIXES:
        before, after = _by_place(old, file), _by_place(new, file)
        texts = {entry.id for entry in after.values()}
        for place, entry in before.items():
            if place not in after and entry.id not in texts:
                yield Change("taken out", file, entry.section, entry.text, id=entry.id)
        for place, entry in after.items():
            if place not in before:
                yield Change("brought back", file, entry.section, after=entry.text, id=entry.id)
        if old.note(file).text != new.note(file).text and before.keys() == after.keys():
            yield Change("taken back", file, reason="no entry is concerned")


def _by_place(notes: Notes, file: File) -> dict[tuple[str, str, int], Entry]:
    return {(entry.section, entry.id, entry.ordinal): entry for entry in notes.note(file).entries}


def _names(notes: Notes) -> set[str]:
    """The names of all records that the lines of the notes may have."""
    return {
        f"{prefix}{entry.id}"
        for file, prefix in _PREFIXES.items()
        for entry in notes.note(file).entries
        if entry.bullet or file is not File.MEMORY
    }


def _bullets(notes: Notes) -> set[str]:
    return {entry.id for entry in notes.memory.entries if entry.bullet}


def _tombstones_before(
    ledger: Ledger, then: Ledger, undone: Delta | None, after: Set[str]
) -> dict[str, Tombstone | None]:
    """The tombstones of the past, where they differ from today's.

    Those of the change that is taken back, if nothing has replaced them since; without one, those
    of the texts that stand then.
    """
    current, past = ledger.tombstones, then.tombstones
    if undone is not None:
        names = [name for name, stone in undone.tombstones.items() if current.get(name) == stone]
    else:
        ids = {_id(name) for name in after}
        names = [name for name in (*current, *past) if _id(name) in ids]
    return {name: past.get(name) for name in names if current.get(name) != past.get(name)}


def _id(name: str) -> str:
    return name.rpartition(":")[2]
