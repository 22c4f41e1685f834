"""A workspace of nanobot."""

from __future__ import annotations

from pipimem.runtime.transfer.formats.nanobot import FORMAT

from tests.runtime.transfer.formats.fixtures import days, entries, fixture, left_out


def test_entries_and_the_summaries_of_a_day_together() -> None:
    """What the template says in the place of something is left out."""
    found = fixture(FORMAT)
    assert entries(found) == [
        ("identity", "Lives in Porto"),
        ("fact", "Project Context: Zephyr uses pnpm"),
        ("identity", "**Name**: Ann"),
        ("preference", "[x] Technical"),
    ]
    lines = ("Decided to use PostgreSQL", "Ann is away on Friday", "The release went out.")
    assert days(found) == [("2026-03-02", lines)]
    assert left_out(found) == [
        ("memory/MEMORY.md:11", "a placeholder of the template"),
        ("USER.md:6", "a placeholder of the template"),
        ("USER.md:12", "a placeholder of the template"),
        ("memory/history.jsonl:3", "a summary without time or content"),
        ("SOUL.md", "no page of the memory"),
    ]
