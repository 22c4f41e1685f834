"""`pipimem remove`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("words", [("remove", "room"), ("doctor", "--fix")])
def test_what_a_crash_left_of_a_removal_is_deleted(
    call: Call, bot: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """The channel is gone from the list already; whoever removes it again means the rest of it."""
    call("remember", "room", "the zephyr door is green")
    call("remember", "room-1", "the window is blue")

    def killed(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as crash:
        crash.setattr(shutil, "rmtree", killed)
        assert call("remove", "room", "--yes").code == 1
    left = bot / ".pipimem" / "removed"
    assert (len(list(left.iterdir())), (bot / "channels/room").exists()) == (1, False)
    assert f"wrong\t{left}\tholds what is left of removed channels" in call("doctor").out
    assert call("remove", "roo", "--yes").code == 1
    assert call(*words).code == 0
    assert not left.exists()
    assert "blue" in call("list", "room-1").out
