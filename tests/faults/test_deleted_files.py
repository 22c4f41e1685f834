"""Files of ours deleted under a running bot: people may do that at any time."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pipimem.notes.message import Message
from pipimem.notes.operations import AddBlock, Author, Bullet, Decision, Progress
from pipimem.store.channel import ChannelStore
from pipimem.store.commit import acknowledge
from pipimem.store.disk import folder_lock
from pipimem.store.transcript.log import Transcript
from pipimem.store.workspace import WorkspaceStore

Add = Callable[..., Decision]
OWN = ("channel.json", "lock", "journal.jsonl", "ledger.json", "versions")


@pytest.fixture
def lived(channel: ChannelStore, now: datetime, add: Add) -> ChannelStore:
    """A channel with a fact, two messages, and a checkpoint."""
    channel.append([Message.user("one", id="p1", time=now), Message.user("two", id="p2", time=now)])
    channel.commit(add("Tea at four", cursor=2, boundary=2), now)
    channel.checkpoint()
    return channel


def test_a_deleted_state_is_made_anew(
    lived: ChannelStore, now: datetime, add: Add, caplog: pytest.LogCaptureFixture
) -> None:
    """Writing goes on under the same key, told once in the log; the notes stay."""
    shutil.rmtree(lived.folder / ".pipimem")
    with caplog.at_level(logging.WARNING, "pipimem"):
        assert [message.number for message in lived.append([Message.user("three")])] == [3]
        lived.commit(add("Coffee at five"), now)
        lived.forget("Coffee at five", keep_transcript=False, now=now)
        lived.close()
    assert [
        record.message for record in caplog.records if "made anew" in record.message
    ] == caplog.messages
    assert len(caplog.messages) == 1
    again = ChannelStore.open(lived.workspace, "team", create=False)
    assert again.key == lived.key
    assert [entry.text for entry in again.notes().memory.entries] == ["Tea at four"]


def test_a_deleted_folder_is_made_anew(lived: ChannelStore, now: datetime, add: Add) -> None:
    """Nothing of what stood there comes back from memory."""
    assert lived.notes().memory.entries
    shutil.rmtree(lived.folder)
    assert not lived.notes().memory.entries
    assert [message.number for message in lived.append([Message.user("new")])] == [1]
    lived.commit(add("Coffee at five"), now)
    assert [entry.text for entry in lived.notes().memory.entries] == ["Coffee at five"]
    assert lived.ledger.cursor == 0


def test_a_state_deleted_before_the_first_writing(
    lived: ChannelStore, now: datetime, add: Add
) -> None:
    """Who has only read so far keeps the key too."""
    reader = ChannelStore.open(lived.workspace, "team", create=False)
    reader.notes()
    shutil.rmtree(lived.folder / ".pipimem")
    reader.commit(add("Coffee at five"), now)
    assert ChannelStore.open(lived.workspace, "team", create=False).key == lived.key


@pytest.mark.parametrize("name", OWN)
def test_any_file_of_ours_may_go(lived: ChannelStore, now: datetime, add: Add, name: str) -> None:
    """Each call goes on, and a process that starts afterwards has it all."""
    path = lived.folder / ".pipimem" / name
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    lived.append([Message.user("two", id="p2", time=now), Message.user("three", id="p3", time=now)])
    lived.commit(add("Coffee at five"), now)
    lived.journal_edits(now)
    lived.close()
    again = ChannelStore.open(lived.workspace, "team", create=False)
    assert [entry.text for entry in again.notes().memory.entries] == [
        "Tea at four",
        "Coffee at five",
    ]
    assert [message.id for message in again.transcript.messages()] == ["p1", "p2", "p3"]
    assert again.ledger.cursor == 2


def test_a_deleted_journal_is_told_once(
    lived: ChannelStore, now: datetime, add: Add, caplog: pytest.LogCaptureFixture
) -> None:
    """What it held can no longer be undone."""
    (lived.folder / ".pipimem" / "journal.jsonl").unlink()
    with caplog.at_level(logging.WARNING, "pipimem"):
        lived.notes()
        lived.commit(add("Coffee at five"), now)
        lived.notes()
    assert len(caplog.messages) == 1
    assert "journal.jsonl" in caplog.messages[0]


def test_a_journal_set_aside_or_forgotten_in_by_others_is_no_news(
    lived: ChannelStore,
    now: datetime,
    add: Add,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both put another journal in its place."""
    other = ChannelStore.open(lived.workspace, "team", create=False)
    with caplog.at_level(logging.WARNING, "pipimem"):
        other.commit(add("Coffee at five"), now)
        other.forget("Coffee at five", keep_transcript=False, now=now)
        lived.notes()
        other.commit(add("Water at six"), now)
        monkeypatch.setattr("pipimem.store.journal.journal._ROTATE_AT", 10)
        other.checkpoint()
        lived.notes()
        other.commit(add("Milk at seven"), now)
        lived.notes()
    assert caplog.messages == []


