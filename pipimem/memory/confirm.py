"""Ends the probation of entries that were recalled."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pipimem.notes.entry import Entry
from pipimem.notes.ledger import Ledger
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Confirm, Decision


def recalled_entries(notes: Notes, found: Iterable[str]) -> tuple[Entry, ...]:
    """The bullets of MEMORY.md among recalled ids (`memory:<id>`, `history:…`), in their order."""
    entries = {f"memory:{entry.ref}": entry for entry in notes.memory.entries if entry.bullet}
    return tuple(entries[name] for name in found if name in entries)


def confirmed(ledger: Ledger, recalled: Collection[Entry]) -> Decision | None:
    """The decision that ends the probations of recalled entries, `None` if there is none."""
    ended: list[Entry] = []
    for entry in recalled:
        record = ledger.records.get(entry.id)
        if record is not None and record.probation_until:
            ended.append(entry)
    if not ended:
        return None
    return Decision(
        "recall",
        Author.RULE,
        tuple(Confirm(e.target) for e in ended),
        why="recalled while on probation",
    )
