"""What it means for the ledger when texts are as they were before: records and tombstones go back with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone, still
from pipimem.notes.notes import Change, Notes

_PREFIXES = {File.MEMORY: "", File.SESSION: "session:", File.HISTORY: "history:"}
# Counted since, whatever is taken back.
_COUNTS = ("recalls", "recalled")


def brought_back(old: Notes, new: Notes, then: Ledger, undone: Delta | None, reason: str) -> Delta:
    """The change of the ledger that goes with the texts of `new`; `old` has today's, `then` the ledger of the day.

    `undone` is the one change that is taken back, `None` where everything goes back to that day.
    """
    ledger = old.ledger
    was, now = _standing(old), _standing(new)
    records: dict[str, Record | None] = {name: None for name in was - now if name in ledger.records}
    records |= {name: then.records[name] for name in now - was if name in then.records}
    if undone is not None:
        records |= dict.fromkeys(_made(ledger, then, undone, now))
        records |= dict(_corrected(ledger, then, undone, was & now))
    else:
        records |= {n: then.records[n] for n in was & now if n in then.records and n not in ledger.records}
    stones = dict(_stones(ledger, then, undone, now))
    left, came = _bullets(old) - _bullets(new), _bullets(new) - _bullets(old)
    stones |= dict.fromkeys(left, Tombstone(reason, ledger.cursor))
    stones |= {stone: None for name in came for stone in (name, still(name)) if stone in ledger.tombstones}
    return Delta(records, stones)


def changes_between(old: Notes, new: Notes) -> Iterator[Change]:
    """What left and what came back, entry by entry, for people."""
    for file in _PREFIXES:
        before, after = _by_place(old, file), _by_place(new, file)
        texts = {entry.id for entry in after.values()}
        yield from (
            Change("taken out", file, entry.section, entry.text, id=entry.id)
            for place, entry in before.items()
            if place not in after and entry.id not in texts
        )
        yield from (
            Change("brought back", file, entry.section, after=entry.text, id=entry.id)
            for place, entry in after.items()
            if place not in before
        )
        if old.note(file).text != new.note(file).text and before.keys() == after.keys():
            yield Change("taken back", file, "", reason="no entry is concerned")


def _by_place(notes: Notes, file: File) -> dict[tuple[str, str, int], Entry]:
    return {(entry.section, entry.id, entry.ordinal): entry for entry in notes.note(file).entries}


def _standing(notes: Notes) -> set[str]:
    return {
        f"{prefix}{entry.id}"
        for file, prefix in _PREFIXES.items()
        for entry in notes.note(file).entries
        if entry.bullet or file is not File.MEMORY
    }


def _bullets(notes: Notes) -> set[str]:
    return {entry.id for entry in notes.memory.entries if entry.bullet}


def _made(ledger: Ledger, then: Ledger, undone: Delta, standing: set[str]) -> Iterator[str]:
    """Records that the change had made: of what does not stand any more, and those that are as it left them."""
    for name, left in undone.records.items():
        current = ledger.records.get(name)
        if left and current and name not in then.records and (current == left or name not in standing):
            yield name


def _corrected(ledger: Ledger, then: Ledger, undone: Delta, stays: set[str]) -> Iterator[tuple[str, Record]]:
    """Entries whose text stays and whose record the change had altered: those of its fields that are as it left them."""
    for name, left in undone.records.items():
        before, current = then.records.get(name), ledger.records.get(name)
        if name in stays and left and before and current and before != left:
            fresh = {
                field.name: getattr(before, field.name)
                for field in fields(Record)
                if field.name not in _COUNTS and getattr(current, field.name) == getattr(left, field.name)
            }
            # A recall that came with the change has ended a probation: that stays so.
            if left.recalls > before.recalls:
                fresh.pop("probation_until", None)
            yield name, replace(current, **fresh)


def _stones(
    ledger: Ledger, then: Ledger, undone: Delta | None, standing: set[str]
) -> Iterator[tuple[str, Tombstone | None]]:
    """Tombstones of the change that nothing has replaced since; or, going back to a day, those of what stands again."""
    if undone is not None:
        for name, stone in undone.tombstones.items():
            if ledger.tombstones.get(name) == stone and then.tombstones.get(name) != stone:
                yield name, then.tombstones.get(name)
        return
    lines = {name.rpartition(":")[2] for name in standing}
    for name in ledger.tombstones.keys() | then.tombstones.keys():
        if name.rpartition(":")[2] in lines and ledger.tombstones.get(name) != then.tombstones.get(name):
            yield name, then.tombstones.get(name)
