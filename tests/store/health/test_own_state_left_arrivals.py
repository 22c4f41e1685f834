"""What a killed bot left is shown until its next start; a running bot's is on its way."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.notes.message import Message
from pipimem.store.arrivals import Arrival, arrival_line, arrivals_path
from pipimem.store.channel import ChannelStore
from pipimem.store.health.own_state import arrival_findings
from pipimem.store.leader_lock import LeaderLock
from pipimem.store.workspace import WorkspaceStore

from tests.store.conftest import NOW


def line(name: str, channel: str, *, is_taken_back: bool = False) -> bytes:
    """A message that the platform delivered, or took back."""
    message = Message.user("" if is_taken_back else "hello", id=name, time=NOW)
    return arrival_line(Arrival(channel, message, is_taken_back=is_taken_back))


@pytest.fixture
def left(workspace: WorkspaceStore, channel: ChannelStore) -> Path:
    """Three messages that no transcript has, one that is stored, one that was taken back."""
    channel.append([Message.user("hello", id="p1")])
    path = arrivals_path(workspace.root, "dingtalk")
    path.parent.mkdir(exist_ok=True)
    known = [line("p1", "team"), line("p2", "team"), line("p2", "team")]
    new = [line("p3", "new"), line("p4", "new"), line("p5", "new")]
    path.write_bytes(b"".join([*known, *new, line("p5", "new", is_taken_back=True)]))
    return path


def told(workspace: WorkspaceStore) -> list[tuple[bool, str]]:
    """What there is to say."""
    return [(one.wrong, one.what) for one in arrival_findings(workspace)]


def test_messages_that_no_transcript_has_are_counted(workspace: WorkspaceStore, left: Path) -> None:
    """Also of a channel that is not there yet; each once. Looking writes nothing."""
    before = sorted(path for path in workspace.root.rglob("*"))
    ((is_wrong, what),) = told(workspace)
    assert is_wrong
    assert what.startswith("3 messages that the dingtalk bot acknowledged")
    assert sorted(path for path in workspace.root.rglob("*")) == before


def test_what_a_running_bot_has_there_is_on_its_way(workspace: WorkspaceStore, left: Path) -> None:
    """Nothing is to be done."""
    lock = LeaderLock(left.with_name("dingtalk.lock"))
    assert lock.take("the bot")
    assert told(workspace) == []
    lock.give_back()
    assert len(told(workspace)) == 1


def test_what_is_stored_is_nothing_to_say(
    workspace: WorkspaceStore, channel: ChannelStore, left: Path
) -> None:
    """A bot that was killed before it cut it off."""
    left.write_bytes(line("p1", "team"))
    assert told(workspace) == []


def test_damaged_lines_are_counted(workspace: WorkspaceStore, left: Path) -> None:
    """Blanks are what a forgetting left."""
    left.write_bytes(b"   \n{torn\n" + b"\xff\xfe\n")
    assert told(workspace) == [(False, "2 lines are damaged; passed over")]


def test_what_cannot_be_read_is_said(workspace: WorkspaceStore, left: Path) -> None:
    """A folder in its place."""
    left.unlink()
    left.mkdir()
    ((is_wrong, what),) = told(workspace)
    assert is_wrong
    assert "is a folder" in what
