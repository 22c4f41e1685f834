"""Bugs beside the host: each is one logged error and a pause, is shown to the operator, and ends
nothing.
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import anyio
import pytest
from click.testing import CliRunner
from pipimem import Channel, Clock, Message, Pipimem, Settings
from pipimem.cli.commands import pipimem as commands
from pipimem.errors import StoreError
from pipimem.runtime import upkeep as channel_room
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.embeddings import Embeddings
from pipimem.runtime.maintenance import changed_files, service_queue
from pipimem.runtime.maintenance import worker as idle_room
from pipimem.runtime.maintenance.background import Background, Failure
from pipimem.runtime.maintenance.changed_files import ChangedFiles
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs
from pipimem.runtime.maintenance.scheduler import Scheduler
from pipimem.runtime.maintenance.service_queue import Embedding
from pipimem.runtime.maintenance.watch import Watch
from pipimem.runtime.maintenance.worker import MaintenanceWorker, Visit
from pipimem.runtime.pipimem import Lifetime
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.upkeep import ChannelUpkeep
from pipimem.settings import MaintenanceSettings
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Consolidated, HistoryItem, Refreshed
from pipimem.state.schedule import Problem
from pipimem.store import schedule
from pipimem.store.job_failures import Problems
from pipimem.store.schedule import Schedule
from pipimem.store.workspace import WorkspaceStore

from tests.meanings import Toy
from tests.runtime.building import Hands, workspace, write
from tests.runtime.maintenance.test_scheduler import until

pytestmark = [pytest.mark.anyio, pytest.mark.both_loops]
BESIDE = Settings(maintenance=MaintenanceSettings(idle_seconds=0.05))


class Bug(Exception):
    """What nobody expects."""


def broken(*_: object, **__: object) -> NoReturn:
    raise Bug("a bug that quotes a text")


async def broken_work(*_: object, **__: object) -> NoReturn:
    raise Bug("a bug that quotes a text")


def script() -> Scripted:
    answer = Consolidated(history=(HistoryItem("they said hello", ("m1",)),))
    return Scripted(
        {"refresh": [Refreshed({"Current State": ("greeting",)})] * 9, "consolidate": [answer] * 9}
    )


@asynccontextmanager
async def bot(root: Path, embedder: Toy | None = None) -> AsyncIterator[Channel]:
    """A host with idle work and an embedder beside it; a message of two turns was said."""
    async with (
        anyio.create_task_group() as host,
        Pipimem(root, assistant=script(), settings=BESIDE, embedder=embedder or Toy()) as pipimem,
    ):
        host.start_soon(anyio.sleep_forever)
        channel = await pipimem.channel("room")
        for _ in range(2):
            await talk(channel)
        yield channel
        await talk(channel)
        host.cancel_scope.cancel()


async def talk(channel: Channel) -> None:
    turn = await channel.before_turn("where is the broom?")
    assert turn.problem == ""
    await channel.after_turn(turn, [Message.user("the broom is gone"), Message.assistant("oh")])


async def failing(root: Path, job: str) -> Problem:
    """What is known of a job, once its failure is on the disk."""
    store = WorkspaceStore.open(root)

    def found() -> list[Problem]:
        return [problem for _, problem in store.failing() if problem.job == job]

    await until(lambda: bool(found()))
    return found()[0]


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


IDLE, SCAN, EMBED = "idle work", "comparing all files", "embedder (recall goes by words alone)"
# Every entry into the background: where it raises, and which job of which channel is told of.
ENTRIES: list[tuple[object, str, Callable[..., object], str, str]] = [
    (MaintenanceWorker, "run_beside", broken_work, IDLE, ""),
    (MaintenanceWorker, "take_leadership", broken_work, IDLE, ""),
    (MaintenanceWorker, "run", broken_work, IDLE, ""),
    (Schedule, "load", broken, IDLE, ""),
    (Scheduler, "run", broken_work, IDLE, ""),
    (Scheduler, "_dispatch", broken_work, IDLE, ""),
    (Scheduler, "_run_work", broken_work, IDLE, ""),
    (MaintenanceWorker, "_work", broken_work, IDLE, ""),
    (ChangedFiles, "scan", broken_work, SCAN, ""),
    (ChangedFiles, "_schedule_changed", broken_work, SCAN, ""),
    (schedule, "channel_stamps", broken, SCAN, ""),
    (Watch, "start", broken, "watch", ""),
    (Watch, "_report", broken, "watch", ""),
    (ChangedFiles, "_compare", broken, "watch", ""),
    (MaintenanceWorker, "_visit", broken_work, IDLE, "room"),
    (MaintenanceWorker, "_inspect", broken, IDLE, "room"),
    (ChannelJobs, "due", broken, IDLE, "room"),
    (idle_room, "next_opening", broken, IDLE, "room"),
    (ChannelUpkeep, "maintain", broken_work, IDLE, "room"),
    (ChannelJobs, "gate", broken_work, "refresh", "room"),
    (ChannelJobs, "refresh", broken_work, "refresh", "room"),
    (ChannelJobs, "consolidate", broken_work, "consolidate", "room"),
    (Embedding, "run", broken_work, "embedding", ""),
    (Embeddings, "baseline", broken, "embedding", ""),
    (service_queue, "embedded", broken_work, "embedding", "room"),
    (channel_room, "embedded", broken_work, "embedding", "room"),
    (RecallService, "add_vectors", broken, "embedding", "room"),
    (RecallService, "keep_vectors", broken, "embedding", "room"),
    (Toy, "passages", broken, EMBED, ""),
    (Toy, "queries", broken, EMBED, ""),
]


@pytest.mark.parametrize(
    ("place", "name", "bug", "job", "folder"), ENTRIES, ids=[f"{each[1]}" for each in ENTRIES]
)
async def test_no_entry_into_the_background_ends_the_host(
    place: object,
    name: str,
    bug: Callable[..., object],
    job: str,
    folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One error names job and channel, `status` and `doctor` show it without quoting, and turns
    go on.
    """
    root = workspace(tmp_path)
    write(
        root,
        "MEMORY.md",
        "## Facts\n\n- the kiln takes eleven hours\n- nobody has seen the broom\n",
    )
    monkeypatch.setattr(place, name, bug)
    if place is channel_room:  # where the same work succeeds elsewhere, the failure is over
        monkeypatch.setattr(service_queue, name, waiting)
    async with bot(root) as channel:
        async with anyio.create_task_group() as noise:
            noise.start_soon(edited, channel)
            problem = await failing(root, job)
            noise.cancel_scope.cancel()
        await talk(channel)
    assert (problem.channel, problem.times) == (folder, 1)
    assert problem.what.startswith("Bug")
    told = [
        error
        for error in errors(caplog)
        if error.startswith(f"{job} of {folder}:" if folder else f"{job}:")
    ]
    assert len(told) == 1
    status = CliRunner().invoke(commands, ["--workspace", str(root), "status"])
    doctor = CliRunner().invoke(commands, ["--workspace", str(root), "doctor"])
    assert f"{job} failed at" in status.stderr
    assert (f"{job} failed at" in " ".join(doctor.stdout.split()), doctor.exit_code) == (True, 1)
    assert "quotes" not in status.output + doctor.output


