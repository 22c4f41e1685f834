"""The headings of the three files: names that people may give them, and times that are read back."""

from __future__ import annotations

from datetime import datetime

from pipimem.notes.headings import (
    SECTIONS,
    block_heading,
    heading_for,
    month_heading,
    read_heading,
    section_of,
    title_for,
)
from pipimem.notes.kinds import Kind

from tests.cases import each, table


@each(
    ("title", "section"),
    [
        ("Current State", "Current State"),
        (" current state ", "Current State"),
        ("现状", "Current State"),
        ("下一步", "Next Steps"),
        ("errors and corrections", "Errors & Corrections"),
        ("工作日志", "Worklog"),
        ("Shopping", None),
        ("", None),
    ],
)
def test_a_heading_stands_for_a_section_in_either_language(title: str, section: str | None) -> None:
    """Case and blanks around it do not count; a heading of people's own stands for none."""
    assert section_of(title) == section


def test_every_name_is_understood_once() -> None:
    """No two sections share a name, and the name that is written is the section's own."""
    names = [name.casefold() for understood in SECTIONS.values() for name in understood]
    assert len(names) == len(set(names))
    assert [understood[0] for understood in SECTIONS.values()] == list(SECTIONS)


def test_the_heading_that_is_there_is_kept() -> None:
    """A file with Chinese headings goes on in Chinese, also where a section is missing."""
    assert title_for("Next Steps", ["当前状态", "后续步骤"]) == "后续步骤"
    assert title_for("Next Steps", ["当前状态"]) == "下一步"
    assert title_for("Next Steps", ["Current State"], "用户想要什么，还没有人知道") == "Next Steps"


@each(
    ("text", "heading"),
    [
        ("", "Decisions"),
        ("# Memory\n\n- tea at ten\n", "Decisions"),
        ("# 备忘\n\n- 每天十点喝茶\n", "决定"),
    ],
)
def test_a_file_without_standard_headings_goes_on_in_the_language_of_its_text(
    text: str, heading: str
) -> None:
    """An empty one begins in English."""
    assert heading_for(Kind.DECISION, [], text) == heading


@each(
    ("start", "end", "heading"),
    table(__file__, "a_heading_is_read_back"),
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
