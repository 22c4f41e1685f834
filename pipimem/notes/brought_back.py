"""What it means for the ledger when texts are as they were before: records and tombstones go back with them."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone, still
from pipimem.notes.notes import Change, Notes

_PREFIXES = {File.MEMORY: "", File.SESSION: "session:", File.HISTORY: "history:"}


def brought_back(old: Notes, new: Notes, then: Ledger, undone: Delta | None, reason: str) -> Delta:
    """The change of the ledger that goes with the texts of `new`; `old` has today's, `then` the ledger of the day.

    `undone` is the one change that is taken back, `None` where everything goes back to that day.
    """
    ledger = old.ledger
    was, now = _standing(old), _standing(new)
    records: dict[str, Record | None] = {name: None for name in was - now if name in ledger.records}
    missing = now - (was & ledger.records.keys())
    records |= {name: then.records[name] for name in missing if name in then.records}
    if undone is not None:
        records |= _as_before(ledger, then, undone, now)
    stones = dict(_stones(ledger, then, undone, now))
    left, came = _bullets(old) - _bullets(new), _bullets(new) - _bullets(old)
    stones |= dict.fromkeys(left, Tombstone(reason, ledger.cursor))
    stones |= {
        stone: None for name in came for stone in (name, still(name)) if stone in ledger.tombstones
    }
    return Delta(records, stones)


def _as_before(
    ledger: Ledger, then: Ledger, undone: Delta, standing: Set[str]
) -> dict[str, Record | None]:
    """The records that a change made or altered, as they were before it; those altered again since stay."""
    found: dict[str, Record | None] = {}
    for name, left in undone.records.items():
        current, before = ledger.records.get(name), then.records.get(name)
        if current is None or left is None or _recalled_as(left, current) != left:
            continue
        found[name] = _recalled_as(current, before) if before and name in standing else None
    return found


def _recalled_as(counted: Record, record: Record) -> Record:
    """The record with the recalls that another counted; one more than it had ended its probation."""
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
        if name.rpartition(":")[2] in lines and ledger.tombstones.get(name) != then.tombstones.get(
            name
        ):
            yield name, then.tombstones.get(name)
