"""The watch on the files: what it reports, and where it would hear nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pipimem.runtime import watching
from pipimem.runtime.watching import Watch, blind_on


def test_an_edit_and_a_new_message_are_reported(tmp_path: Path) -> None:
    """By the name of the channel's folder, also of one that is new; our own files are not."""
    channels, heard, there = tmp_path / "channels", list[str](), threading.Event()
    (channels / "room" / ".pipimem").mkdir(parents=True)

    def edited(folder: str) -> None:
        heard.append(folder)
        if folder == "last":
            there.set()

    watch = Watch(channels, edited)
    assert watch.start() == ""
    try:
        (channels / "room" / "MEMORY.md").write_text("- by hand")
        (channels / "room" / "log.jsonl").write_text("{}\n")
        (channels / "room" / "notes.txt").write_text("none of ours")
        (channels / "room" / ".pipimem" / "MEMORY.md").write_text("nor is this")
        temporary = channels / "room" / ".HISTORY.md.tmp"
        temporary.write_text("- moved into its place")
        temporary.rename(channels / "room" / "HISTORY.md")
        for _ in range(100):  # a new folder is watched a moment after it is made
            (channels / "last").mkdir(exist_ok=True)
            (channels / "last" / "SESSION.md").write_text("- now")
            if there.wait(0.1):
                break
    finally:
        watch.stop()
    assert heard[:3] == ["room", "room", "room"]
    assert set(heard) == {"room", "last"}


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("/srv/bot", ""),
        ("/srv/nas/bot/channels", "nfs4 tells nothing of what others write"),
        ("/srv/nas2", ""),
        ("/srv/two words/bot", "fuse.sshfs tells nothing of what others write"),
    ],
)
def test_file_systems_that_others_write_to_are_known(folder: str, reason: str, tmp_path: Path) -> None:
    """The longest mount point that holds the folder decides; blanks in it are written in octal."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
        "35 22 0:31 / /srv/nas rw,relatime shared:18 - nfs4 nas:/export rw\n"
        "36 22 0:32 / /srv/two\\040words rw shared:19 - fuse.sshfs host: rw\n"
        "not a mount\n"
    )
    assert blind_on(Path(folder), mounts) == reason


def test_a_system_without_that_list_has_its_own_way(tmp_path: Path) -> None:
    """Nothing is known against it."""
    assert blind_on(tmp_path, tmp_path / "nothing") == ""


def test_a_limit_that_is_too_small_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past it the watch would begin as usual and report nothing."""
    limit = tmp_path / "limit"
    monkeypatch.setattr(watching, "_LIMIT", limit)
    for name in ("a", "b"):
        (tmp_path / "channels" / name).mkdir(parents=True)
    watch = Watch(tmp_path / "channels", lambda _: None)
    limit.write_text("6\n")
    assert "about 6 folders, while fs.inotify.max_user_watches is 6" in watch.start()
    limit.write_text("7\n")
    assert watch.start() == ""
    watch.stop()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Stopping what never began is fine."""
    watch = Watch(tmp_path / "channels", lambda _: None)
    assert "cannot be watched" in watch.start()
    watch.stop()
