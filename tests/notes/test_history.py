"""Headings of history blocks, written and read back."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime

import pytest
from pipimem.notes.entry import Entry
from pipimem.notes.history import block_heading, blocks, month_heading, newest_end, read_heading

from tests.notes.building import notes_of


@pytest.mark.parametrize(
    ("start", "end", "heading"),
    [
        ("2026-03-02T09:10+08:00", "2026-03-02T18:20+08:00", "2026-03-02 09:10–18:20 +08:00 · T"),
        (
            "2026-03-02T09:10+08:00",
            "2026-03-04T18:20+08:00",
            "2026-03-02 09:10 – 2026-03-04 18:20 +08:00 · T",
        ),
        ("2026-03-02T23:10+00:00", "2026-03-03T08:00+08:00", "2026-03-03 07:10–08:00 +08:00 · T"),
    ],
)
def test_a_heading_is_read_back(start: str, end: str, heading: str) -> None:
    """What is written says the same times when it is read, whatever the offset."""
    first, last = datetime.fromisoformat(start), datetime.fromisoformat(end)
    assert block_heading(first, last, "T") == heading
    assert read_heading(heading) == (first, last, "", "T")


def test_a_fold_has_its_month() -> None:
    """A fold's heading names the month it stands for."""
    assert read_heading(month_heading("2026-02", "Releases"))[2:] == ("2026-02", "Releases")


def test_headings_of_older_tools_have_a_time() -> None:
    """An ISO time anywhere in a heading is understood; what is no date at all is a title."""
    assert read_heading("2026-07-01T04:00:00.000Z")[1] == datetime.fromisoformat(
        "2026-07-01T04:00+00:00"
    )
    assert read_heading("2026-99-99 09:00–10:00 +08:00") == (
        None,
        None,
        "",
        "2026-99-99 09:00–10:00 +08:00",
    )
    assert read_heading("notes") == (None, None, "", "notes")


def test_the_newest_end_ignores_folds() -> None:
    """Where consolidation stands is told by the newest block that is no fold."""
    note = notes_of(
        history="## 2026-04 · F\n\n- x\n\n## 2026-03-02 09:10–18:20 +08:00 · T\n\n- y\n"
    ).history
    assert newest_end(note) == datetime.fromisoformat("2026-03-02T18:20+08:00")
    assert [block.heading for block in blocks(note)] == [
        "2026-04 · F",
        "2026-03-02 09:10–18:20 +08:00 · T",
    ]


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
        Counted(**{each.name: getattr(entry, each.name) for each in fields(Entry)})
        for entry in note.entries
    )
    looks = 0
    found = blocks(replace(note, entries=counted))
    assert looks < 10 * len(counted)
    assert [[entry.text for entry in block.bullets] for block in found] == [
        [f"said {n}"] for n in range(300)
    ]
