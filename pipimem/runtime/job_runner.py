"""What all jobs of a channel share: notes, timeouts, commits and noted failures."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from pipimem.clock import Clock
from pipimem.errors import ModelTimeout, PipimemError, UnreadableNote
from pipimem.memory.regression import RegressionCheck, recall_cases
from pipimem.memory.window import Window
from pipimem.notes.kinds import NOTE_FILES
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes, Outcome
from pipimem.notes.operations import Author, Decision, Job, Progress, Tokens
from pipimem.notes.usage import Usage
from pipimem.observer import Observation, Observers, correlate
from pipimem.recall.budget import limits_of
from pipimem.runtime.maintenance.background import backoff
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings
from pipimem.sidecar.tasks import Assistant, Call
from pipimem.store.channel import ChannelStore
from pipimem.store.commit.commit import Committed
from pipimem.store.disk.fencing import under_job_fence
from pipimem.store.disk.files import read_text
from pipimem.store.workspace import REQUIRED
from pipimem.text.dates.bounds import later
from pipimem.text.secrets import redacted

T = TypeVar("T")

# A job that began before midnight counts with the day it ends on.
_LONGEST_JOB = timedelta(hours=1)


class Done(Struct, frozen=True):
    """A decision and what came of it."""

    decision: Decision
    outcome: Outcome


@dataclass(slots=True)
class JobRunner:
    """What all jobs of one channel share; `new_correlation` gives each call a new id."""

    store: ChannelStore
    assistant: Assistant
    settings: Settings
    clock: Clock
    new_correlation: Callable[[], str]
    vocabulary: Vocabulary
    observers: Observers = field(default_factory=Observers)

    def today(self) -> datetime:
        """The time probations are counted from: replayed talk has its chance from today on."""
        return max(self.clock.now(), self.clock.wall())

    @asynccontextmanager
    async def exclusive(self, timeout: float = 0.0) -> AsyncIterator[None]:
        """Keeps other hosts from the jobs of the channel; where one has begun, this one's end.

        What is decided under it counts only while it is held. Nothing on one host. Raises
        `LockTimeout` after `timeout` seconds.
        """
        fleet = self.store.workspace.fleet
        if fleet is None:
            yield
            return
        await to_thread.run_sync(self.store.make_channel)
        held = await to_thread.run_sync(fleet.hold_job_lock, self.store.folder, timeout)
        try:
            with under_job_fence(held.fence):
                yield
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(held.give_back)

    async def notes(self) -> Notes:
        """The notes as they stand on disk now, with what was recalled since the last commit."""
        return await to_thread.run_sync(lambda: self.store.with_pending_recalls(self.store.notes()))

    async def window(self, after: int, upto: int | None = None) -> list[Message]:
        """The transcript after a message number."""
        return await to_thread.run_sync(lambda: list(self.store.transcript.window(after, upto)))

    def with_kind(self, window: Window) -> Window:
        """Return the window with the channel's kind, and with whose word sets a rule."""
        return replace(
            window,
            is_dm=self.store.channel_folder.identity.kind == "dm",
            needs_second_voice=self.settings.groups.rules == "two",
        )

    async def archive(self) -> Note:
        """HISTORY.archive.md as it stands."""
        return await to_thread.run_sync(self.store.archive)

    async def settle_edits(self) -> None:
        """Record edits by hand, and have each file show what was kept beside them.

        What a save of an older text lacked is merged whenever notes are read; the file would show
        it only after the next commit.
        """
        if await to_thread.run_sync(_lacks_kept_lines, self.store):
            await to_thread.run_sync(self.store.record_edits, self.clock.wall())
        await self.record_seen_edits()

    async def record_seen_edits(self) -> None:
        """Record the edits that a turn has seen; the next one does what fails."""
        with suppress(PipimemError, OSError), anyio.CancelScope(shield=True):
            record = partial(self.store.record_edits, self.clock.wall(), only_seen=True)
            await to_thread.run_sync(record)

    async def commit(
        self,
        decision: Decision,
        actor: str = "",
        based_on: Notes | None = None,
        *,
        of_a_turn: bool = False,
    ) -> Committed:
        """Make a decision last; a commit that has begun is not cancelled half way.

        A decision made on the notes `based_on` is refused where something was forgotten since. One
        `of_a_turn` raises `LockTimeout` where another commit is under way.
        """
        if based_on is not None:
            decision = replace(
                decision,
                progress=replace(decision.progress, expect_forgotten=based_on.ledger.forgotten),
            )
        wall = self.clock.wall()
        who = actor or self.assistant.name
        with self.observed_commit(decision) as operation, anyio.CancelScope(shield=True):
            done = await to_thread.run_sync(
                lambda: self.store.commit(
                    decision, self.clock.now(), who, wall, of_a_turn=of_a_turn
                )
            )
            operation.records = len(done.outcome.changes)
        return done

    def observed_commit(self, decision: Decision) -> Observation:
        """The observation of a decision being committed."""
        task, correlation = decision.task, decision.correlation
        return self.observers.of(
            "commit", self.store.channel_id, task=task, correlation=correlation
        )

    async def committed(
        self, decision: Decision, based_on: Notes, call: Call | None = None, actor: str = ""
    ) -> Done:
        """Commit a decision made on the notes `based_on`, with the tokens that `call` cost."""
        if call is not None:
            now = self.clock.wall()
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            since, usages = min(midnight, later(now, -_LONGEST_JOB)), self.store.workspace.usages
            tokens = await to_thread.run_sync(
                lambda: spent(usages(since, call.channel), decision.task, call, f"{now:%Y-%m-%d}")
            )
            decision = replace(decision, tokens=tokens)
        return Done(decision, (await self.commit(decision, actor, based_on)).outcome)

    async def done(self, decision: Decision, call: Call, based_on: Notes, stamp: str = "") -> Done:
        """Commit the run of an idle job: it ran now and saw `stamp`; its failures are over."""
        ran = Job(ran=self.clock.now().isoformat(timespec="seconds"), stamp=stamp)
        return await self.committed(replace(decision, job=ran), based_on, call)

    async def checked(self, decision: Decision, notes: Notes) -> Decision:
        """The decision without what would make memory forget an answer that it has today."""
        if not decision.operations:
            return decision

        def without_lost() -> Decision:
            must = self.store.workspace.human_text(REQUIRED)
            queries = recall_cases(notes.ledger.asked, must)
            if not queries:
                return decision
            check = RegressionCheck(
                notes,
                self.clock.now(),
                queries,
                self.vocabulary.words,
                self.vocabulary.synonyms(),
                limits_of(self.settings.recall),
            )
            return check.without_losses(decision)

        return await to_thread.run_sync(without_lost)

    async def must_questions_problem(self) -> str:
        """Why what people want found cannot be asked for; empty where it can."""
        try:
            await to_thread.run_sync(self.store.workspace.human_text, REQUIRED)
        except UnreadableNote as error:
            return str(error)
        return ""

    async def failed(
        self, task: str, why: str, call: Call, based_on: Notes, progress: Progress | None = None
    ) -> None:
        """Commit the failure of a job, which then waits; `why` may quote messages."""
        notes, now = await self.notes(), self.clock.now()
        job = notes.ledger.jobs.get(task, Job())
        due = later(now, backoff(job.failures + 1)).isoformat(timespec="seconds")
        waiting = replace(job, failures=job.failures + 1, due=due)
        reason = f"failed: {redacted(why.removeprefix('failed: '))}"
        decision = Decision(
            task, Author.RULE, (), progress or Progress(), reason, call.correlation, job=waiting
        )
        await self.committed(decision, based_on, call)

    def call(self, timeout: float) -> Call:
        """The channel, a new correlation id and the timeout (seconds) of a model call."""
        call = Call(self.store.channel_id, self.new_correlation(), timeout)
        correlate(call.correlation)
        return call

    async def with_timeout(self, timeout: float, decide: Callable[[], Awaitable[T]]) -> T:
        """The result of `decide`. Raises `ModelTimeout` after `timeout` seconds."""
        try:
            with anyio.fail_after(timeout):
                return await decide()
        except TimeoutError as error:
            raise ModelTimeout(
                f"no answer within {timeout:g} s; raise the timeout in pipimem.toml, [model]"
            ) from error


def spent(lines: Iterable[Usage], task: str, call: Call, day: str) -> Tokens | None:
    """The tokens of a call's attempts, with all of its task in its channel on `day` (`2026-03-02`).

    Failed attempts count too. `None` for a call that cost nothing.
    """
    run = today = 0
    for usage in lines:
        tokens = usage.tokens_in + usage.tokens_out
        if usage.correlation == call.correlation:
            run += tokens
        if (usage.channel, usage.task) == (call.channel, task) and usage.time.startswith(day):
            today += tokens
    return Tokens(run, today) if run else None


def _lacks_kept_lines(store: ChannelStore) -> bool:
    """Whether a file has another text than the notes that are read of it."""
    notes, root = store.notes(), store.workspace.root
    readable = [file for file in NOTE_FILES if file not in store.unreadable()]
    return any(
        (read_text(store.folder / file, root) or "") != notes.note(file).text for file in readable
    )
