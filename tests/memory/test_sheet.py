"""SESSION.md as it is shown, and what an answer takes out of it."""

from __future__ import annotations

from pipimem.memory.sheet import shown_sheet, without_taken_out

from tests.notes.building import notes_of


def test_the_sheet_is_shown_under_the_standard_headings() -> None:
    """Headings of people's own and lines below them stay as they are."""
    session = "# 会话\n\n## 下一步\n\n- 订票\n\n## Wünsche\n\n- Tee\n\n## Worklog\n"
    shown = shown_sheet(notes_of(session=session).session)
    assert shown == session.replace("下一步", "Next Steps")


def test_what_a_full_list_pushed_out_still_stands() -> None:
    """Six items are all a list has room for; what it lost so is not over."""
    session = notes_of(session="## Current State\n\n- call\n- rest\n\n## Next Steps\n\n- call\n")
    full = {"Next Steps": tuple(map(str, range(6)))}
    assert without_taken_out(full, session.session) == full
    moved = {"Next Steps": (), "Worklog": ("call",)}
    assert without_taken_out(moved, session.session) == moved
    short = {"Next Steps": ("eat",)}
    assert without_taken_out(short, session.session) == {**short, "Current State": ["rest"]}
