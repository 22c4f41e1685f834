"""`pipimem remove`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_a_removed_channel_is_gone_for_good(call: Call, bot: Path) -> None:
    """Asked first; its folder goes, and nothing of it stays in the workspace."""
    call("remember", "room", "the zephyr door is green")
    told = call("remove", "room", typed="n\n")
    assert (told.code, "1 entry in MEMORY.md" in told.err) == (1, True)
    assert (bot / "channels/room").is_dir()
    assert call("remove", "room", typed="y\n").code == 0
    assert not (bot / "channels/room").exists()
    assert not [
        path for path in bot.rglob("*") if path.is_file() and b"zephyr" in path.read_bytes()
    ]
    assert (call("remove", "room", "--yes").code, call("channels", "--json").out) == (1, "")


def test_a_link_is_not_followed(call: Call, bot: Path, tmp_path: Path) -> None:
    """What lies behind it is somebody else's."""
    call("remember", "room", "the door is green")
    (bot / "channels/room").rename(tmp_path / "elsewhere")
    (bot / "channels/room").symlink_to(tmp_path / "elsewhere")
    assert call("remove", "room", "--yes").code == 1
    assert (tmp_path / "elsewhere/MEMORY.md").is_file()