def test_the_talk_before_the_newest_block_is_not_thought_about_again(
    lived: ChannelStore, now: datetime, add: Add
) -> None:
    """As at a start without a state: HISTORY.md tells how far thoughts had come."""
    block = AddBlock(now - timedelta(hours=1), now, "Tea", (Bullet("We drank tea.", ("p1",)),))
    lived.commit(Decision("consolidate", Author.MODEL, (block,)), now)
    shutil.rmtree(lived.folder / ".pipimem")
    assert lived.ledger.cursor == 2
    lived.commit(add("Coffee at five"), now)
    assert lived.ledger.cursor == 2


def test_a_state_deleted_in_the_middle_of_a_call(
    lived: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call is made once more, on a state made anew."""
    real, gone = folder_lock.opened, []

    def opened(path: Path, flags: int = os.O_RDONLY) -> int:
        if not gone:
            gone.append(True)
            shutil.rmtree(lived.folder / ".pipimem")
        return real(path, flags)

    monkeypatch.setattr(folder_lock, "opened", opened)
    lived.commit(add("Coffee at five"), now)
    gone.clear()
    assert [message.id for message in lived.append(iter([Message.user("three", id="p3")]))] == [
        "p3"
    ]
    gone.clear()
    assert (
        ChannelStore.open(
            lived.workspace, "team", create=True, title="Tea"
        ).channel_folder.identity.title
        == "Tea"
    )
    assert [entry.text for entry in lived.notes().memory.entries] == [
        "Tea at four",
        "Coffee at five",
    ]


def test_another_key_is_taken_over(
    lived: ChannelStore, workspace: WorkspaceStore, now: datetime, add: Add
) -> None:
    """Deleted, and made anew by a process that starts: both go by one key afterwards."""
    lived.notes()
    shutil.rmtree(lived.folder / ".pipimem")
    other = ChannelStore.open(workspace, "team", create=True)
    other.commit(add("Coffee at five"), now)
    assert other.key != lived.key
    lived.commit(add("Water at six"), now)
    assert other.key == lived.key
    ids = {entry.id for entry in lived.notes().memory.entries}
    assert ids == {entry.id for entry in other.notes().memory.entries}
    assert len(ids) == 3


def test_who_only_closes_makes_no_folder_anew(lived: ChannelStore) -> None:
    """A channel that was removed stays away."""
    shutil.rmtree(lived.folder)
    lived.close()
    assert not lived.folder.exists()


def test_what_is_said_after_a_cut_log_is_thought_about(lived: ChannelStore, now: datetime) -> None:
    """The cursor is beyond its end: new messages have numbers behind the cursor."""
    lived.transcript.path.unlink()
    assert [message.number for message in lived.append([Message.user("three", time=now)])] == [3]
    other = Transcript(lived.folder, lived.transcript.lock)
    assert [message.content for message in other.window(lived.ledger.cursor)] == ["three"]


def test_a_damaged_identity_is_written_anew(lived: ChannelStore, now: datetime, add: Add) -> None:
    """Who runs knows who the channel is, and its key."""
    path: Path = lived.folder / ".pipimem" / "channel.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:20])
    lived.commit(add("Coffee at five"), now)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_lock_that_is_lost_during_a_commit_is_taken_anew(
    lived: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
) -> None:
    """Another process takes the new file and commits: neither's record is taken for a torn end."""
    other = ChannelStore.open(lived.workspace, "team", create=False)
    lock, prepare = lived.folder / ".pipimem" / "lock", acknowledge.prepare_file

    def prepare_while_the_lock_is_lost(path: Path, target: Path, text: str) -> None:
        monkeypatch.undo()
        prepare(path, target, text)
        lock.unlink()
        if is_replaced:
            lock.touch()
        read = Progress(refreshed=2)
        other.commit(Decision("refresh", Author.RULE, progress=read), now)

    monkeypatch.setattr(acknowledge, "prepare_file", prepare_while_the_lock_is_lost)
    lived.commit(add("Coffee at five"), now)
    again = ChannelStore.open(lived.workspace, "team", create=False)
    texts = [entry.text for entry in again.notes().memory.entries]
    assert texts == ["Tea at four", "Coffee at five"]
    assert again.ledger.refreshed == 2
    assert [record.sequence for record in again.journal_records()] == [1, 2, 3]


def test_a_lock_that_is_lost_while_messages_are_appended_is_taken_anew(
    lived: ChannelStore, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No two messages get one number."""
    other = ChannelStore.open(lived.workspace, "team", create=False)
    write = Transcript._write

    def write_while_the_lock_is_lost(transcript: Transcript, added: list[Message]) -> None:
        monkeypatch.undo()
        (lived.folder / ".pipimem" / "lock").unlink()
        other.append([Message.user("four", id="p4", time=now)])
        write(transcript, added)

    monkeypatch.setattr(Transcript, "_write", write_while_the_lock_is_lost)
    lived.append([Message.user("three", id="p3", time=now)])
    found = [(message.number, message.content) for message in other.transcript.window(2)]
    assert found == [(3, "four"), (4, "three")]


@pytest.mark.parametrize("lost", ["journal", "older journal", "tail"])
def test_a_journal_that_is_lost_takes_nothing_with_it(
    channel: ChannelStore, now: datetime, add: Add, lost: str
) -> None:
    """An older ledger knows an older text; the versions may be newer. The text in the file
    stands, whatever they lead to.
    """
    path = channel.folder / ".pipimem" / "journal.jsonl"
    memory = channel.folder / "MEMORY.md"
    channel.commit(add("Tea at four", "Nothing"), now)
    channel.forget("Nothing", keep_transcript=False, now=now)
    channel.checkpoint()
    older = path.read_bytes()
    channel.commit(add("Coffee at five"), now)
    memory.write_text(memory.read_text() + "- typed by a person\n")
    channel.commit(add("Water at six"), now)
    whole = memory.read_text()
    if lost == "journal":
        path.unlink()
    else:
        path.write_bytes(older[:-10] if lost == "tail" else older)
    if lost == "tail":
        channel = ChannelStore.open(channel.workspace, "team", create=False)
    assert channel.notes().memory.text == whole
    channel.commit(add("Milk at seven"), now)
    assert memory.read_text() == whole + "- Milk at seven\n"
    again = ChannelStore.open(channel.workspace, "team", create=False)
    assert again.notes().memory.text == memory.read_text()
    again.commit(add("Juice at eight"), now)
    assert memory.read_text() == whole + "- Milk at seven\n- Juice at eight\n"


def test_who_misses_records_says_so_when_it_closes(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """The next start cannot tell: the journal looks like one that ends there."""
    path, memory = channel.folder / ".pipimem" / "journal.jsonl", channel.folder / "MEMORY.md"
    channel.commit(add("Tea at four"), now)
    channel.checkpoint()
    older = path.read_bytes()
    channel.commit(add("Coffee at five"), now)
    memory.write_text(memory.read_text() + "- typed by a person\n")
    channel.commit(add("Water at six"), now)
    channel._opened.has_written = False  # nothing else waits
    path.write_bytes(older)
    channel.close()
    whole = memory.read_text()
    ChannelStore.open(channel.workspace, "team", create=False).commit(add("Milk at seven"), now)
    assert memory.read_text() == whole + "- Milk at seven\n"