async def waiting(*_: object, **__: object) -> None:
    """Neither fails nor succeeds."""
    await anyio.sleep_forever()


async def edited(channel: Channel) -> None:
    """Edits by hand and questions until cancelled: what fails may wait for one."""
    number = 0
    while True:
        number += 1
        await anyio.to_thread.run_sync(
            (upkeep_of(channel).store.folder / "MEMORY.md").write_text,
            f"## Facts\n\n- the kiln takes {number} hours\n- nobody has seen the broom\n",
        )
        await channel.before_turn(f"is glowbox {number} ready?")
        await anyio.sleep(0.05)


async def test_a_job_that_fails_stops_no_other_and_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The other jobs run at once, the same bug is logged once, and a success ends it."""
    root, hands = workspace(tmp_path), Hands()
    seconds = 0.0
    clock = Clock(now=lambda: hands.now, wall=lambda: hands.now, monotonic=lambda: seconds)
    refresh = ChannelJobs.refresh
    monkeypatch.setattr(ChannelJobs, "refresh", broken_work)
    off = replace(BESIDE, maintenance=MaintenanceSettings(enabled=False))
    async with Pipimem(root, assistant=script(), settings=off, clock=clock) as pipimem:
        channel = await pipimem.channel("room")
        for _ in range(2):
            await talk(channel)
        first = {job.task: job for job in await upkeep_of(channel).maintain()}
        assert (first["refresh"].ran, first["consolidate"].ran) == (False, True)
        assert first["refresh"].reason.startswith("Bug")
        again = {job.task: job.reason for job in await upkeep_of(channel).maintain()}
        assert again["refresh"] == "waiting after a failure"
        seconds = 60.0
        await upkeep_of(channel).maintain()
        assert (await failing(root, "refresh")).times == 2
        monkeypatch.setattr(ChannelJobs, "refresh", refresh)
        seconds = 60.0 + 119.0
        assert {job.task: job.ran for job in await upkeep_of(channel).maintain()}[
            "refresh"
        ] is False
        seconds = 60.0 + 120.0
        assert {job.task: job.ran for job in await upkeep_of(channel).maintain()}["refresh"] is True
    assert WorkspaceStore.open(root).failing() == []
    assert len(errors(caplog)) == 1


async def test_a_reranker_with_a_bug_leaves_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is no bug of the turn, and is not asked again at once."""
    from tests.journeys.test_reranking import QUESTION, asked, injected

    asks: list[object] = []

    async def bug(*given: object) -> NoReturn:
        asks.append(given)
        raise Bug("in the reranker")

    monkeypatch.setattr("pipimem.runtime.turn_recall.rerank", bug)
    async with asked(tmp_path, Scripted({}, paid=True)) as channel:
        for _ in range(2):
            turn = await channel.before_turn(QUESTION)
            assert (len(injected(turn.context)), turn.problem) == (8, "")
    assert len(asks) == 1
    (told,) = errors(caplog)
    assert told.startswith("rerank of room: Bug")


