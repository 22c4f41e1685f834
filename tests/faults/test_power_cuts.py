"""The system stops: what was acknowledged is whole again at the next start, whichever names
reached the disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from pipimem.notes.files import File
from pipimem.notes.operations import Author, Decision, SetSection
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.files import TEMPORARY

Add = Callable[..., Decision]

OLD = "# Memory\n\n## Facts\n\n- alice likes tea\n- 鲍勃喜欢茶\n"
NEW = OLD + "- 卡罗尔喜欢咖啡和茶\n- dave likes cake\n"


def again(channel: ChannelStore) -> ChannelStore:
    """The channel as another process opens it."""
    return ChannelStore.open(channel.workspace, channel.channel_id, create=False)


def interrupted(*_: object) -> None:
    """Where a process ends."""
    raise KeyboardInterrupt


def calls_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """From here on, by name: what is synced, and what is removed."""
    done: list[str] = []
    for name in ("fsync", "fdatasync"):
        real = getattr(os, name)

        def counted(descriptor: int, real: Callable[[int], None] = real) -> None:
            done.append(f"sync {Path(f'/proc/self/fd/{descriptor}').readlink().name}")
            real(descriptor)

        monkeypatch.setattr(os, name, counted)
    unlink = Path.unlink

    def unlinked(path: Path, *, missing_ok: bool = False) -> None:
        if path.exists():
            done.append(f"remove {path.name.split('.')[1]}")
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", unlinked)
    return done


@pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="nobody tells which file a descriptor is of"
)
def test_texts_and_names_are_synced_before_the_record_that_rests_on_them(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the exchange before what it displaced goes: so a text that waits for its file always
    lies beside it.
    """
    channel.commit(add("alice likes tea"), now)
    decision = add("bob likes tea")
    decision = replace(
        decision, operations=(*decision.operations, SetSection("Next Steps", ("one",)))
    )
    done, folder = calls_of(monkeypatch), f"sync {channel.folder.name}"
    channel.commit(decision, now)
    memory, session = (f"sync .{file}.half{TEMPORARY}" for file in (File.MEMORY, File.SESSION))
    assert sorted(done[:2]) == [memory, session]
    assert done[2:] == [folder, "sync journal.jsonl", folder, "remove MEMORY"]


@pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="nobody tells which file a descriptor is of"
)
def test_a_person_s_text_is_synced_before_it_counts_as_known(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their editor need not have: else the older text might be back, and count as what they
    want.
    """
    path = channel.folder / File.MEMORY
    channel.commit(add("alice likes tea"), now)
    channel.checkpoint()
    path.write_text(OLD + "- typed\n")
    done = calls_of(monkeypatch)
    channel.journal_edits(now)
    assert done == ["sync MEMORY.md", f"sync {channel.folder.name}", "sync journal.jsonl"]


@pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="nobody tells which file a descriptor is of"
)
def test_a_text_from_before_the_first_record_is_synced_with_its_name(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record has only what changed of it: without the version a waiting text could not be
    told any more.
    """
    (channel.folder / File.MEMORY).write_text(OLD)
    done = calls_of(monkeypatch)
    channel.commit(add("dave likes cake"), now)
    [version] = (channel.folder / ".pipimem" / "versions").iterdir()
    before = done[: done.index("sync journal.jsonl")]
    assert before.index(f"sync {version.name}") < before.index("sync versions")


@pytest.mark.parametrize("is_read_only", [False, True])
@pytest.mark.parametrize("is_first", [False, True], ids=["older", "absent"])
def test_whatever_the_disk_has_of_a_file_the_newest_text_is_back(
    channel: ChannelStore,
    now: datetime,
    add: Add,
    monkeypatch: pytest.MonkeyPatch,
    is_first: bool,
    is_read_only: bool,
) -> None:
    """The exchange did not reach the disk: the older text, or none, is no person's wish, so
    nothing is deleted.
    """
    if not is_first:
        channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    said = ["卡罗尔喜欢咖啡和茶", "dave likes cake"]
    with monkeypatch.context() as patch:
        patch.setattr("pipimem.store.commit.publish.displace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(
                add(*(["alice likes tea", "鲍勃喜欢茶"] if is_first else []), *said), now
            )
    path = channel.folder / File.MEMORY
    assert path.exists() != is_first
    if is_read_only:
        assert again(channel).notes().memory.text == NEW
    again(channel).commit(add("erin likes milk"), now)
    assert path.read_text() == NEW + "- erin likes milk\n"
    assert Author.EDITOR not in {record.author for record in channel.journal_records()}
    assert not list(channel.folder.glob(f".*{TEMPORARY}"))


@pytest.mark.parametrize("half", ["", OLD[:20], OLD])
def test_a_text_that_was_never_acknowledged_is_swept(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, half: str
) -> None:
    """Under its own name, or still half written."""
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    with monkeypatch.context() as patch:
        patch.setattr("pipimem.store.journal.journal.Journal.append", interrupted)
        patch.setattr("pipimem.store.commit.acknowledge.remove_unused", lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("never heard"), now)
    (channel.folder / f".{File.MEMORY}.half{TEMPORARY}").write_text(half)
    assert len(list(channel.folder.glob(f".*{TEMPORARY}"))) == 2
    again(channel).commit(add("dave likes cake"), now)
    assert (channel.folder / File.MEMORY).read_text() == OLD + "- dave likes cake\n"
    assert not list(channel.folder.glob(f".*{TEMPORARY}"))


def test_an_older_text_that_a_person_put_back_stays(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Nothing lies beside the file: what stands there is what somebody wants, also right after a
    start.
    """
    path = channel.folder / File.MEMORY
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    channel.commit(add("卡罗尔喜欢咖啡和茶"), now)
    path.write_text(OLD)
    again(channel).commit(add("dave likes cake"), now)
    assert path.read_text() == OLD + "- dave likes cake\n"
    path.write_text(OLD)
    again(channel).commit(add("erin likes milk"), now)
    assert path.read_text() == OLD + "- erin likes milk\n"


def test_what_a_person_typed_before_the_power_cut_is_merged(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into the older text, while the newest one waited for its place."""
    path = channel.folder / File.MEMORY
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    with monkeypatch.context() as patch:
        patch.setattr("pipimem.store.commit.publish.displace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("卡罗尔喜欢咖啡和茶"), now)
    path.write_text(OLD.replace("alice", "alina"))
    again(channel).commit(add("dave likes cake"), now)
    assert path.read_text() == NEW.replace("alice", "alina")


def test_a_person_s_text_that_was_journalled_is_not_lost(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit that took it in did not reach its file, and no version reached the disk."""
    path = channel.folder / File.MEMORY
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    channel.checkpoint()
    path.write_text(OLD + "- typed\n")
    with monkeypatch.context() as patch:
        patch.setattr("pipimem.store.commit.publish.displace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("dave likes cake"), now)
    for version in (channel.folder / ".pipimem" / "versions").iterdir():
        version.write_text("")
    assert again(channel).notes().memory.text == OLD + "- typed\n- dave likes cake\n"
    again(channel).commit(add("erin likes milk"), now)
    assert path.read_text() == OLD + "- typed\n- dave likes cake\n- erin likes milk\n"
