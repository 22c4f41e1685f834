"""`pipimem status`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call, snapshot


def test_status_tells_how_each_channel_stands(call: Call, bot: Path, conversation: Path) -> None:
    """Entries, messages, backlog, the last consolidation, and what is due; by their true ids."""
    call("replay", "cid6KeBB/AZ==", str(conversation), "--kind", "group")
    call("replay", "room", str(conversation), model="nosuch/model")
    before = snapshot(bot)
    done, behind = call("status", "--json").object["channels"]  # type: ignore[misc]
    assert (done["channel"], done["kind"], done["messages"], done["backlog"]) == ("cid6KeBB/AZ==", "group", 6, 0)
    assert done["consolidated"].startswith("2026-03-02T09:05")
    assert (behind["backlog"], behind["consolidated"], behind["waiting"]) == (6, "", ["refresh", "consolidate"])
    assert call("status").out.splitlines()[2].split("\t")[5:] == ["never", "refresh, consolidate"]
    assert snapshot(bot) == before


def test_one_broken_channel_does_not_hide_the_others(call: Call, bot: Path) -> None:
    """Its line says what is wrong with it."""
    call("remember", "good", "The port is 8080")
    (bot / "channels" / "bad").mkdir()
    (bot / "channels" / "bad" / "MEMORY.md").write_bytes(b"\x00\x01")
    bad, good = call("status", "--json").object["channels"]  # type: ignore[misc]
    assert ("NUL bytes" in bad["problem"], good["entries"]) == (True, 1)
    assert "NUL bytes" in call("status").out
