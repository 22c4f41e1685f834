"""`pipimem detail`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_details_are_whole_messages_by_their_ids(call: Call, bot: Path, conversation: Path) -> None:
    """In the order asked for, of the transcript and of the archive."""
    call("replay", "room", str(conversation))
    old = "## 2025-11-02 09:00–10:00 +08:00 · Old days\n\n- The brass sextant was sold to Ines\n- And the clock\n"
    (bot / "channels" / "room" / "HISTORY.archive.md").write_text(old)
    (hit, *_) = call("search", "room", "sextant", "--json").object["candidates"]  # type: ignore[misc]
    told = call("detail", "room", hit["id"], "r2", "--json").object
    assert [one["content"] for one in told["messages"]] == [  # type: ignore[attr-defined]
        "The brass sextant was sold to Ines",
        "We decided: the lantern release is on Thursday 2026-03-12.",
    ]
    around = call("timeline", "room", hit["id"], "--json").object["messages"]
    assert [one["content"] for one in around] == [
        "The brass sextant was sold to Ines",
        "And the clock",
    ]  # type: ignore[attr-defined]


def test_what_is_known_is_shown_where_an_id_is_not(call: Call, conversation: Path) -> None:
    """Exit 1 names the unknown ones, each of them; the others are printed all the same."""
    call("replay", "room", str(conversation))
    told = call("detail", "room", "r1", "r98", "r2", "r99")
    assert [line.split()[0] for line in told.out.splitlines()] == ["r1", "r2"]
    assert (told.code, "'r98'" in told.err, "'r99'" in told.err) == (1, True, True)
    told = call("detail", "room", "r98", "r1", "--json")
    assert ([one["id"] for one in told.object["messages"]], told.code) == (["r1"], 1)  # type: ignore[attr-defined]
