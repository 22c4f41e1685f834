"""Confirm: what was kept on probation and is recalled has earned its place."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pipimem.notes.entry import Entry
from pipimem.notes.ledger import Ledger
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Confirm, Decision


def recalled_entries(notes: Notes, found: Iterable[str]) -> tuple[Entry, ...]:
    """The bullets of MEMORY.md among what was recalled (`memory:<id>`, `history:…`), in the order they were found."""
    entries = {f"memory:{entry.ref}": entry for entry in notes.memory.entries if entry.bullet}
    return tuple(entries[name] for name in found if name in entries)


def confirmed(ledger: Ledger, recalled: Collection[Entry]) -> Decision | None:
    """The decision that ends the probations of what was recalled, `None` where none of it is on probation."""
    ended = [e for e in recalled if (record := ledger.records.get(e.id)) and record.probation_until]
    if not ended:
        return None
    return Decision(
        "recall",
        Author.RULE,
        tuple(Confirm(e.target) for e in ended),
        why="recalled while on probation",
    )
