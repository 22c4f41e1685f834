"""The idle work of a workspace: who is looked at when, after restarts, beside turns and
compactions.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from pipimem import Channel, Clock, Message, Pipimem, Settings
from pipimem.errors import ModelUnavailable, WorkspaceError
from pipimem.llm.client import RetryingClient
from pipimem.llm.request import Completion, ModelRequest
from pipimem.notes.operations import Decision
from pipimem.notes.usage import Usage
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.maintenance import changed_files
from pipimem.runtime.maintenance.watch import Watch
from pipimem.runtime.maintenance.worker import Visit
from pipimem.settings import MaintenanceSettings, ModelSettings
from pipimem.sidecar.model import ModelAssistant
from pipimem.sidecar.prompts import Prompts
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Answer, Assistant, Call, Consolidated, HistoryItem, Task
from pipimem.store.channel import ChannelStore
from pipimem.store.schedule import Schedule
from pipimem.store.transcript.log import Transcript
from pipimem.store.workspace import WorkspaceStore
from pipimem.store.workspace_state import WorkspaceState

from tests.runtime.building import MORNING, Hands, read, settings, workspace, write
from tests.runtime.maintenance.test_scheduler import until
from tests.sidecar.conftest import unlimited

pytestmark = [pytest.mark.anyio, pytest.mark.both_loops]

GREETED = Consolidated(
    history=(HistoryItem("they said hello", ("m1",)),), sheet={"Current State": ("greeting",)}
)
QUICK = Settings(maintenance=MaintenanceSettings(enabled=False, idle_seconds=0.0))

# When the history of a morning's talk is closed.
MIDNIGHT = MORNING.replace(hour=0) + timedelta(days=1)


def script(looks: int = 9) -> Scripted:
    return Scripted({"consolidate": [GREETED] * looks})


async def talk(root: Path, *rooms: str, turns: int = 2, hands: Hands | None = None) -> None:
    """What a process left behind that was killed before it could think."""
    clock = hands.clock() if hands else Clock()
    async with Pipimem(root, settings=settings(), clock=clock) as pipimem:
        for room in rooms:
            channel = await pipimem.channel(room)
            for _ in range(turns):
                await channel.talk.append([Message.user("hello"), Message.assistant("hi")])
            channel._log.has_new_messages = False


@asynccontextmanager
async def watched(
    root: Path, assistant: Assistant, *, hands: Hands | None = None, settings: Settings = QUICK
) -> AsyncIterator[tuple[Pipimem, list[Visit]]]:
    """A process that does the idle work, and its looks so far."""
    visits: list[Visit] = []
    clock = hands.clock() if hands else Clock()
    async with (
        Pipimem(root, assistant=assistant, settings=settings, clock=clock) as pipimem,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(pipimem.watch, visits.append)
        yield pipimem, visits
        tasks.cancel_scope.cancel()


def ran(visit: Visit) -> list[str]:
    return [job.task for job in visit.ran if job.ran]


async def test_what_a_killed_process_left_is_found_by_the_next_one(tmp_path: Path) -> None:
    """Every channel of the workspace, also those nobody has opened since."""
    root = workspace(tmp_path)
    await talk(root, "room", "hall")
    async with watched(root, script()) as (_, visits):
        await until(lambda: len(visits) >= 2)
    assert sorted((visit.channel, *ran(visit)) for visit in visits) == [
        ("hall", "consolidate"),
        ("room", "consolidate"),
    ]
    assert "greeting" in read(root, "SESSION.md")


async def test_nothing_is_looked_at_again_that_did_not_change(tmp_path: Path) -> None:
    """The second start compares stamps, looks at the new channel alone, and rewrites no file of
    the other.
    """
    root, asked = workspace(tmp_path), script()
    await talk(root, "room")
    async with watched(root, asked) as (_, visits):
        await until(lambda: len(visits) >= 1)
    stamps = {path: path.stat().st_mtime_ns for path in (root / "channels" / "room").rglob("*")}
    await talk(root, "hall")
    async with watched(root, asked) as (_, visits):
        await until(lambda: bool(visits))
        await anyio.sleep(0.1)
    assert [visit.channel for visit in visits] == ["hall"]
    assert {
        path: path.stat().st_mtime_ns for path in (root / "channels" / "room").rglob("*")
    } == stamps


async def test_a_job_waiting_after_a_failure_comes_up_by_its_own_time(tmp_path: Path) -> None:
    """Also after a restart: not before its minute is over, and then by itself."""
    root, hands = workspace(tmp_path), Hands()
    await talk(root, "room")
    down = Scripted(
        {"refresh": [ModelUnavailable("down")], "consolidate": [ModelUnavailable("down")]}
    )
    async with watched(root, down, hands=hands) as (_, visits):
        await until(lambda: len(visits) >= 1)
    assert visits[0].due == hands.now + timedelta(minutes=1)
    hands.pass_by(seconds=50)
    async with watched(root, script(), hands=hands) as (_, visits):
        await anyio.sleep(0.1)
        assert visits == []
    hands.pass_by(seconds=10)
    async with watched(root, script(), hands=hands) as (_, visits):
        await until(lambda: len(visits) >= 1)
    assert ran(visits[0]) == ["consolidate"]


async def test_after_its_jobs_a_channel_is_due_when_the_next_pause_ends(tmp_path: Path) -> None:
    """News within ten minutes of the last sheet: the look finds closed gates and comes again when the
    first one opens.
    """
    root, hands = workspace(tmp_path), Hands()
    await talk(root, "room", hands=hands)
    async with watched(root, script(), hands=hands) as (pipimem, visits):
        await until(lambda: len(visits) >= 1)
        began, _ = hands.now, hands.pass_by(minutes=4)
        channel = await pipimem.channel("room")
        for _ in range(2):
            await channel.after_turn(None, [Message.user("and"), Message.assistant("so on")])
        await until(lambda: any(visit.due == began + timedelta(minutes=10) for visit in visits))
        channel._log.has_new_messages = False
    assert visits[0].due == MIDNIGHT
    assert [ran(visit) for visit in visits[1:]] == [[]] * (len(visits) - 1)


async def test_an_edit_by_hand_is_looked_at(tmp_path: Path) -> None:
    """In a channel that nobody has open; our own writing is no such news."""
    root = workspace(tmp_path)
    await talk(root, "room")
    async with watched(root, script()) as (_, visits):
        await until(lambda: len(visits) >= 1)
        await anyio.sleep(0.3)
        assert len(visits) == 1
        write(root, "MEMORY.md", "# Memory\n\n- typed by hand\n" + "- and more of it\n" * 400)
        await until(lambda: len(visits) > 1)
    assert visits[1].channel == "room"


async def test_what_an_older_save_lacked_stands_in_the_file_again(tmp_path: Path) -> None:
    """Also where no job is due: people are to see what their memory holds."""
    root = workspace(tmp_path)
    async with Pipimem(root, settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        await channel.notes.remember("Anna likes tea")
        older = read(root, "MEMORY.md")
        await channel.notes.remember("Bob likes coffee")
    async with watched(root, script()) as (_, visits):
        await until(lambda: len(visits) >= 1)
        write(root, "MEMORY.md", older.replace("\n", "\n- typed by hand\n", 1))
        await until(lambda: "Bob likes coffee" in read(root, "MEMORY.md"))
    assert "- typed by hand" in read(root, "MEMORY.md")
    assert [ran(visit) for visit in visits] == [[]] * len(visits)


async def test_a_closed_gate_reads_no_transcript_and_asks_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the jobs have run, or the talk was found too little, looking again costs counters and
    stamps.
    """
    root, asked = workspace(tmp_path), Scripted([GREETED, Consolidated(history=GREETED.history)])
    async with Pipimem(root, assistant=asked, settings=settings()) as pipimem:
        full, scant = await pipimem.channel("full"), await pipimem.channel("scant")
        for channel, turns in ((full, 2), (scant, 1)):
            for _ in range(turns):
                await channel.talk.append([Message.user("hello"), Message.assistant("hi")])
            await upkeep_of(channel).maintain()
            channel._log.has_new_messages = False
        before = len(asked.asked)
        with monkeypatch.context() as patch:
            patch.setattr(Transcript, "window", _refused)
            reasons = [
                [job.reason for job in await upkeep_of(channel).maintain()][:2]
                for channel in (full, scant)
            ]
            due = [channel._jobs.due() for channel in (full, scant)]
    assert reasons == [["nothing new", "nothing new"], ["nothing new", "too little new"]]
    assert not any(gate for gates in due for gate in gates.values())
    assert len(asked.asked) == before