@pytest.mark.parametrize(
    "vectors",
    [None, [], [[]], ["words"], [[float("nan")] * 8], [[1.0], [1.0, 2.0]], [[[1.0]]], 7],
)
async def test_vectors_that_are_none_are_no_bug_of_the_turn(
    vectors: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recall goes by words."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", "## Facts\n\n- nobody has seen the broom\n")
    for method in ("queries", "passages"):
        monkeypatch.setattr(Toy, method, lambda _self, _texts: vectors)
    async with bot(root) as channel:
        assert (await failing(root, EMBED)).times == 1
        turn = await channel.before_turn("who has seen the broom?")
        assert (len(turn.recall.candidates), turn.problem) == (1, "")  # type: ignore[union-attr]


async def test_a_watch_whose_thread_dies_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the pause; what was missed in between is found."""
    root = workspace(tmp_path)
    report, told = Watch._report, list[Path]()

    def once(self: Watch, channels: Path, path: Path) -> None:
        told.append(path)
        if len(told) == 1:
            raise Bug("once")
        report(self, channels, path)

    monkeypatch.setattr(Watch, "_report", once)
    monkeypatch.setattr("pipimem.runtime.maintenance.background._BACKOFF", (0.0,))
    monkeypatch.setattr(changed_files, "_SCAN_AFTER_A_LOSS", 0.05)
    async with bot(root) as channel:
        await until(lambda: len(told) >= 1)
        number = 0
        while len(told) < 2:  # heard again
            number += 1
            (upkeep_of(channel).store.folder / "HISTORY.md").write_text(f"- {number}\n")
            await anyio.sleep(0.05)


def test_watching_leaves_the_warnings_of_the_host_alone(tmp_path: Path) -> None:
    """No filter is added, and none is needed: with warnings as errors a new folder is heard."""
    heard: list[str | None] = []
    (tmp_path / "channels").mkdir()
    watch = Watch(tmp_path / "channels", heard.append)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        assert watch.start() == ""
        assert list(warnings.filters) == before
        import time

        for number in range(20):
            (tmp_path / "channels" / f"room{number}" / ".pipimem" / "versions").mkdir(parents=True)
        until_there = time.monotonic() + 30
        while "room19" not in heard and time.monotonic() < until_there:
            time.sleep(0.01)
        (tmp_path / "channels" / "room19" / "MEMORY.md").write_text("- x\n")
        while heard[-1] != "room19" and time.monotonic() < until_there:
            time.sleep(0.01)
        assert not watch.is_unavailable
    watch.stop()
    assert "room19" in heard


# ── the room itself
# ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
async def test_a_bug_in_what_guards_the_background_does_not_end_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the guard itself raises, that is one logged error, and turns go on."""
    monkeypatch.setattr(Background, "keep", broken_work)
    async with bot(workspace(tmp_path)) as channel:
        await until(lambda: bool(errors(caplog)))
        await talk(channel)
    [told] = errors(caplog)
    assert told.startswith("the work beside the host ended: ExceptionGroup\n")
    assert "quotes" not in told


def test_work_that_was_cancelled_before_it_began_can_be_ended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """By the host, which cancels all tasks: nobody waits for it for ever, and it is told."""

    async def work() -> None:
        raise AssertionError

    async def host() -> bool:
        lifetime = await Lifetime.started(work)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0)
        await asyncio.wait_for(lifetime.end(), 5)
        return lifetime.has_ended

    assert asyncio.run(host())
    assert [each.getMessage() for each in caplog.records if each.name == "pipimem"] == [
        "the work beside the host never began"
    ]


