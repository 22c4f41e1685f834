"""The watch of a workspace: one for each system, or the reason why there is none."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import pytest
from pipimem.runtime.watching.elsewhere import Elsewhere
from pipimem.runtime.watching.kernel import Kernel
from pipimem.runtime.watching.news import MakeEars, Tell
from pipimem.runtime.watching.watch import Watch, blind_on

from tests.runtime.watching.listening import Heard

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.mark.parametrize("made", [pytest.param(Kernel, marks=LINUX), Elsewhere])
def test_an_edit_a_message_and_a_new_channel_are_told(made: MakeEars, tmp_path: Path) -> None:
    """By the name of the channel's folder, on every system; other files are not."""
    channels, heard = tmp_path / "channels", Heard()
    (channels / "room" / ".pipimem").mkdir(parents=True)
    watch = Watch(channels, heard.tell, made)
    assert watch.start() == ""
    try:
        (channels / "room" / "notes.txt").write_text("none of ours")
        (channels / "room" / ".pipimem" / "MEMORY.md").write_text("nor is this")
        (channels / "room" / "MEMORY.md").write_text("- by hand")
        assert heard.until(lambda: "room" in heard.folders)
        temporary = channels / "room" / ".HISTORY.md.tmp"
        temporary.write_text("- moved into its place")
        heard.clear()
        temporary.rename(channels / "room" / "HISTORY.md")
        assert heard.until(lambda: "room" in heard.folders)
        (channels / "last").mkdir()
        (channels / "last" / "SESSION.md").write_text("- now")
        assert heard.until(lambda: "last" in heard.folders)
    finally:
        watch.stop()
    assert set(heard.folders) <= {"room", "last"}


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


class Full:
    """Ears of a system that has no watch left."""

    def __init__(self, channels: Path, tell: Tell) -> None: ...

    def start(self) -> None:
        raise OSError(errno.ENOSPC, "no inotify watch is left")

    def stop(self) -> None: ...


def test_what_the_system_refuses_is_told_with_what_is_done_instead(tmp_path: Path) -> None:
    """The sentence names the folder."""
    told = Watch(tmp_path, Heard().tell, Full).start()
    assert told == (
        f"{tmp_path} cannot be watched (no inotify watch is left); its files are compared every minute instead"
    )


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Stopping what never began is fine."""
    watch = Watch(tmp_path / "channels", Heard().tell)
    assert "cannot be watched" in watch.start()
    watch.stop()
