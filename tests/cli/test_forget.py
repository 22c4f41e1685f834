"""`pipimem forget`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def everything(bot: Path) -> str:
    """All bytes below the channels, as text."""
    return "".join(p.read_bytes().decode("utf-8", "replace") for p in (bot / "channels").rglob("*") if p.is_file())


def test_forget_removes_a_text_from_every_place(call: Call, bot: Path, conversation: Path) -> None:
    """Files, versions, journal and transcript; the counts say from where."""
    call("replay", "room", str(conversation))
    call("remember", "room", "林晓说上线窗口定在周四晚上九点")
    told = call("forget", "room", "上线窗口定在周四晚上九点", "--yes", "--json")
    assert told.code == 0
    assert (told.object["messages"], told.object["entries"] >= 1) == (1, True)  # type: ignore[operator]
    assert "This would go:" in told.err
    assert "上线窗口定在周四晚上九点" not in everything(bot)


def test_forget_asks_and_takes_no_for_an_answer(call: Call, bot: Path) -> None:
    """It shows what would go; without a yes nothing goes, and silence is no yes."""
    call("remember", "room", "The port is 8080")
    before = everything(bot)
    for answer in ("n\n", ""):
        told = call("forget", "room", "8080", typed=answer)
        assert (told.code, "- MEMORY.md · Facts: The port is 8080" in told.err) == (1, True)
        assert "nothing was forgotten" in told.err
    assert everything(bot) == before
    assert call("forget", "room", "8080", typed="y\n").code == 0
    assert "8080" not in (bot / "channels/room/MEMORY.md").read_text()


def test_forget_can_spare_the_transcript(call: Call, bot: Path, conversation: Path) -> None:
    """`--keep-transcript` leaves log.jsonl as it was."""
    call("replay", "room", str(conversation))
    log = bot / "channels/room/log.jsonl"
    before = log.read_bytes()
    call("remember", "room", "the release of the lantern service")
    assert call("forget", "room", "the release of the lantern service", "--yes", "--keep-transcript").code == 0
    assert log.read_bytes() == before


def test_an_entry_goes_by_its_id_as_recall_tells_it(call: Call, bot: Path) -> None:
    """`memory:abcd2345` and `abcd2345` both name it."""
    call("remember", "room", "The lantern port is 8080")
    (found,) = call("recall", "room", "lantern port", "--json").object["candidates"]  # type: ignore[misc]
    told = call("forget", "room", found["id"], "--yes")
    assert (told.code, "8080" in (bot / "channels/room/MEMORY.md").read_text()) == (0, False)


def test_what_nothing_holds_is_told(call: Call) -> None:
    """Exit 1, so that a script sees it."""
    call("remember", "room", "The port is 8080")
    told = call("forget", "room", "9090", "--yes")
    assert (told.code, "nothing in room holds '9090'" in told.err) == (1, True)
    assert call("forget", "room", " ", "--yes").code == 1
