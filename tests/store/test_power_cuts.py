"""The system stops: what was acknowledged is whole again at the next start, whatever the disk has of its files."""

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
from pipimem.store.commits import desk
from pipimem.store.disk import booting
from pipimem.store.disk.files import TEMPORARY

Add = Callable[..., Decision]

pytestmark = pytest.mark.skipif(not booting.boot_id(), reason="no boot id: texts are synced with each commit")


def again(channel: ChannelStore) -> ChannelStore:
    """The channel as another process opens it."""
    return ChannelStore.open(channel.workspace, channel.channel_id, create=False)


def cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, touched: bool = False) -> None:
    """Another start of the system; with `touched`, somebody has changed the files since."""
    (tmp_path / "boot").write_text("0000aaaa-another-start\n")
    monkeypatch.setattr(booting, "_BOOT_ID", tmp_path / "boot")
    monkeypatch.setattr(desk, "is_from_before", lambda path: path.exists() and not touched)


def test_a_commit_is_acknowledged_after_one_sync(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the journal; three texts follow without one, and a checkpoint syncs each of them once."""
    channel.commit(add("alice likes tea"), now)
    channel.checkpoint()
    synced: list[str] = []
    for name in ("fsync", "fdatasync"):
        real = getattr(os, name)

        def counted(descriptor: int, real: Callable[[int], None] = real) -> None:
            synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
            real(descriptor)

        monkeypatch.setattr(os, name, counted)
    decision = add("bob likes tea")
    channel.commit(replace(decision, operations=(*decision.operations, SetSection("Next Steps", ("one",)))), now)
    assert synced == ["journal.jsonl"]
    channel.checkpoint()
    ledger = f".ledger.json.half{TEMPORARY}"
    assert sorted(synced[1:]) == sorted(["MEMORY.md", "SESSION.md", channel.folder.name, ledger])


OLD = "# Memory\n\n## Facts\n\n- alice likes tea\n- 鲍勃喜欢茶\n"
NEW = OLD + "- 卡罗尔喜欢咖啡和茶\n- dave likes cake\n"


@pytest.mark.parametrize("is_read_only", [False, True])
@pytest.mark.parametrize(
    "left",
    [OLD.encode(), NEW.encode()[:-1], NEW.encode()[:71], b"", b"\0" * 40, None, OLD.encode()[:20] + b"\0" * 9],
    ids=["older", "cut", "cut in a character", "empty", "blanks", "absent", "half and blanks"],
)
def test_whatever_the_disk_has_of_a_file_the_newest_text_is_back(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    left: bytes | None, is_read_only: bool,
) -> None:  # fmt: skip
    """What stood before, the beginning of a text, nothing, or no name: no hand did that, so nothing is deleted."""
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    channel.checkpoint()
    channel.commit(add("卡罗尔喜欢咖啡和茶"), now)
    channel.commit(add("dave likes cake"), now)
    path = channel.folder / File.MEMORY
    assert path.read_text() == NEW
    path.unlink() if left is None else path.write_bytes(left)
    cut(monkeypatch, tmp_path)
    if is_read_only:
        assert again(channel).notes().memory.text == NEW
    again(channel).commit(add("erin likes milk"), now)
    assert path.read_text() == NEW + "- erin likes milk\n"
    assert Author.EDITOR not in {record.author for record in channel.journal_records()}


@pytest.mark.parametrize("length", [0, 40, 75, 10**6])
def test_a_text_that_lay_prepared_is_torn(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, length: int,
) -> None:  # fmt: skip
    """Journalled but not in its place: torn or whole, it is no person's words, and the newest text stands."""
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    channel.checkpoint()
    with monkeypatch.context() as patch:
        patch.setattr("pipimem.store.commits.placing.displace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("卡罗尔喜欢咖啡和茶"), now)
    [prepared] = channel.folder.glob(f".*{TEMPORARY}")
    prepared.write_bytes(prepared.read_bytes()[:length])
    cut(monkeypatch, tmp_path)
    again(channel).commit(add("dave likes cake"), now)
    assert (channel.folder / File.MEMORY).read_text() == NEW
    assert not list(channel.folder.glob(f".*{TEMPORARY}"))


def interrupted(*_: object) -> None:
    """Where a process ends."""
    raise KeyboardInterrupt


def test_a_text_that_was_never_acknowledged_is_swept(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Torn, it looks like a save that takes out most of the file."""
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    with monkeypatch.context() as patch:
        patch.setattr("pipimem.store.journal.journal.Journal.append", interrupted)
        patch.setattr("pipimem.store.commits.committing.dropped", lambda _: None)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(add("never heard"), now)
    [prepared] = channel.folder.glob(f".*{TEMPORARY}")
    prepared.write_text(OLD.replace("- 鲍勃喜欢茶\n", ""))
    cut(monkeypatch, tmp_path)
    again(channel).commit(add("dave likes cake"), now)
    assert (channel.folder / File.MEMORY).read_text() == OLD + "- dave likes cake\n"


def test_an_older_text_that_a_person_put_back_stays(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After the start: the file was touched since. And without a power cut anyway."""
    path = channel.folder / File.MEMORY
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    channel.commit(add("卡罗尔喜欢咖啡和茶"), now)
    path.write_text(OLD)
    cut(monkeypatch, tmp_path, touched=True)
    again(channel).commit(add("dave likes cake"), now)
    assert path.read_text() == OLD + "- dave likes cake\n"
    path.write_text(OLD)
    again(channel).commit(add("erin likes milk"), now)
    assert path.read_text() == OLD + "- erin likes milk\n"


def test_what_a_person_typed_before_the_power_cut_is_merged(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A text that no one of ours begins with is a person's, older than the start or not."""
    path = channel.folder / File.MEMORY
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    channel.commit(add("卡罗尔喜欢咖啡和茶"), now)
    path.write_text(OLD.replace("alice", "alina"))
    cut(monkeypatch, tmp_path)
    again(channel).commit(add("dave likes cake"), now)
    assert path.read_text() == NEW.replace("alice", "alina")


def test_a_person_s_text_that_was_journalled_is_not_lost(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Their editor did not sync it; the journal did."""
    path = channel.folder / File.MEMORY
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    channel.checkpoint()
    path.write_text(OLD + "- typed\n")
    channel.commit(add("dave likes cake"), now)
    for version in (channel.folder / ".pipimem" / "versions").iterdir():
        version.write_text("")
    path.write_text(OLD)
    cut(monkeypatch, tmp_path)
    assert again(channel).notes().memory.text == OLD + "- typed\n- dave likes cake\n"
    again(channel).commit(add("erin likes milk"), now)
    assert path.read_text() == OLD + "- typed\n- dave likes cake\n- erin likes milk\n"


def test_a_deletion_after_the_start_holds(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Once the files are whole again, a checkpoint says so: from then on an older text is a person's again."""
    path = channel.folder / File.MEMORY
    channel.commit(add("alice likes tea", "鲍勃喜欢茶"), now)
    channel.commit(add("卡罗尔喜欢咖啡和茶"), now)
    path.write_text(OLD)
    cut(monkeypatch, tmp_path)
    second = again(channel)
    second.commit(add("dave likes cake"), now)
    path.write_text(OLD)
    again(channel).commit(add("erin likes milk"), now)
    assert path.read_text() == OLD + "- erin likes milk\n"