async def test_a_watch_that_loses_a_thread_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning, and it begins anew: its library ends a thread without a word to us."""
    monkeypatch.setattr(Watch, "is_unavailable", property(lambda _: len(starts) == 1))
    starts, start = list[int](), Watch.start

    def counted(watch: Watch) -> str:
        starts.append(1)
        return start(watch)

    monkeypatch.setattr(Watch, "start", counted)
    monkeypatch.setattr(changed_files, "_SCAN_EVERY", 0.05)
    async with bot(workspace(tmp_path)):
        await until(lambda: len(starts) >= 2)
    told = [each.getMessage() for each in caplog.records if "thread of the watch" in each.msg]
    assert told == ["a thread of the watch ended: the watch begins anew"]


async def test_what_is_passed_on_is_raised(tmp_path: Path) -> None:
    """And noted nowhere."""
    background = Background(Clock(), WorkspaceStore.open(workspace(tmp_path)).problems)

    async def full() -> None:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError):
        await background.attempt("tidy", full, "room", passes=(StoreError,))
    assert isinstance(await background.attempt("tidy", full, "room"), Failure)
    assert WorkspaceStore.open(tmp_path / "workspace").problems.all()[0].what == "the disk is full"


async def test_news_do_not_shorten_the_pause_after_a_bug() -> None:
    """A full disk may be mended meanwhile, and is asked again when there is something new."""
    background = Background(Clock(monotonic=lambda: 5.0))

    async def full() -> None:
        raise StoreError("the disk is full")

    assert background.pause_after_bug(IDLE, "room") == 0
    await background.attempt(IDLE, full, "room")
    assert (background.pause(IDLE, "room"), background.pause_after_bug(IDLE, "room")) == (60, 0)
    await background.attempt(IDLE, broken_work, "room")
    assert background.pause_after_bug(IDLE, "room") == 120
    assert background.pause_after_bug(IDLE, "hall") == 0
    await background.attempt(IDLE, nothing, "room")
    assert background.pause_after_bug(IDLE, "room") == 0


async def test_a_disk_that_keeps_no_problem_is_no_problem(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has it all the same."""
    root = workspace(tmp_path)
    (root / ".pipimem" / "state.db").mkdir()
    background = Background(Clock(), WorkspaceStore.open(root).problems)
    outcome = await background.attempt("tidy", broken_work, "room")
    assert isinstance(outcome, Failure)
    assert (outcome.pause, len(errors(caplog))) == (60.0, 1)


async def test_what_cannot_be_noted_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`status` and `doctor` are silent then: the log says so."""
    root = workspace(tmp_path)
    (root / ".pipimem" / "state.db").mkdir()
    background = Background(Clock(), WorkspaceStore.open(root).problems)
    for job in ("tidy", "fold"):
        await background.attempt(job, broken_work, "room")
    told = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.getMessage().partition(": ")[0] for record in told] == [
        "the failures of background jobs are not kept"
    ]
    assert told[0].exc_info is None  # the sentence is ours and says what helps


async def test_a_bug_in_the_schedulers_loop_does_not_end_the_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One logged error, a pause, and it goes on, with the leader lock still its own."""
    root, step, calls = workspace(tmp_path), Scheduler._next, list[int]()
    visits: list[Visit] = []

    def at_first(scheduler: Scheduler) -> str | None:
        calls.append(1)
        return broken() if len(calls) <= 2 else step(scheduler)

    monkeypatch.setattr(Scheduler, "_next", at_first)
    monkeypatch.setattr("pipimem.runtime.maintenance.background._BACKOFF", (0.001,))
    off = replace(BESIDE, maintenance=MaintenanceSettings(enabled=False, idle_seconds=0.0))
    async with (
        Pipimem(root, assistant=script(), settings=off) as pipimem,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(pipimem.watch, visits.append)
        for _ in range(2):
            await talk(await pipimem.channel("room"))
        await until(lambda: any(job.ran for visit in visits for job in visit.ran))
        tasks.cancel_scope.cancel()
    assert len(errors(caplog)) == 1


async def test_who_is_told_of_a_look_may_end_the_watch(tmp_path: Path) -> None:
    """What `report` raises is the caller's own."""
    root = workspace(tmp_path)
    off = replace(BESIDE, maintenance=MaintenanceSettings(enabled=False, idle_seconds=0.0))
    async with Pipimem(root, assistant=script(), settings=off) as pipimem:
        await talk(await pipimem.channel("room"))
        with pytest.raises(Bug), anyio.fail_after(60):
            await pipimem.watch(broken)


async def test_a_bug_in_noting_a_failure_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is the last line: behind it stands the host."""
    for name in ("keep", "remove", "all"):
        monkeypatch.setattr(Problems, name, broken)
    background = Background(Clock(), WorkspaceStore.open(workspace(tmp_path)).problems)
    assert isinstance(await background.attempt("tidy", broken_work, "room"), Failure)
    assert await background.attempt("tidy", nothing, "room") is None
    assert len(errors(caplog)) == 1


async def nothing() -> None:
    pass
