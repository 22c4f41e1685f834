"""The idle jobs of one channel, run in order where their gates are open, or as a dry run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass, fields
from functools import partial
from typing import Self

from msgspec import Struct

from pipimem.errors import LockTimeout, PipimemError, SidecarError
from pipimem.memory.gates import AFTER_A_FAILURE, CLOSED, ELSEWHERE, IDLE
from pipimem.notes.apply import applied
from pipimem.notes.kinds import File
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Decision
from pipimem.observer import CorrelationScope, correlate
from pipimem.runtime.job_runner import Done, JobRunner
from pipimem.runtime.maintenance.background import Background, Failure
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs
from pipimem.store.commit.commit import Committed

# These take something out: what people want found must be known first.
_TAKING = ("expire", "tidy", "fold")


class Ran(Struct, frozen=True):
    """One job of a maintenance run: whether it ran, and why or why not."""

    task: str
    ran: bool
    reason: str
    done: tuple[Done, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it did not run although there was something to do."""
        return not self.ran and self.reason not in IDLE

    @property
    def is_news(self) -> bool:
        """Whether it ran or has just failed; a job that waits after a failure is no news."""
        return self.ran or self.reason not in CLOSED


@dataclass(slots=True)
class DryRun(ChannelJobs):
    """Jobs on notes in memory: each sees the changes of the one before, the disk none.

    A model that is asked is asked for real, and its calls are in the usage ledger.
    """

    _notes: Notes | None = None
    _archived: str = ""

    @classmethod
    def of(cls, channel_jobs: ChannelJobs) -> Self:
        """A dry run of the same jobs."""
        return cls(**{each.name: getattr(channel_jobs, each.name) for each in fields(JobRunner)})

    async def notes(self) -> Notes:
        """The notes as they would stand by now."""
        if self._notes is None:
            self._notes = await JobRunner.notes(self)
        return self._notes

    async def archive(self) -> Note:
        """The archive as it would stand by now."""
        standing = await JobRunner.archive(self)
        return Note.read(File.ARCHIVE, standing.text + self._archived, self.store.key)

    async def settle_edits(self) -> None:
        """Nothing: the files stay as they are."""

    async def commit(
        self,
        decision: Decision,
        actor: str = "",  # noqa: ARG002 - a dry run has no author
        based_on: Notes | None = None,  # noqa: ARG002 - nor does it last
        *,
        of_a_turn: bool = False,  # noqa: ARG002 - nor waits for another one
    ) -> Committed:
        """What would come of the decision."""
        notes = await self.notes()
        outcome = applied(notes, decision, self.clock.now())
        self._notes = notes.after(outcome)
        self._archived += outcome.archived
        return Committed(notes.ledger.sequence, outcome)


async def maintained(
    channel_jobs: ChannelJobs,
    background: Background,
    *,
    forced: bool = False,
    only: Collection[str] = (),
) -> list[Ran]:
    """Run the jobs that are due; one that fails waits and does not stop the others.

    `forced` skips the pauses, not the gates. `only` names the jobs that are run; empty for all.

    Raises only what says that the channel cannot be used now: `PipimemError`, `OSError`.
    """
    await channel_jobs.settle_edits()
    model = channel_jobs.settings.model
    jobs: dict[str, Callable[[], Awaitable[tuple[Done, ...]]]] = {
        # It brings SESSION.md up to date too; a refresh is for what it leaves, and while it rests.
        "consolidate": lambda: channel_jobs.consolidate(model.consolidate_timeout, boundary=False),
        "refresh": lambda: channel_jobs.refresh(model.refresh_timeout),
        "history": channel_jobs.close_day,
        "expire": channel_jobs.expire,
        "tidy": lambda: channel_jobs.tidy(model.tidy_timeout),
        "fold": lambda: channel_jobs.fold(model.fold_timeout, forced=forced),
    }
    folder = channel_jobs.store.folder.name
    ran = []
    for task, run in jobs.items():
        if only and task not in only:
            continue
        if background.pause(task, folder) and not forced:
            ran.append(Ran(task, ran=False, reason=AFTER_A_FAILURE))
            continue
        job = partial(_run_if_open, channel_jobs, task, run, forced=forced)
        # Until the failure is logged, under the id of the call that failed.
        with CorrelationScope():
            outcome = await background.attempt(task, job, folder, passes=(PipimemError, OSError))
        ran.append(
            Ran(task, ran=False, reason=outcome.why) if isinstance(outcome, Failure) else outcome
        )
    return ran


async def _run_if_open(
    channel_jobs: ChannelJobs,
    task: str,
    run: Callable[[], Awaitable[tuple[Done, ...]]],
    *,
    forced: bool,
) -> Ran:
    gate = await channel_jobs.gate(task, forced=forced)
    missing = await channel_jobs.must_questions_problem() if gate and task in _TAKING else ""
    if gate and not missing:
        return await _run(channel_jobs, task, gate.reason, run)
    return Ran(task, ran=False, reason=missing or gate.reason)


async def _run(
    channel_jobs: ChannelJobs,
    task: str,
    reason: str,
    run: Callable[[], Awaitable[tuple[Done, ...]]],
) -> Ran:
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(channel_jobs.exclusive())
        except LockTimeout:
            return Ran(task, ran=False, reason=ELSEWHERE)
        observation = channel_jobs.observers.of("job", channel_jobs.store.channel_id, task=task)
        try:
            with observation as operation:
                ran = await _job(task, reason, run)
                operation.outcome = "ok" if ran.ran else "failed"
                operation.records = sum(len(done.outcome.changes) for done in ran.done)
        finally:
            correlate(observation.operation.correlation)
        return ran


async def _job(task: str, reason: str, run: Callable[[], Awaitable[tuple[Done, ...]]]) -> Ran:
    try:
        return Ran(task, ran=True, reason=reason, done=await run())
    except SidecarError as error:
        return Ran(task, ran=False, reason=str(error))
