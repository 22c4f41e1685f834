"""The watch on the files: what it tells, whatever becomes of the folders, and where it would
hear nothing.
"""

from __future__ import annotations

import ctypes
import errno
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pipimem.runtime.maintenance.watch import Watch, lacks_change_events

QUEUED = Path("/proc/sys/fs/inotify/max_queued_events")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@dataclass
class Heard:
    """The folders a watch told of so far."""

    folders: list[str | None] = field(default_factory=list)
    _more: threading.Condition = field(default_factory=threading.Condition)

    def tell(self, folder: str | None) -> None:
        with self._more:
            self.folders.append(folder)
            self._more.notify_all()

    def until(self, condition: Callable[[], bool]) -> bool:
        with self._more:
            return self._more.wait_for(condition, timeout=60)

    def clear(self) -> None:
        with self._more:
            self.folders.clear()


@pytest.fixture
def channels(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace" / "channels"
    (folder / "room" / ".pipimem").mkdir(parents=True)
    return folder


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def watch(channels: Path, heard: Heard) -> Iterator[Watch]:
    """A watch that has begun."""
    made = Watch(channels, heard.tell)
    assert made.start() == ""
    yield made
    made.stop()


def save(channels: Path, folder: str, text: str = "- by hand\n") -> None:
    (channels / folder / "MEMORY.md").write_text(text)


@pytest.mark.usefixtures("watch")
def test_saves_in_place_and_by_rename_are_told_and_our_own_files_are_not(
    channels: Path, heard: Heard
) -> None:
    """By the name of the channel's folder."""
    room = channels / "room"
    (room / "notes.txt").write_text("none of ours")
    (room / ".pipimem" / "MEMORY.md").write_text("nor is this")
    (room / ".HISTORY.md.tmp").write_text("not yet")
    save(channels, "room")
    assert heard.until(lambda: heard.folders == ["room"])
    (room / ".HISTORY.md.tmp").rename(room / "HISTORY.md")
    assert heard.until(lambda: heard.folders == ["room"] * 2)
    (room / "log.jsonl").write_text("{}\n")
    assert heard.until(lambda: heard.folders == ["room"] * 3)


def test_other_files_are_told_where_a_watch_is_asked_for_them(channels: Path, heard: Heard) -> None:
    """Those beside `channels/` by an empty name."""
    watch = Watch(channels, heard.tell, files=("SESSION.md",), workspace_files=("MEMORY.md",))
    assert watch.start() == ""
    try:
        save(channels, "room")
        (channels.parent / "SOUL.md").write_text("you are kind")
        (channels / "room" / "SESSION.md").write_text("- now")
        assert heard.until(lambda: heard.folders == ["room"])
        (channels.parent / "MEMORY.md").write_text("- for all")
        assert heard.until(lambda: heard.folders == ["room", ""])
    finally:
        watch.stop()


@pytest.mark.usefixtures("watch")
def test_a_new_channel_with_its_files_is_told_and_heard_from_then_on(
    channels: Path, heard: Heard
) -> None:
    """Folder, files and our own folder in it, all within a moment."""
    for name in ("one", "two", "three"):
        (channels / name / ".pipimem" / "versions").mkdir(parents=True)
        (channels / name / "SESSION.md").write_text("- now")
        assert heard.until(lambda name=name: name in heard.folders)
        heard.clear()
        save(channels, name)
        assert heard.until(lambda name=name: name in heard.folders)
    assert set(heard.folders) <= {"one", "two", "three"}


@pytest.mark.usefixtures("watch")
def test_what_was_written_into_a_new_folder_before_it_was_watched_is_told(
    channels: Path, heard: Heard, tmp_path: Path
) -> None:
    """The folder is told once its watch is set, so that whoever compares then misses nothing."""
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "MEMORY.md").write_text("- nobody hears this\n")
    (tmp_path / "away").rename(channels / "new")
    assert heard.until(lambda: heard.folders == ["new"])
    save(channels, "new", "- and more\n")
    assert heard.until(lambda: heard.folders == ["new"] * 2)


@pytest.mark.usefixtures("watch")
def test_a_renamed_channel_is_told_by_both_names_and_heard_under_the_new_one(
    channels: Path, heard: Heard
) -> None:
    """The old name is heard no more, also when a new folder takes it."""
    (channels / "room").rename(channels / "hall")
    assert heard.until(lambda: {"room", "hall"} <= set(heard.folders))
    heard.clear()
    save(channels, "hall")
    assert heard.until(lambda: heard.folders == ["hall"])
    (channels / "room").mkdir()
    heard.until(lambda: heard.folders == ["hall", "room"])
    save(channels, "room")
    assert heard.until(lambda: heard.folders == ["hall", "room", "room"])


@pytest.mark.usefixtures("watch")
def test_a_channel_moved_out_is_told_and_heard_no_more(
    channels: Path, heard: Heard, tmp_path: Path
) -> None:
    """Back again, it is."""
    (channels / "room").rename(tmp_path / "away")
    assert heard.until(lambda: heard.folders == ["room"])
    (tmp_path / "away").rename(channels / "room")
    assert heard.until(lambda: heard.folders == ["room"] * 2)
    save(channels, "room")
    assert heard.until(lambda: heard.folders == ["room"] * 3)


@pytest.mark.usefixtures("watch")
def test_a_channel_that_is_deleted_and_made_again_is_heard(channels: Path, heard: Heard) -> None:
    """As often as one likes."""
    for _ in range(3):
        shutil.rmtree(channels / "room")
        (channels / "room").mkdir()
        heard.until(lambda: bool(heard.folders))
    heard.clear()
    save(channels, "room")
    assert heard.until(lambda: "room" in heard.folders)


