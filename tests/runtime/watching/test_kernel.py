"""The watch on Linux: what it tells, and that it goes on whatever becomes of the folders."""

from __future__ import annotations

import errno
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pipimem.runtime.watching import kernel
from pipimem.runtime.watching.kernel import Kernel
from pipimem.runtime.watching.news import Deaf, Missed, News
from pipimem.store.disk import inotify
from pipimem.store.disk.inotify import Inotify

from tests.runtime.watching.listening import Heard

QUEUED = Path("/proc/sys/fs/inotify/max_queued_events")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture
def channels(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace" / "channels"
    (folder / "room" / ".pipimem").mkdir(parents=True)
    return folder


@pytest.fixture
def heard(channels: Path) -> Iterator[Heard]:
    """Ears that listen, and what they told."""
    found = Heard()
    ears = Kernel(channels, found.tell)
    ears.start()
    yield found
    ears.stop()


def save(channels: Path, folder: str, text: str = "- by hand\n") -> None:
    (channels / folder / "MEMORY.md").write_text(text)


def test_saves_in_place_and_by_rename_are_told_and_our_own_files_are_not(channels: Path, heard: Heard) -> None:
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


def test_what_was_written_into_a_new_folder_before_it_was_watched_is_told(
    channels: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is told once its watch is set, so that whoever compares then misses nothing."""
    follow, told = Kernel._follow, list[bool]()

    def late(ears: Kernel, name: str) -> None:
        save(channels, name)  # nobody hears this
        follow(ears, name)
        told.append("new" in heard.folders)

    monkeypatch.setattr(Kernel, "_follow", late)
    (channels / "new").mkdir()
    assert heard.until(lambda: heard.folders == ["new"])
    assert told == [False]


def test_a_renamed_channel_is_told_by_both_names_and_heard_under_the_new_one(channels: Path, heard: Heard) -> None:
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


def test_a_channel_moved_out_is_told_and_heard_no_more(channels: Path, heard: Heard, tmp_path: Path) -> None:
    """Back again, it is."""
    (channels / "room").rename(tmp_path / "away")
    assert heard.until(lambda: heard.folders == ["room"])
    (tmp_path / "away" / "MEMORY.md").write_text("- elsewhere\n")
    (tmp_path / "away").rename(channels / "room")
    assert heard.until(lambda: heard.folders == ["room"] * 2)
    save(channels, "room")
    assert heard.until(lambda: heard.folders == ["room"] * 3)


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
def test_all_channels_may_go_and_come_back(way: str, channels: Path, heard: Heard, tmp_path: Path) -> None:
    """Then everything is to be compared, and what happens later is heard."""
    if way == "moved":
        channels.rename(tmp_path / "away")
        assert heard.until(lambda: Missed() in heard.news)
        heard.clear()
        (tmp_path / "away").rename(channels)
    else:
        shutil.rmtree(channels)
        assert heard.until(lambda: Missed() in heard.news)
        heard.clear()
        (channels / "room").mkdir(parents=True)
    assert heard.until(lambda: Missed() in heard.news)
    heard.clear()
    save(channels, "room")
    assert heard.until(lambda: "room" in heard.folders)


def test_a_workspace_that_is_moved_away_is_told(channels: Path, heard: Heard, tmp_path: Path) -> None:
    """Nothing can be heard of it from then on."""
    channels.parent.rename(tmp_path / "elsewhere")
    assert heard.until(lambda: bool(heard.news))
    assert heard.news == [Deaf(f"{channels.parent} was moved away")]


def test_a_queue_that_overflowed_has_everything_compared_and_everything_watched(channels: Path) -> None:
    """Also the folders whose making was lost with the rest."""
    found, go = Heard(), threading.Event()

    def busy(news: News) -> None:
        found.tell(news)
        go.wait(60)

    ears = Kernel(channels, busy)
    ears.start()
    try:
        save(channels, "room")
        assert found.until(lambda: bool(found.news))
        for _ in range(int(QUEUED.read_text()) // 2 + 1):
            for name in ("MEMORY.md", "SESSION.md"):  # the same event twice in a row would count once
                (channels / "room" / name).write_text("- more\n")
        (channels / "late").mkdir()
        go.set()
        assert found.until(lambda: Missed() in found.news)
        save(channels, "late")
        assert found.until(lambda: "late" in found.folders)
    finally:
        go.set()
        ears.stop()


def test_a_limit_that_is_too_small_is_told_with_its_remedy(channels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the start, and nothing is held then; later on as news, and what could be watched still is."""
    watch, most = Inotify.watch, 2

    def limited(queue: Inotify, folder: str, what: int) -> int:
        number = watch(queue, folder, what)
        if number > most:
            queue.leave(number)
            raise OSError(errno.ENOSPC, "no space left on device", folder)
        return number

    monkeypatch.setattr(Inotify, "watch", limited)
    found = Heard()
    with pytest.raises(OSError, match=r"no inotify watch is left, fs\.inotify\.max_user_watches is \d+; raise it"):
        Kernel(channels, found.tell).start()
    most = 3
    ears = Kernel(channels, found.tell)
    ears.start()
    try:
        (channels / "one-more").mkdir()
        assert found.until(lambda: bool(found.news))
        assert isinstance(found.news[0], Deaf)
        assert "max_user_watches" in found.news[0].reason
        save(channels, "room")
        assert found.until(lambda: found.folders == ["room"])
    finally:
        ears.stop()


def test_too_many_queues_are_told_with_their_remedy(channels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process that watches needs one."""

    def none(_: object) -> None:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(kernel.Inotify, "__post_init__", none)
    with pytest.raises(OSError, match=r"fs\.inotify\.max_user_instances is \d+; raise it"):
        Kernel(channels, Heard().tell).start()


def test_a_system_without_inotify_is_told(channels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an error like any other."""
    monkeypatch.setattr(inotify, "_library", lambda: None)
    with pytest.raises(OSError, match="no inotify"):
        Kernel(channels, Heard().tell).start()
