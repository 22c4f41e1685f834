"""The headings of MEMORY.md and SESSION.md under the names people may give them."""

from __future__ import annotations

import pytest
from pipimem.notes.kinds import SECTIONS, Kind, heading_for, section_of, title_for


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
