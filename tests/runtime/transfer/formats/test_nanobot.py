"""A workspace of nanobot."""

from __future__ import annotations

from pathlib import Path

from pipimem.runtime.transfer.formats.nanobot import FORMAT

from tests.runtime.transfer.formats.fixtures import (
    CASES,
    days,
    entries,
    fixture,
    found_in,
    left_out,
)


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
        ("memory/MEMORY.md:3", "a text of the program's template"),
        ("memory/MEMORY.md:11", "a text of the program's template"),
        ("USER.md:6", "a text of the program's template"),
        ("USER.md:12", "a text of the program's template"),
        ("memory/history.jsonl:3", "a summary without time or content"),
        ("SOUL.md", "no page of the memory"),
    ]


def test_the_history_of_older_versions_becomes_days() -> None:
    """Each summary of HISTORY.md belongs to the day of its time."""
    found = found_in(CASES / "nanobot-history", FORMAT)
    assert entries(found) == [("fact", "Important Notes: the shed is green")]
    moved = "Ida and Bram moved the ladder to the cellar. The gate code changes on Monday."
    assert days(found) == [
        ("2026-03-12", ("Ida chose the blue paint for the shed.",)),
        ("2026-03-13", (moved,)),
    ]
    assert left_out(found) == []


def test_a_summary_of_several_paragraphs_stays_with_its_time(tmp_path: Path) -> None:
    """Text in front of the first time, and a time without text, are counted as left out."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "MEMORY.md").write_text("- one\n", encoding="utf-8")
    history = (
        "# History\n\nof the shed\n\n"
        "[2026-03-12 22:16] [RAW] 2 messages\n"
        "[2026-03-11T09:00] USER: see [2026-03-10] in the plan\n\n- and a bullet\n\n"
        "[2026-03-12 23:00]\n\n[2026-02-30 10:00] no day\n\n[2026-03-12 23:30] the last\n"
    )
    (tmp_path / "memory" / "HISTORY.md").write_text(history, encoding="utf-8")
    found = found_in(tmp_path, FORMAT)
    assert days(found) == [
        ("2026-03-12", ("[RAW] 2 messages", "the last")),
        ("2026-03-11", ("USER: see [2026-03-10] in the plan", "and a bullet")),
    ]
    assert left_out(found) == [
        ("memory/HISTORY.md:3", "a summary without time or content"),
        ("memory/HISTORY.md 2026-03-12", "a summary without time or content"),
        ("memory/HISTORY.md 2026-02-30", "a summary without time or content"),
    ]


def test_what_becomes_no_entry_is_named(tmp_path: Path) -> None:
    """Tables, code and HTML, in a page and in a summary."""
    blocks = "\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n\n<div>c</div>\n"
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "MEMORY.md").write_text(f"- the shed is green\n{blocks}")
    history = f"[2026-03-12 22:16] Ida painted the shed.\n{blocks}"
    (tmp_path / "memory" / "HISTORY.md").write_text(history)
    found = found_in(tmp_path, FORMAT)
    assert entries(found) == [("fact", "the shed is green")]
    assert days(found) == [("2026-03-12", ("Ida painted the shed.",))]
    page, summary = "memory/MEMORY.md", "memory/HISTORY.md 2026-03-12"
    assert left_out(found) == [
        (f"{page}:3", "a table"), (f"{page}:7", "code"), (f"{page}:11", "HTML"),
        (f"{summary}:3", "a table"), (f"{summary}:7", "code"), (f"{summary}:11", "HTML"),
    ]  # fmt: skip