@pytest.mark.parametrize("way", ["moved", "deleted"])
def test_all_channels_may_go_and_come_back(
    way: str, watch: Watch, channels: Path, heard: Heard, tmp_path: Path
) -> None:
    """Then everything is to be compared, and what happens is heard once the watch has begun
    anew.
    """
    if way == "moved":
        channels.rename(tmp_path / "away")
        assert heard.until(lambda: None in heard.folders)
        heard.clear()
        (tmp_path / "away").rename(channels)
    else:
        shutil.rmtree(channels)
        assert heard.until(lambda: None in heard.folders)
        heard.clear()
        (channels / "room").mkdir(parents=True)
    assert heard.until(lambda: None in heard.folders)
    assert watch.start() == ""
    heard.clear()
    save(channels, "room")
    assert heard.until(lambda: "room" in heard.folders)


LISTENER = """
import os, sys
from pathlib import Path
from pipimem.runtime.maintenance.watch import Watch
watch = Watch(Path(sys.argv[1]), lambda folder: os.write(1, f"{folder}\\n".encode()))
assert watch.start() == ""
print("ready", flush=True)
sys.stdin.read()
watch.stop()
"""


@pytest.mark.slow
@LINUX
def test_a_queue_that_overflowed_has_everything_compared(channels: Path) -> None:
    """The process stood still while more happened than the queue holds; afterwards it hears as
    before.
    """
    command = [sys.executable, "-c", LISTENER, str(channels)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as listener:
        assert listener.stdout is not None
        assert listener.stdin is not None
        guard = threading.Timer(120, listener.kill)
        guard.start()
        assert listener.stdout.readline() == "ready\n"
        listener.send_signal(signal.SIGSTOP)
        for _ in range(int(QUEUED.read_text()) // 2 + 1_000):
            for name in (
                "MEMORY.md",
                "HISTORY.md",
            ):  # the same event twice in a row would count once
                (channels / "room" / name).open("a").close()
        listener.send_signal(signal.SIGCONT)
        assert "None\n" in listener.stdout
        (channels / "late").mkdir()
        assert "late\n" in listener.stdout
        listener.stdin.close()
        guard.cancel()


@LINUX
def test_a_limit_that_is_too_small_is_told_with_its_remedy(
    channels: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start, also where watchdog passes over it, and nothing is held then."""
    from watchdog.observers import inotify_c

    for name in ("hall", "attic"):
        (channels / name).mkdir()
    add, most = inotify_c.inotify_add_watch, 3

    def limited(queue: int, path: bytes, mask: int) -> int:
        if (number := add(queue, path, mask)) <= most:
            return number
        inotify_c.inotify_rm_watch(queue, number)
        ctypes.set_errno(errno.ENOSPC)
        return -1

    monkeypatch.setattr(inotify_c, "inotify_add_watch", limited)
    told = Watch(channels, heard.tell).start()
    assert re.search(
        r"no inotify watch is left, fs\.inotify\.max_user_watches is \d+; raise it", told
    )
    most = 0
    told = Watch(channels, heard.tell).start()
    assert "max_user_watches" in told
    assert not any(
        thread.name.startswith("Thread") and "Inotify" in repr(thread)
        for thread in threading.enumerate()
    )


@LINUX
def test_a_single_watch_that_is_refused_is_told(
    channels: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder inside a channel has one of its own, and the state lies there."""
    from watchdog.observers import inotify_c

    add = inotify_c.inotify_add_watch

    def limited(queue: int, path: bytes, mask: int) -> int:
        if not path.endswith(b".pipimem"):
            return add(queue, path, mask)
        ctypes.set_errno(errno.ENOSPC)
        return -1

    monkeypatch.setattr(inotify_c, "inotify_add_watch", limited)
    assert "no inotify watch is left" in Watch(channels, heard.tell).start()


@LINUX
def test_too_many_queues_are_told_with_their_remedy(
    channels: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process that watches needs one."""

    def none(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "inotify instance limit reached")

    monkeypatch.setattr("watchdog.observers.inotify.InotifyObserver.__init__", none)
    told = Watch(channels, heard.tell).start()
    assert re.search(r"fs\.inotify\.max_user_instances is \d+; raise it", told)


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("/srv/bot", ""),
        ("/srv/nas/bot/channels", "nfs4 tells nothing of what others write"),
        ("/srv/nas2", ""),
        ("/srv/two words/bot", "fuse.sshfs tells nothing of what others write"),
    ],
)
def test_file_systems_that_others_write_to_are_known(
    folder: str, reason: str, tmp_path: Path
) -> None:
    """The longest mount point that holds the folder decides; blanks in it are written in octal."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
        "35 22 0:31 / /srv/nas rw,relatime shared:18 - nfs4 nas:/export rw\n"
        "36 22 0:32 / /srv/two\\040words rw shared:19 - fuse.sshfs host: rw\n"
        "not a mount\n"
    )
    assert lacks_change_events(Path(folder), mounts) == reason


def test_a_system_without_that_list_has_its_own_way(tmp_path: Path) -> None:
    """Nothing is known against it."""
    assert lacks_change_events(tmp_path, tmp_path / "nothing") == ""


def test_what_the_system_refuses_is_told_with_what_is_done_instead(
    channels: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence names the folder."""

    def full(_: Watch) -> None:
        raise OSError("the system is full")

    monkeypatch.setattr(Watch, "_begin", full)
    assert Watch(channels, heard.tell).start() == (
        f"{channels} cannot be watched (the system is full); its files are compared every minute instead"
    )


def test_a_folder_that_is_not_there_is_told(tmp_path: Path, heard: Heard) -> None:
    """Stopping what never began is fine."""
    watch = Watch(tmp_path / "channels", heard.tell)
    assert "cannot be watched" in watch.start()
    watch.stop()