def _refused(*_: object) -> None:
    raise AssertionError("the transcript was read")


# ── somebody waits
# ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Slow(Scripted):
    """Thinks for ever as long as `hangs`."""

    hangs: bool = True
    begun: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)

    async def answer(self, task: Task, call: Call) -> Answer:
        await self._think(call)
        return GREETED

    async def _think(self, call: Call) -> None:
        self.begun.append(call.channel)
        try:
            if self.hangs:
                await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(call.channel)
            raise


async def test_a_compaction_cancels_the_idle_thought_of_its_channel(tmp_path: Path) -> None:
    """At once, with nothing half committed; the compaction itself goes through."""
    root, slow = workspace(tmp_path), Slow()
    async with watched(root, slow) as (pipimem, _):
        channel = await spoken(pipimem)
        await until(lambda: slow.begun == ["room"])
        slow.hangs = False
        receipt = await channel.before_compaction()
        assert slow.cancelled == ["room"]
        assert (receipt.state, receipt.cursor) == ("consolidated", 4)
        tasks = [record.task for record in upkeep_of(channel).store.changes()]
    assert tasks == ["consolidate"]


async def test_a_commit_under_way_is_finished_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits goes on when the disk has it, and the rest of the idle work is left."""
    root, go, commit = workspace(tmp_path), threading.Event(), ChannelStore.commit
    under_way = threading.Event()

    def slow(store: ChannelStore, decision: Decision, *rest: object, **more: object) -> object:
        if decision.task == "consolidate":
            under_way.set()
            assert go.wait(60)
        return commit(store, decision, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ChannelStore, "commit", slow)
    await talk(root, "room")
    asked = script()
    async with watched(root, asked) as (pipimem, _):
        channel = await pipimem.channel("room")
        await until(under_way.is_set)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_release, go)
            async with channel._preempt():
                assert go.is_set()
                [record] = upkeep_of(channel).store.changes()
                assert record.task == "consolidate"
                assert len(asked.asked) == 1


async def _release(go: threading.Event) -> None:
    await anyio.sleep(0.05)
    go.set()


@pytest.mark.parametrize("way", ["reset", "close"])
async def test_so_do_a_reset_and_a_close(way: str, tmp_path: Path) -> None:
    """Whoever waits for the channel goes first."""
    root, slow = workspace(tmp_path), Slow()
    async with watched(root, slow) as (pipimem, _):
        channel = await spoken(pipimem)
        await until(lambda: slow.begun == ["room"])
        slow.hangs = False
        await getattr(channel, way)()
        assert slow.cancelled == ["room"]
    assert "they said hello" in read(root, "HISTORY.md")


async def test_a_turn_waits_for_no_idle_thought(tmp_path: Path) -> None:
    """Nor does it disturb one."""
    root, slow = workspace(tmp_path), Slow()
    async with watched(root, slow) as (pipimem, _):
        channel = await spoken(pipimem)
        await until(lambda: slow.begun == ["room"])
        with anyio.fail_after(120):
            turn = await channel.before_turn("hello again")
            await channel.after_turn(turn, [Message.user("hello again"), Message.assistant("hi")])
        assert (slow.begun, slow.cancelled) == (["room"], [])
        slow.hangs, channel._log.has_new_messages = False, False


async def test_a_compaction_finds_a_free_model_beside_the_thoughts_of_others(
    tmp_path: Path,
) -> None:
    """One model at a time, and an idle job has it: it is cancelled for the one who waits
    elsewhere.
    """
    root, slow = workspace(tmp_path), Slow()
    one = Settings(ModelSettings(concurrency=1), maintenance=QUICK.maintenance)
    async with watched(root, slow, settings=one) as (pipimem, _):
        await spoken(pipimem)
        await until(lambda: slow.begun == ["room"])
        other = await pipimem.channel("other")
        await other.talk.append([Message.user("hello"), Message.assistant("hi")])
        slow.hangs = False
        receipt = await other.before_compaction()
        assert receipt.state == "consolidated"
        assert slow.cancelled == ["room"]


class Deaf:
    """A door whose provider takes the request and never answers."""

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, ask: ModelRequest) -> Completion:
        self.asked += 1
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_cancelled_thought_is_in_the_usage_ledger(tmp_path: Path) -> None:
    """The provider may bill what nobody waits for: one attempt, one line."""
    root, door, used = workspace(tmp_path), Deaf(), list[Usage]()
    clock = Clock()
    begin = unlimited(used.append, clock.wall)
    model = ModelAssistant(RetryingClient(("test",), door, begin, clock.monotonic), Prompts())
    async with watched(root, model) as (pipimem, _):
        channel = await spoken(pipimem)
        await until(lambda: door.asked == 1)
        async with channel._preempt():
            assert [(usage.channel, usage.outcome != "ok") for usage in used] == [("room", True)]
        channel._log.has_new_messages = False


async def spoken(pipimem: Pipimem) -> Channel:
    """A channel with two turns."""
    channel = await pipimem.channel("room")
    for _ in range(2):
        await channel.after_turn(None, [Message.user("hello"), Message.assistant("hi")])
    return channel


# ── processes and memory
# ──────────────────────────────────────────────────────────────────────────────────────────


async def test_one_process_does_the_idle_work(tmp_path: Path) -> None:
    """The second one is told which; when the first has gone, it may."""
    root = workspace(tmp_path)
    async with watched(root, script()) as (_, visits):
        await talk(root, "room")
        await until(lambda: bool(visits))
        async with Pipimem(root, assistant=script(), settings=QUICK) as second:
            with pytest.raises(
                WorkspaceError,
                match=r"process \d+ \(.*\), since .* does the idle work of .* already",
            ):
                await second.watch()
    async with Pipimem(root, assistant=script(), settings=QUICK) as third:
        assert await third._idle.take_leadership()
        third._idle._leader_lock.give_back()


async def test_a_bot_takes_over_when_the_other_process_has_gone(tmp_path: Path) -> None:
    """It does no idle work of its own before."""
    root = workspace(tmp_path)
    beside = Settings(maintenance=MaintenanceSettings(idle_seconds=0.05))
    async with (
        watched(root, Slow()) as _,
        Pipimem(root, assistant=script(), settings=beside) as bot,
    ):
        channel = await bot.channel("room")
        await anyio.sleep(0.2)
        assert not bot._idle._begun
        channel._log.has_new_messages = False
    async with Pipimem(root, assistant=script(), settings=beside) as bot:
        channel = await spoken(bot)
        await until(lambda: "greeting" in read(root, "SESSION.md"))
        channel._log.has_new_messages = False


@pytest.mark.slow
async def test_channels_nobody_uses_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty were looked at, none is held."""
    monkeypatch.setattr(changed_files, "_PACE", 0.01)
    root = workspace(tmp_path)
    await talk(root, *(f"c{n}" for n in range(30)), turns=1)
    few = Settings(maintenance=MaintenanceSettings(enabled=False, idle_seconds=0.0, concurrency=4))
    async with watched(root, script(40), settings=few) as (_, visits):
        await until(lambda: len(visits) == 30)
        gc.collect()
        held = [
            one
            for one in gc.get_objects()
            if isinstance(one, ChannelStore) and one.workspace.root == root
        ]
    assert len(held) <= few.maintenance.concurrency


