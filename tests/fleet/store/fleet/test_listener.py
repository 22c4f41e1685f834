"""What another host writes is read here, whatever the file system shows of the files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks.faults.journeys import NOW, adding
from benchmarks.faults.journeys import runtime as opened_runtime
from benchmarks.fleet.postgres import Server
from pipimem import Message
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.fencing import note_written
from pipimem.store.fleet import listener as listener_module
from pipimem.store.fleet.database import notifications
from pipimem.store.fleet.listener import Listener
from pipimem.store.workspace import WorkspaceStore

from tests.fleet.hosts import Host
from tests.fleet.old_stamps import old_stamps

_NEWS = "the kiln is fired on Mondays"
_END = "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'"


@pytest.fixture
def other(root: Path) -> Iterator[Host]:
    """Another host."""
    host = Host.on(root)
    yield host
    host.kill()


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """This host takes itself for one that is told, and is told nothing."""
    monkeypatch.setattr(Listener, "start", lambda self: setattr(self, "is_listening", True))


def listening(root: Path) -> ChannelStore:
    """The channel, read once, with notices coming."""
    store = ChannelStore.open(WorkspaceStore.open(root), "team", create=True)
    store.commit(adding("the first of all"), NOW)
    store.append([Message.user("good morning", id="morning")])
    assert soon(lambda: listener_of(store).is_listening)
    return store


def listener_of(store: ChannelStore) -> Listener:
    assert store.workspace.fleet is not None
    return store.workspace.fleet.listener


def read(store: ChannelStore) -> tuple[str, int]:
    """All that a turn looks at."""
    return store.notes().memory.text, store.transcript.last_number


def soon(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Whether it comes true within some seconds."""
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def test_what_another_host_tells_is_read_under_old_stamps(root: Path, other: Host) -> None:
    """Its commits and its talk, each within moments; what is read meanwhile asks the database
    nothing."""
    store = listening(root)
    with old_stamps(root):
        before = read(store)
        assert store.workspace.fleet is not None
        database = store.workspace.fleet.database
        asked = database.statements
        for number in range(3):
            text = f"{_NEWS}, week {number}"
            assert other.ask(f"learn {text}") == "done"
            assert soon(lambda text=text: text in read(store)[0])
            assert other.ask(f"say turn {number}") == "done"
            assert soon(lambda number=number: read(store)[1] == before[1] + 1 + number)
        assert database.statements == asked
        # Nothing was told since: the same notes.
        assert store.notes() is store.notes()


@pytest.mark.anyio
async def test_a_turn_sees_what_another_host_learnt_and_asks_the_database_nothing(
    root: Path, other: Host
) -> None:
    """Under old stamps, too: its context has it as soon as it was told."""
    async with opened_runtime(root) as pipimem:
        channel = await pipimem.channel("team")
        await channel.notes.remember("the glaze is mixed on Fridays")
        fleet = pipimem.store.fleet
        assert fleet is not None
        assert soon(lambda: fleet.listener.is_listening)
        with old_stamps(root):
            turn = await channel.before_turn("when is the kiln fired?")
            assert _NEWS not in turn.context
            assert other.ask(f"learn {_NEWS}") == "done"
            asked, until = fleet.database.statements, time.monotonic() + 5
            while _NEWS not in turn.context and time.monotonic() < until:
                turn = await channel.before_turn("when is the kiln fired?")
            assert _NEWS in turn.context
            assert fleet.database.statements == asked


@pytest.mark.usefixtures("deaf")
def test_without_notices_the_old_text_is_read(root: Path, other: Host) -> None:
    """What the test before is worth: under old stamps nothing but a notice says that there is news."""
    store = listening(root)
    with old_stamps(root):
        before = read(store)
        assert other.ask(f"learn {_NEWS}") == "done"
        assert other.ask("say hello") == "done"
        time.sleep(0.5)
        assert read(store) == before
    assert _NEWS in read(store)[0]


@pytest.mark.usefixtures("deaf")
def test_a_commit_under_old_stamps_is_made_on_the_newest_text(root: Path, other: Host) -> None:
    """The number of the lock says that another host had it: no notice is needed for that."""
    store = listening(root)
    with old_stamps(root):
        read(store)
        assert other.ask(f"learn {_NEWS}") == "done"
        assert other.ask("say hello") == "done"
        assert store.append([Message.user("hello", id="hello")]) == ()
        (mine,) = store.append([Message.user("good evening", id="evening")])
        assert mine.number == 3
        store.commit(adding("the glaze is mixed on Fridays"), NOW)
    text = (store.folder / "MEMORY.md").read_text()
    assert text.index(_NEWS) < text.index("the glaze is mixed on Fridays")
    assert [message.content for message in store.transcript.messages()] == [
        "good morning",
        "hello",
        "good evening",
    ]
    assert [record.sequence for record in store.changes()] == [1, 2, 3]


def test_what_was_told_while_the_connection_was_lost_is_read(
    root: Path, other: Host, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it each look opens the files; once it listens again, all channels are read anew."""
    monkeypatch.setattr(listener_module, "_PAUSE", 0.5)
    store = listening(root)
    listener = listener_of(store)
    with old_stamps(root):
        read(store)
        server.sql(_END)
        assert soon(lambda: not listener.is_listening)
        assert other.ask(f"learn {_NEWS}") == "done"
        assert _NEWS in read(store)[0]
        server.sql(_END)
        assert soon(lambda: listener.is_listening)
        server.sql(_END)
        assert soon(lambda: not listener.is_listening)
        assert other.ask("learn and it cools on Tuesdays") == "done"
        assert soon(lambda: listener.is_listening)
        assert "it cools on Tuesdays" in read(store)[0]


def test_a_host_that_could_not_tell_tells_later(root: Path) -> None:
    """What was written as the database went away is told of with the next lock that is given back."""
    store = listening(root)
    fleet = store.workspace.fleet
    assert fleet is not None
    with closing(notifications(fleet.database.address, f"pipimem_{fleet.name}")) as told:
        assert next(told) == []
        with store.channel_folder.lock.held():
            note_written(7)
            fleet.database._closed_until = time.monotonic() + 60
        fleet.database._closed_until = 0.0
        with store.channel_folder.lock.held():
            pass
        heard = next(told)
    assert heard == [f"7 {fleet.owner} {fleet.name}/team/lock"]
