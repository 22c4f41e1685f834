"""The thread that writes arrivals: one wait for the disk for all, and nothing said in advance."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pipimem import Message, Pipimem, StoreError
from pipimem.bots.dingtalk import arrival_writer as module
from pipimem.bots.dingtalk.arrival_writer import ArrivalWriter
from pipimem.runtime.arrival_journal import Arrival, ArrivalJournal

pytestmark = pytest.mark.anyio


class SlowJournal(ArrivalJournal):
    """A journal whose disk can be held up, and which counts its waits."""

    def __init__(self, workspace: Path) -> None:
        super().__init__(workspace / "j.jsonl", Pipimem(workspace, "offline"))
        self.may_write = threading.Event()
        self.may_write.set()
        self.commits: list[tuple[int, int]] = []
        self.fails = False

    def commit(self, added: Any, over: Any) -> None:
        self.may_write.wait(60)
        self.commits.append((len(list(added)), len(list(over))))
        if self.fails:
            raise StoreError("the disk is full")
        super().commit(added, over)


@pytest.fixture
def journal(workspace: Path) -> SlowJournal:
    """The journal of a bot."""
    return SlowJournal(workspace)


@pytest.fixture
async def writer(journal: SlowJournal) -> AsyncIterator[ArrivalWriter]:
    """One that runs."""
    writer = ArrivalWriter(journal)
    writer.start()
    yield writer
    journal.may_write.set()
    await writer.stop()


def arrival(number: int) -> Arrival:
    """Message `number`."""
    return Arrival("cid", Message.user(f"message {number}", id=f"m{number}"))


async def test_what_comes_while_the_disk_is_busy_is_written_together(
    writer: ArrivalWriter, journal: SlowJournal
) -> None:
    """Two waits for the disk for a hundred messages, and each is there when that is said."""
    journal.may_write.clear()
    first = writer.add(arrival(0))
    await asyncio.sleep(0.05)
    others = [writer.add(arrival(number)) for number in range(1, 100)]
    assert not first.done()
    assert not writer.is_idle.is_set()
    journal.may_write.set()
    assert await asyncio.gather(first, *others) == [True] * 100
    assert [added for added, _ in journal.commits] == [1, 99]
    assert writer.is_idle.is_set()
    assert len(ArrivalJournal(journal.path, journal.pipimem).left()) == 100


async def test_a_disk_that_refuses_is_said_and_asked_again(
    writer: ArrivalWriter, journal: SlowJournal
) -> None:
    """The thread goes on."""
    journal.fails = True
    assert await writer.add(arrival(0)) is False
    assert writer.is_idle.is_set()
    journal.fails = False
    assert await writer.add(arrival(1)) is True


async def test_an_error_of_ours_ends_no_thread(
    writer: ArrivalWriter, journal: SlowJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits is told that it is not written."""
    with monkeypatch.context() as broken:
        broken.setattr(ArrivalJournal, "commit", lambda *_: 1 / 0)
        assert await writer.add(arrival(0)) is False
    assert await writer.add(arrival(1)) is True


async def test_what_the_transcript_has_meanwhile_is_not_written(
    writer: ArrivalWriter, journal: SlowJournal
) -> None:
    """It is durable there."""
    journal.may_write.clear()
    first = writer.add(arrival(0))
    await asyncio.sleep(0.05)
    second = writer.add(arrival(1))
    writer.end(arrival(1).key)
    journal.may_write.set()
    assert await asyncio.gather(first, second) == [True, True]
    assert journal.commits == [(1, 0), (0, 1)]


async def test_what_is_over_is_cut_off_after_a_rest(
    writer: ArrivalWriter, journal: SlowJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together, and with no wait of somebody else's."""
    monkeypatch.setattr(module, "_REST_SECONDS", 0.05)
    for number in range(3):
        assert await writer.add(arrival(number))
    for number in range(3):
        writer.end(arrival(number).key)
    assert journal.path.exists()
    while journal.path.exists():
        await asyncio.sleep(0.01)
    assert journal.commits[3:] == [(0, 3)]


async def test_a_stop_writes_what_waits(journal: SlowJournal) -> None:
    """And cuts off what is over, at once."""
    writer = ArrivalWriter(journal)
    writer.start()
    assert await writer.add(arrival(0))
    writer.end(arrival(0).key)
    last = writer.add(arrival(1))
    await writer.stop()
    assert await last is True
    assert ArrivalJournal(journal.path, journal.pipimem).left()[-1].message.id == "m1"
    await writer.stop()  # a second one has nothing to do
