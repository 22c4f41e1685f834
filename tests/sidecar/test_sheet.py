"""The sheet as a prompt shows it, and as an answer changes it."""

from __future__ import annotations

from pipimem.sidecar.sheet import MOST_LINES, changed_sections, sheet_lines, shown_lines

SESSION = """# Session

## Session Title

Tea

## Current State

* the shop is open
a paragraph

## Plans of mine

- mine

## Next Steps

- ship
- rest
"""


def test_only_bullets_of_our_sections_have_an_id() -> None:
    """A heading of people's own, a paragraph and the title are nobody's to remove."""
    assert list(shown_lines(SESSION)) == [
        "## Session Title",
        "Tea",
        "## Current State",
        "[s1] the shop is open",
        "a paragraph",
        "## Plans of mine",
        "- mine",
        "## Next Steps",
        "[s2] ship",
        "[s3] rest",
    ]


def test_secrets_are_masked_where_they_are_shown_and_stay_where_they_stand() -> None:
    """A line that nobody changes is written back as it was typed."""
    session = "## Next Steps\n\n- the database password is hunter2-Zq81!x\n- rest\n"
    assert "hunter2" not in "".join(shown_lines(session))
    assert changed_sections(session, ["s2"], ()) == {
        "Next Steps": ("the database password is hunter2-Zq81!x",)
    }


def test_what_does_not_change_is_left_out() -> None:
    """Of the sections, and of the texts that stand there already."""
    assert changed_sections(SESSION, (), [("next_steps", "rest")]) == {}
    assert changed_sections(SESSION, ["s1"], [("decisions", "no cash")]) == {
        "Current State": (),
        "Decisions": ("no cash",),
    }


def test_of_too_many_lines_the_newest_stay() -> None:
    """A list that only grew would fill the snapshot."""
    session = "## Worklog\n\n" + "".join(f"- day {n}\n" for n in range(MOST_LINES))
    found = changed_sections(session, (), [("worklog", "today")])
    assert found["Worklog"] == (*(f"day {n}" for n in range(1, MOST_LINES)), "today")


def test_numbers_go_through_all_sections() -> None:
    """So an id names one line."""
    assert [line.text for line in sheet_lines(SESSION) if line.id == "s2"] == ["ship"]
