"""A memory folder of Claude Code."""

from __future__ import annotations

from pathlib import Path

from pipimem.runtime.transfer.formats.claude_code import FORMAT

from tests.runtime.transfer.formats.fixtures import entries, fixture, found_in, left_out


def test_a_fact_is_an_entry_and_lines_of_the_index_are_none() -> None:
    """A fact without a body is its description."""
    found = fixture(FORMAT)
    why = "**Why:** mocked tests passed when the migration failed."
    assert entries(found) == [
        ("fact", "The repository moved to GitLab in March"),
        ("preference", f"Integration tests use a real database, never a mock. {why}"),
        ("identity", "Writes Go for ten years, new to React"),
    ]
    assert left_out(found) == [("MEMORY.md:3", "a line of the index")]


def test_what_people_wrote_into_claude_md_is_asked_for(tmp_path: Path) -> None:
    """Behind its heading, where that says no kind."""
    (tmp_path / "CLAUDE.md").write_text("# Project\n\n- use pnpm\n\n## Style\n\n- short names\n")
    found = found_in(tmp_path, FORMAT)
    assert entries(found) == [("preference", "use pnpm"), ("preference", "Style: short names")]
    assert {one.trust for one in found} == {"explicit"}  # type: ignore[union-attr]
