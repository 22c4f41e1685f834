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


def test_other_pages_of_a_repository_are_no_memory(tmp_path: Path) -> None:
    """A page on a topic is one where it lies beside an index."""
    (tmp_path / "CLAUDE.md").write_text("- use pnpm\n")
    (tmp_path / "README.md").write_text("A program.\n")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "MEMORY.md").write_text("- the port is 8080\n")
    (tmp_path / "memory" / "debugging.md").write_text("# Debugging\n\n- start with the log\n")
    found = found_in(tmp_path, FORMAT)
    said = {text for _, text in entries(found)}
    assert said == {"use pnpm", "start with the log", "the port is 8080"}
    assert left_out(found) == [("README.md", "no page of a memory folder")]


def test_to_dos_italics_and_brackets_of_claude_md_are_taken_in(tmp_path: Path) -> None:
    """An unticked box is an open loop whatever its heading; an empty one says nothing."""
    text = (
        "# Project\n\n- [ ] migrate the queue to Postgres\n- *never edit generated files*\n"
        "- run tests with make t\n- [ ]\n\n(We deploy on Tuesdays.)\n"
    )
    (tmp_path / "CLAUDE.md").write_text(text, encoding="utf-8")
    found = found_in(tmp_path, FORMAT)
    assert entries(found) == [
        ("open_loop", "[ ] migrate the queue to Postgres"),
        ("preference", "*never edit generated files*"),
        ("preference", "run tests with make t"),
        ("preference", "(We deploy on Tuesdays.)"),
    ]
    assert left_out(found) == []
