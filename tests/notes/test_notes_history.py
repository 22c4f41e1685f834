"""Headings of history blocks, written and read back."""

from __future__ import annotations

from msgspec.structs import replace
from pipimem.notes.entry import Entry
from pipimem.notes.notes import blocks

from tests.notes.building import notes_of


def test_the_blocks_of_a_long_history_are_found_in_one_pass() -> None:
    """Each bullet is looked at once, not once for each heading."""
    looks = 0

    class Counted(Entry):
        def __getattribute__(self, name: str) -> object:
            nonlocal looks
            looks += 1
            return object.__getattribute__(self, name)

    text = "".join(f"## Part {number}\n\n- said {number}\n" for number in range(300))
    note = notes_of(history=text).history
    counted = tuple(
        Counted(**{name: getattr(entry, name) for name in Entry.__struct_fields__})
        for entry in note.entries
    )
    looks = 0
    found = blocks(replace(note, entries=counted))
    assert looks < 10 * len(counted)
    assert [[entry.text for entry in block.bullets] for block in found] == [
        [f"said {n}"] for n in range(300)
    ]
