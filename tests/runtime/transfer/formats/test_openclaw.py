"""A workspace of OpenClaw."""

from __future__ import annotations

from pipimem.runtime.transfer.formats.openclaw import FORMAT

from tests.runtime.transfer.formats.fixtures import days, entries, fixture, left_out


def test_entries_of_memory_and_a_day_for_each_page() -> None:
    """Pages of no day are entries too; instructions to the agent are left out."""
    found = fixture(FORMAT)
    assert entries(found) == [
        ("preference", "likes short answers"),
        ("fact", "Projects: Zephyr uses pnpm"),
        ("identity", "Name: Ann"),
        ("fact", "call the bank"),
    ]
    assert days(found) == [("2026-03-02", ("fixed the build", "lunch with Bob"))]
    assert left_out(found) == [("AGENTS.md", "instructions to the agent")]