async def test_a_quiet_channel_gives_its_memory_back(tmp_path: Path) -> None:
    """Ten minutes after its last turn; the next one reads it again, and knows what this session
    was shown.
    """
    root, hands, seconds = workspace(tmp_path), Hands(), [0.0]
    clock = Clock(now=lambda: hands.now, wall=lambda: hands.now, monotonic=lambda: seconds[0])
    visits: list[Visit] = []
    async with (
        Pipimem(
            root, assistant=script(), settings=QUICK, clock=clock, keeps_context=True
        ) as pipimem,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(pipimem.watch, visits.append)
        channel = await pipimem.channel("room")
        await channel.notes.remember("The harbour review is on 2026-03-09")
        turn = await channel.before_turn("When is the harbour review?")
        await channel.after_turn(
            turn, [Message.user("When is the harbour review?"), Message.assistant("Monday")]
        )
        in_ten_minutes = hands.now + timedelta(minutes=10)
        await until(lambda: any(visit.due == in_ten_minutes for visit in visits))
        assert upkeep_of(channel).is_loaded
        # A visit while something is being read counts as a use: then ten minutes more pass.
        while upkeep_of(channel).is_loaded:
            seconds[0] += 600
            hands.pass_by(minutes=10)
            seen = len(visits)
            pipimem._idle.message_received("room")
            await until(lambda seen=seen: len(visits) > seen)
        again = await channel.before_turn("When is the harbour review?")
        found = await channel.recall("When is the harbour review?")
        channel._log.has_new_messages = False
        tasks.cancel_scope.cancel()
    assert "harbour review" in turn.context
    assert (again.first, again.context) == (False, "")
    assert "harbour review" in found.candidates[0].item.text


async def test_the_schedule_can_be_thrown_away(tmp_path: Path) -> None:
    """Without it everything is looked at once, and it stands again."""
    root, hands = workspace(tmp_path), Hands()
    await talk(root, "room", hands=hands)
    state = WorkspaceState(root / ".pipimem")
    for _ in range(2):
        async with watched(root, script(), hands=hands) as (_, visits):
            await until(lambda visits=visits: len(visits) >= 1)
        kept = Schedule.load(state).visits["room"]
        assert (kept.due, bool(kept.mark)) == (MIDNIGHT, True)
        state.database.path.unlink()


async def test_a_channel_that_breaks_holds_up_nobody(tmp_path: Path) -> None:
    """The look says what is wrong and comes again later; the others go on."""
    root = workspace(tmp_path)
    await talk(root, "broken", "room")
    lock = root / "channels" / "broken" / ".pipimem" / "lock"
    lock.unlink()
    lock.mkdir()
    async with watched(root, script()) as (_, visits):
        await until(lambda: len(visits) >= 2)
    told = {visit.channel: visit for visit in visits}
    assert "broken" in told["broken"].problem
    assert told["broken"].due is not None
    assert ran(told["room"]) == ["consolidate"]


async def test_a_folder_that_is_no_channel_is_passed_over(tmp_path: Path) -> None:
    """And so is one that vanishes."""
    root = workspace(tmp_path)
    (root / "channels" / "Not A Channel").mkdir(parents=True)
    await talk(root, "room")
    async with watched(root, script()) as (pipimem, visits):
        await until(lambda: bool(visits))
        await until(lambda: "Not A Channel" in pipimem._idle._files._schedule.visits)
    assert "Not A Channel" in Schedule.load(WorkspaceState(root / ".pipimem")).visits
    assert [visit.channel for visit in visits] == ["room"]


# ── what the watch tells
# ──────────────────────────────────────────────────────────────────────────────────────────


async def test_what_the_watch_missed_is_found_by_comparing_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once where the watch knows that it missed something, and every minute once a scan found
    what it did not tell.
    """
    root = workspace(tmp_path)
    monkeypatch.setattr(changed_files, "_SCAN_AFTER_A_LOSS", 0.05)
    await talk(root, "room", "hall")
    monkeypatch.setattr(Watch, "start", lambda _: "")  # it hears nothing, and does not say so
    async with watched(root, script()) as (pipimem, visits):
        await until(lambda: len(visits) >= 2)
        write(root, "MEMORY.md", "# Memory\n\n- typed by hand\n" + "- and more of it\n" * 400)
        await anyio.sleep(0.2)
        assert len(visits) == 2
        pipimem._idle._files._on_change(None)
        await until(lambda: len(visits) >= 3)
        assert visits[2].channel == "room"
        assert pipimem._idle._files._scan_every == 3_600.0
        write(root, "MEMORY.md", "# Memory\n\n- typed again\n" + "- and more of it\n" * 400)
        an_hour_ago = time.time() - 3_600
        for path in (root / "channels" / "room").rglob("*"):
            os.utime(path, (an_hour_ago, an_hour_ago))
        pipimem._idle._scheduler.expect("", 0.0)
        await until(lambda: len(visits) >= 4)
        assert pipimem._idle._files._scan_every == 60.0


async def test_a_channel_stirred_while_it_was_no_channel_yet_is_looked_at(tmp_path: Path) -> None:
    """Its folder comes before the file that says whose it is: the look that finds none is not
    the last.
    """
    root = workspace(tmp_path)
    async with watched(root, script()) as (pipimem, visits):
        await until(lambda: not pipimem._idle._scheduler._running)
        await talk(root, "A Room")
        await until(lambda: any(ran(visit) for visit in visits))
    assert {visit.channel for visit in visits} == {"A Room"}


@pytest.mark.parametrize(
    "now",
    [
        "0001-01-01T00:00:00+14:00",
        "0001-01-01T00:00:00-12:00",
        "2028-02-29T23:59:59.999999+08:00",
        "9999-12-31T23:59:59.999999+14:00",
        "9999-12-31T23:59:59.999999-12:00",
    ],
)
async def test_idle_work_and_turns_go_on_at_the_edges_of_the_calendar(
    tmp_path: Path, now: str
) -> None:
    """Whatever the clock says, with entries that end on the first and the last day there is."""
    root = workspace(tmp_path)
    await talk(root, "room")
    hands = Hands(datetime.fromisoformat("0001-01-01T00:00:00+00:00"))
    async with Pipimem(root, settings=settings(), clock=hands.clock()) as pipimem:
        channel = await pipimem.channel("room")
        for number, last in enumerate((date.min, date(2028, 2, 29), date.max)):
            await channel.notes.remember(f"gate {number} opens", until=last)
        hands.now = datetime.fromisoformat(now)
        turn = await channel.before_turn("which gate opens tomorrow? which opened last week?")
        assert turn.problem == ""
        await channel.after_turn(
            turn, [Message.user("remember that gate 3 opens next year"), Message.assistant("ok")]
        )
        await upkeep_of(channel).maintain(forced=True)
        assert (await channel.before_compaction()).state == "consolidated"
    async with watched(root, script(), hands=hands) as (_, visits):
        await until(lambda: bool(visits))
    assert [visit.problem for visit in visits] == [""] * len(visits)
    assert WorkspaceStore.open(root).failing() == []
