"""The lock between hosts: one at a time, taken over from the dead, and fair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from benchmarks.faults.journeys import NOW, adding
from pipimem.errors import LockLost, LockTimeout
from pipimem.settings import FleetSettings, Settings
from pipimem.state.postgres import FleetDatabase
from pipimem.store.channel import ChannelStore
from pipimem.store.fleet.fleet_lock import FleetLock
from pipimem.store.workspace import WorkspaceStore

from tests.fleet.hosts import Host

LEASE = 1.0


@contextmanager
def running(root: Path) -> Iterator[Callable[[], Host]]:
    """Starts hosts, and kills them at the end."""
    with ExitStack() as stack:

        def start() -> Host:
            host = Host.on(root)
            stack.callback(host.kill)
            return host

        yield start


def opened(root: Path) -> ChannelStore:
    """The channel, as a process of its own would open it."""
    return ChannelStore.open(WorkspaceStore.open(root), "team", create=True)


def lock_of(store: ChannelStore) -> FleetLock:
    lock = store.channel_folder.lock
    assert isinstance(lock, FleetLock)
    return lock


def test_two_take_turns(root: Path) -> None:
    """While one holds it the other waits, and gets it once it is given back."""
    one, two = lock_of(opened(root)), lock_of(opened(root))
    with one.held(), pytest.raises(LockTimeout), two.held(timeout=0.2):
        raise AssertionError
    with two.held():
        two.check()


def test_a_lease_is_renewed_while_work_goes_on(root: Path) -> None:
    """Three leases long nobody else gets it, and its holder may write at the end."""
    one, two = lock_of(opened(root)), lock_of(opened(root))
    with one.held():
        with pytest.raises(LockTimeout), two.held(timeout=3 * LEASE):
            raise AssertionError
        one.check()


def test_what_a_killed_holder_held_is_taken_over(root: Path) -> None:
    """By the next commit of another, which waits for the end of the lease."""
    with running(root) as start:
        dead, next_one = start(), start()
        assert dead.ask("hold") == "held"
        dead.kill()
        assert next_one.ask("learn what comes next") == "done"


def test_a_suspended_holder_writes_nothing_once_it_is_awake(root: Path) -> None:
    """It is told that the lock was lost, and its next work begins anew."""
    with running(root) as start:
        slow, other = start(), start()
        assert slow.ask("hold") == "held"
        slow.stop()
        assert other.ask("learn the other was faster") == "done"
        slow.wake()
        slow.tell("go on")
        assert slow.line().startswith("LockLost team: this process was suspended")
        assert slow.ask("learn the slow one came later") == "done"
    texts = opened(root).notes().memory.text
    assert texts.index("the other was faster") < texts.index("the slow one came later")


def test_a_commit_asks_the_database_a_dozen_questions(root: Path) -> None:
    """For the lease, before each change of a file, for the transaction, and to give it back."""
    store = opened(root)
    store.commit(adding("the first of all"), NOW)
    assert store.workspace.fleet is not None
    database = store.workspace.fleet.database
    for number in range(10):
        before = database.statements
        store.commit(adding(f"number {number} of the things known"), NOW)
        assert database.statements - before <= 15


def test_a_hundred_turns_beside_one_who_commits_without_pause(root: Path) -> None:
    """None of them times out."""
    with running(root) as start:
        start().tell("chatter about")
        quiet = start()
        answers = [quiet.ask(f"say turn {number}") for number in range(100)]
    assert answers == ["done"] * 100


def test_a_lease_that_another_took_ends_the_work(root: Path, settings: FleetSettings) -> None:
    """Whatever its own clock says: by then the database may have given the lease away."""
    store = opened(root)
    other = ChannelStore.open(
        WorkspaceStore.open(root, Settings(fleet=settings)), "team", create=True
    )
    with lock_of(store).held():
        lock_of(store).check()
        FleetDatabase(settings.database).rows(
            "update pipimem.lease set until = clock_timestamp() - interval '1 second'"
        )
        with lock_of(other).held():
            pass
        with pytest.raises(LockLost):
            lock_of(store).check()
