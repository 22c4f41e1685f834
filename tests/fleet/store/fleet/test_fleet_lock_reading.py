"""What another host writes is read here, whatever the file system shows of the files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.faults.journeys import NOW, adding
from benchmarks.faults.journeys import runtime as opened_runtime
from benchmarks.fleet.postgres import Server
from pipimem import Message
from pipimem.store.channel import ChannelStore
from pipimem.store.fleet.fleet_lock import Fleet
from pipimem.store.workspace import WorkspaceStore

from tests.fleet.hosts import Host
from tests.fleet.old_stamps import old_stamps

_NEWS = "the kiln is fired on Mondays"


@pytest.fixture
def other(root: Path) -> Iterator[Host]:
    """Another host."""
    host = Host.on(root)
    yield host
    host.kill()


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """This host believes what the file system shows."""
    monkeypatch.setattr(Fleet, "revalidate", lambda *_: None)


def begun(root: Path) -> ChannelStore:
    """The channel, with something learnt and something said."""
    store = ChannelStore.open(WorkspaceStore.open(root), "team", create=True)
    store.commit(adding("the first of all"), NOW)
    store.append([Message.user("good morning", id="morning")])
    return store


def read(store: ChannelStore) -> tuple[str, int]:
    """All that a turn looks at."""
    return store.notes().memory.text, store.transcript.last_number


def test_what_another_host_wrote_is_read_under_old_stamps(root: Path, other: Host) -> None:
    """Its commits and its talk, with the next look."""
    store = begun(root)
    with old_stamps(root):
        _, newest = read(store)
        for number in range(3):
            text = f"{_NEWS}, week {number}"
            assert other.ask(f"learn {text}") == "done"
            assert text in read(store)[0]
            assert other.ask(f"say turn {number}") == "done"
            assert read(store)[1] == newest + 1 + number
        assert store.notes() is store.notes()


@pytest.mark.usefixtures("trusting")
def test_without_opening_the_files_the_old_text_is_read(root: Path, other: Host) -> None:
    """What the test before is worth."""
    store = begun(root)
    with old_stamps(root):
        _, newest = read(store)
        assert other.ask("say hello") == "done"
        assert read(store)[1] == newest


@pytest.mark.anyio
async def test_a_turn_asks_the_database_two_questions_at_most(root: Path, other: Host) -> None:
    """One whether anything changed; its context has what another host just learnt."""
    async with opened_runtime(root) as pipimem:
        channel = await pipimem.channel("team")
        await channel.notes.remember("the glaze is mixed on Fridays")
        fleet = pipimem.store.fleet
        assert fleet is not None
        with old_stamps(root):
            turn = await channel.before_turn("when is the kiln fired?")
            assert _NEWS not in turn.context
            assert other.ask(f"learn {_NEWS}") == "done"
            turn = await channel.before_turn("when is the kiln fired?")
            assert _NEWS in turn.context
            asked = fleet.database.statements
            await channel.before_turn("what is mixed on Fridays?")
            assert fleet.database.statements - asked <= 2


def test_a_commit_under_old_stamps_is_made_on_the_newest_text(root: Path, other: Host) -> None:
    """The number of the hold says that another host had the lock."""
    store = begun(root)
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


def test_without_the_database_the_notes_are_as_last_read(root: Path, server: Server) -> None:
    """A channel that was not read before is read from its files; nothing can be written."""
    store = begun(root)
    before = read(store)
    server.stop()
    try:
        assert read(store) == before
        fresh = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
        assert read(fresh) == before
        edited = f"{before[0]}- by hand\n"
        (store.folder / "MEMORY.md").write_text(edited)
        assert store.notes().memory.text in (edited, before[0])
    finally:
        server.start()
    assert store.workspace.fleet is not None
    store.workspace.fleet.database._closed_until = 0.0
    assert store.notes().memory.text == edited
