"""What is going on now, for SESSION.md."""

from __future__ import annotations

import pytest
from pipimem.memory.refresh import refresh, shown_sheet, without_taken_out
from pipimem.memory.window import Window
from pipimem.notes.apply import applied
from pipimem.notes.kinds import File
from pipimem.notes.message import Message
from pipimem.notes.operations import Decision, Progress, SetSection
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Call, Refresh, Refreshed

from tests.notes.building import NOW, notes_of

pytestmark = pytest.mark.anyio
CALL = Call("dev", "c1", 30)
TALK = Window((Message("user", "the release is out", "m4", NOW, "Dana", "", 4),), 4, 5)
SESSION = "# Session\n\n## Current State\n\n- a person's own line\n\n## Next Steps\n\n- call 林晓\n"


async def think(sections: dict[str, tuple[str, ...]]) -> Decision:
    return await refresh(
        Scripted([Refreshed(sections)]), notes_of(session=SESSION), TALK, NOW, CALL
    )


async def test_sections_are_set_in_the_order_of_the_file() -> None:
    """Whatever the order of the answer; a heading that is none of SESSION.md's is passed over."""
    decision = await think(
        {"Next Steps": ("rest",), "Weather": ("sun",), "Current State": ("released",)}
    )
    assert decision.operations == (
        SetSection("Current State", ("released",)),
        SetSection("Next Steps", ("rest",)),
    )
    assert decision.progress == Progress(refreshed=5)


async def test_a_section_left_out_stays_and_so_do_peoples_lines() -> None:
    """Only the named section changes, and what a person put there stays."""
    decision = await think({"Current State": ("released",)})
    text = applied(notes_of(session=SESSION), decision, NOW).texts[File.SESSION]
    assert text == SESSION.replace("own line\n", "own line\n- released\n")


async def test_items_are_few_short_and_without_secrets() -> None:
    """Ten items of 240 characters, one line each; what tells a key is left out."""
    key = "sk-proj-Zk3Jx81mQpLw09TrYvBn47HsDfGaE2c6uKoI5iXN"
    decision = await think({"Worklog": ("a\nb", f"key {key}", "x" * 300, *"cdefghijklmnopqrstu")})
    [op] = decision.operations
    assert isinstance(op, SetSection)
    assert (op.items[0], len(op.items[1]), len(op.items)) == ("a b", 240, 10)
    assert not any(key in item for item in op.items)


async def test_a_window_without_words_moves_on_without_a_thought() -> None:
    """Nobody is asked."""
    assistant = Scripted()
    decision = await refresh(assistant, notes_of(), Window((), 4, 5), NOW, CALL)
    assert (decision.operations, decision.progress, assistant.asked) == (
        (),
        Progress(refreshed=5),
        [],
    )


async def test_the_thought_sees_the_session_as_it_stands() -> None:
    """SESSION.md whole, and the window."""
    assistant = Scripted([Refreshed()])
    await refresh(assistant, notes_of(session=SESSION), TALK, NOW, CALL)
    assert assistant.asked == [Refresh(NOW, SESSION, TALK.messages)]


def test_the_sheet_is_shown_under_the_standard_headings() -> None:
    """Headings of people's own and lines below them stay as they are."""
    session = "# 会话\n\n## 下一步\n\n- 订票\n\n## Wünsche\n\n- Tee\n\n## Worklog\n"
    shown = shown_sheet(notes_of(session=session).session)
    assert shown == session.replace("下一步", "Next Steps")


def test_what_a_full_list_pushed_out_still_stands() -> None:
    """Ten items are all a list has room for; what it lost so is not over."""
    session = notes_of(session="## Current State\n\n- call\n- rest\n\n## Next Steps\n\n- call\n")
    full = {"Next Steps": tuple(map(str, range(10)))}
    assert without_taken_out(full, session.session) == full
    moved = {"Next Steps": (), "Worklog": ("call",)}
    assert without_taken_out(moved, session.session) == moved
    short = {"Next Steps": ("eat",)}
    assert without_taken_out(short, session.session) == {**short, "Current State": ["rest"]}
