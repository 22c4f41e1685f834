"""One workspace opened for a bot: channels, idle work, and leaving."""

from __future__ import annotations

import asyncio
import gc
import threading
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from pipimem import Message, Pipimem, Settings
from pipimem.errors import ModelUnavailable, StoreError, WorkspaceError
from pipimem.runtime.channel import upkeep_of
from pipimem.settings import MaintenanceSettings
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Answer, Call, Consolidated, HistoryItem, Refresh, Refreshed, Task

from tests.runtime.building import MORNING, read, settings, workspace

pytestmark = [pytest.mark.anyio, pytest.mark.both_loops]


def script() -> Scripted:
    answer = Consolidated(history=(HistoryItem("they said hello", ("m1",)),))
    return Scripted(
        {"refresh": [Refreshed({"Current State": ("greeting",)})], "consolidate": [answer]}
    )


async def test_leaving_consolidates_what_was_said(tmp_path: Path) -> None:
    """A shutdown is a boundary: nothing waits in the transcript alone."""
    root = workspace(tmp_path)
    async with Pipimem(root, assistant=script(), settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        await channel.after_turn(None, [Message.user("hello"), Message.assistant("hi")])
    assert "they said hello" in read(root, "HISTORY.md")


async def test_an_error_of_the_host_comes_out_as_it_was(tmp_path: Path) -> None:
    """Not wrapped in a group, and not waiting for a thought."""
    root, asked = workspace(tmp_path), script()
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the whole block is what a host writes
        async with Pipimem(root, assistant=asked, settings=settings()) as pipimem:
            channel = await pipimem.channel("room")
            await channel.after_turn(None, [Message.user("hello"), Message.assistant("hi")])
            raise ZeroDivisionError
    assert asked.asked == []
    assert "hello" in read(root, "log.jsonl")


async def test_a_quiet_channel_is_looked_after(tmp_path: Path) -> None:
    """Idle work begins by itself, once nobody has spoken for a while."""
    root = workspace(tmp_path)
    quick = Settings(maintenance=MaintenanceSettings(idle_seconds=0.05))
    async with Pipimem(root, assistant=script(), settings=quick) as pipimem:
        channel = await pipimem.channel("room")
        for _ in range(2):
            await channel.after_turn(None, [Message.user("hello"), Message.assistant("hi")])
        with anyio.fail_after(60):
            while "greeting" not in read(root, "SESSION.md"):
                await anyio.sleep(0.05)
            while not (await upkeep_of(channel).notes()).ledger.pending:
                await anyio.sleep(0.05)


async def test_a_failing_job_waits_before_it_tries_again(tmp_path: Path) -> None:
    """The model is down: one attempt, then a pause, and the bot goes on."""
    root = workspace(tmp_path)
    down = Scripted(
        {"refresh": [ModelUnavailable("down")], "consolidate": [ModelUnavailable("down")]}
    )
    async with Pipimem(root, assistant=down, settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        for _ in range(2):
            await channel.after_turn(None, [Message.user("hello"), Message.assistant("hi")])
        first = await upkeep_of(channel).maintain()
        second = await upkeep_of(channel).maintain()
        jobs = (await upkeep_of(channel).notes()).ledger.jobs
        channel._log.has_new_messages = False
    assert [job.reason for job in first[:2]] == ["down", "down"]
    assert [job.reason for job in second[:2]] == ["waiting after a failure"] * 2
    assert jobs["refresh"].failures == 1
    assert len(down.asked) == 2


async def test_the_same_channel_is_the_same_object(tmp_path: Path) -> None:
    """Two callers share one conversation, also when they ask at once."""
    async with Pipimem(workspace(tmp_path)) as pipimem:
        assert await pipimem.channel("a/b=") is await pipimem.channel("a/b=")


async def test_a_folder_that_is_no_workspace_is_refused(tmp_path: Path) -> None:
    """With a word on what to do."""
    with pytest.raises(WorkspaceError, match="pipimem init"):
        Pipimem(tmp_path)


async def test_a_channel_that_cannot_be_closed_does_not_stop_the_others(tmp_path: Path) -> None:
    """Every channel is consolidated, then the first refusal comes out."""
    root = workspace(tmp_path)
    both = Scripted(
        {
            "refresh": [Refreshed()],
            "consolidate": [Consolidated(history=(HistoryItem("they said hello"),))],
        }
    )
    with pytest.raises(StoreError):  # noqa: PT012 - the whole block is what a host writes
        async with Pipimem(root, assistant=both, settings=settings()) as pipimem:
            broken = await pipimem.channel("broken")
            await broken.notes.remember("something")
            store = upkeep_of(broken).store
            store.touch_recalls([store.notes().memory.entries[0].id], MORNING)
            channel = await pipimem.channel("room")
            await channel.after_turn(None, [Message.user("hello"), Message.assistant("hi")])
            lock = root / "channels" / "broken" / ".pipimem" / "lock"
            lock.unlink()
            lock.mkdir()
    assert "they said hello" in read(root, "HISTORY.md")


@dataclass
class Slow:
    """Answers once two calls are under way, or after a second; `most` says how many there
    were at once.
    """

    name: str = "slow"
    paid: bool = False
    now: int = 0
    most: int = 0

    async def answer(self, task: Task, call: Call) -> Answer:
        """Nothing is worth keeping."""
        self.now += 1
        self.most = max(self.most, self.now)
        with anyio.move_on_after(1):
            while self.most < 2:
                await anyio.sleep(0.01)
        self.now -= 1
        return (
            Refreshed()
            if isinstance(task, Refresh)
            else Consolidated(history=(HistoryItem("they said hello"),))
        )


async def test_leaving_waits_for_several_channels_at_once(tmp_path: Path) -> None:
    """A thousand channels must not wait for each other's disk and model; yet not all of them
    think at once.
    """
    root, slow = workspace(tmp_path), Slow()
    async with Pipimem(root, assistant=slow, settings=settings()) as pipimem:
        for number in range(12):
            channel = await pipimem.channel(f"room-{number}")
            await channel.after_turn(None, [Message.user("hello"), Message.assistant("hi")])
    assert 2 <= slow.most <= 8
    assert all("they said hello" in path.read_text() for path in root.glob("channels/*/HISTORY.md"))
    assert len(list(root.glob("channels/*/HISTORY.md"))) == 12


@dataclass
class Waiting:
    """Answers once it may; `asked` is set when the first question comes."""

    name: str = "waiting"
    paid: bool = False
    asked: anyio.Event = field(default_factory=anyio.Event)
    may_answer: anyio.Event = field(default_factory=anyio.Event)

    async def answer(self, task: Task, call: Call) -> Answer:
        """One line of history."""
        self.asked.set()
        await self.may_answer.wait()
        return Consolidated(history=(HistoryItem("they said hello"),))


async def _started_and_told(root: Path, assistant: Waiting) -> Pipimem:
    pipimem = Pipimem(root, assistant=assistant, settings=settings())
    await pipimem.start()
    channel = await pipimem.channel("room")
    await channel.after_turn(None, [Message.user("hello"), Message.assistant("hi")])
    return pipimem


async def test_closing_after_a_cancelled_closing_does_what_is_left(tmp_path: Path) -> None:
    """What the first did not consolidate is not left for the next start."""
    root, waiting = workspace(tmp_path), Waiting()
    pipimem = await _started_and_told(root, waiting)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipimem.aclose)
        await waiting.asked.wait()
        tasks.cancel_scope.cancel()
    assert read(root, "HISTORY.md") == ""
    waiting.may_answer.set()
    await pipimem.aclose()
    assert "they said hello" in read(root, "HISTORY.md")
    await pipimem.start()
    await pipimem.aclose()


async def test_a_second_closing_waits_for_the_first(tmp_path: Path) -> None:
    """Whoever closes may end the process then."""
    root, waiting = workspace(tmp_path), Waiting()
    pipimem = await _started_and_told(root, waiting)
    seen: list[str] = []

    async def close() -> None:
        await pipimem.aclose()
        seen.append(read(root, "HISTORY.md"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(close)
        await waiting.asked.wait()
        tasks.start_soon(close)
        await anyio.wait_all_tasks_blocked()
        assert seen == []
        waiting.may_answer.set()
    assert ["they said hello" in text for text in seen] == [True, True]


async def test_a_cancelled_host_leaves_no_work_behind(tmp_path: Path) -> None:
    """The same object may be started anew."""
    pipimem = Pipimem(workspace(tmp_path), settings=settings())
    with anyio.CancelScope() as host:
        async with pipimem:
            host.cancel()
            await anyio.sleep(1)
    await pipimem.start()
    await pipimem.aclose()


@pytest.mark.filterwarnings("error")
def test_a_start_may_be_ended_at_once(tmp_path: Path) -> None:
    """In another loop too, as a script does it; no work is made that is never awaited."""
    pipimem = Pipimem(workspace(tmp_path), settings=settings())
    for _ in range(3):
        asyncio.run(pipimem.start())
        asyncio.run(pipimem.aclose())
    gc.collect()


def test_closing_in_the_event_loop_of_another_thread_is_refused(tmp_path: Path) -> None:
    """It says so: waiting for another thread's loop, nobody would wake it. The right one closes."""
    pipimem = Pipimem(workspace(tmp_path), settings=settings())
    started, tried = threading.Event(), threading.Event()

    async def host() -> None:
        await pipimem.start()
        started.set()
        await anyio.to_thread.run_sync(tried.wait)
        await pipimem.aclose()

    thread = threading.Thread(target=anyio.run, args=(host,), daemon=True)
    thread.start()
    started.wait()

    async def close() -> None:
        with anyio.fail_after(60):
            await pipimem.aclose()

    with pytest.raises(WorkspaceError, match=r"in the loop of start\(\)"):
        anyio.run(close)
    tried.set()
    thread.join(60)
    assert not thread.is_alive()
    anyio.run(close)


async def test_a_bug_in_closing_one_channel_comes_out_once_all_are_closed(tmp_path: Path) -> None:
    """It comes out as it was, and the channels behind it are consolidated all the same."""
    root = workspace(tmp_path)
    with pytest.raises(AttributeError):  # noqa: PT012 - the whole block is what a host writes
        async with Pipimem(root, assistant=script(), settings=settings()) as pipimem:
            (await pipimem.channel("broken"))._access.store = None  # type: ignore[assignment]
            channel = await pipimem.channel("room")
            await channel.after_turn(None, [Message.user("hello"), Message.assistant("hi")])
    assert "they said hello" in read(root, "HISTORY.md")


@pytest.mark.anyio
async def test_what_could_not_be_learnt_at_the_end_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A bot without its key runs, answers and learns nothing: somebody has to say so."""

    class Refusing:
        name, paid = "no-key", True

        async def answer(self, task: object, call: object) -> object:
            raise ModelUnavailable("the provider refused the key (401)")

    root = workspace(tmp_path)
    said = "we never deploy on Fridays"
    async with Pipimem(root, assistant=Refusing()) as pipimem:  # type: ignore[arg-type]
        channel = await pipimem.channel("room")
        turn = await channel.before_turn(said, speaker="Tom")
        await channel.after_turn(turn, [Message.user(said, speaker="Tom"), Message.assistant("ok")])
    assert "closed with talk that is not learnt yet (deferred): it is kept" in caplog.text
    assert "Fridays" not in caplog.text


@pytest.mark.anyio
async def test_offline_no_model_is_blamed_for_what_is_not_learnt(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A note that may not be written keeps the talk waiting, and there is no model."""
    root = workspace(tmp_path)
    async with Pipimem(root, model="offline") as pipimem:
        channel = await pipimem.channel("room")
        await channel.after_turn(None, [Message.user("we never deploy on Fridays")])
        path = root / "channels/room/MEMORY.md"
        path.write_text("- the roof is red\n", "utf-8")
        path.chmod(0o400)
    said = [record.message for record in caplog.records if "not learnt yet" in record.message]
    assert len(said) == 1
    assert "model" not in said[0]


async def test_a_channel_without_a_kind_is_warned_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Trust needs to know whether one person is the principal; who gave it is not asked again."""
    async with Pipimem(workspace(tmp_path), assistant=script(), settings=settings()) as pipimem:
        await pipimem.channel("known", kind="dm")
        assert caplog.messages == []
        await pipimem.channel("one")
        await pipimem.channel("two")
    [told] = [message for message in caplog.messages if "without a kind" in message]
    assert 'kind="dm"' in told
