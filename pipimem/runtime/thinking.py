"""The frame of every thought of a channel: fresh notes in, a time limit around, a commit or a noted failure out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

import anyio
from anyio import to_thread

from pipimem.clock import Clock
from pipimem.errors import ModelTimeout, UnreadableNote
from pipimem.memory.questions import questions
from pipimem.memory.regression import Check
from pipimem.notes.files import File
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes, Outcome
from pipimem.notes.operations import Author, Decision, Job, Progress
from pipimem.runtime.background import backoff
from pipimem.runtime.reading import limits_of
from pipimem.runtime.spending import spent
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings
from pipimem.sidecar.contracts import Assistant, Call
from pipimem.store.channel import ChannelStore
from pipimem.store.commits.committing import Committed
from pipimem.text.dates.bounds import later
from pipimem.text.secrets import redacted

T = TypeVar("T")

# A thought that began before midnight counts whole.
_LONGEST_THOUGHT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Done:
    """A decision and what came of it."""

    decision: Decision
    outcome: Outcome


@dataclass(slots=True)
class Thinking:
    """What all thoughts of one channel share; `correlate` names each with a new id."""

    store: ChannelStore
    assistant: Assistant
    settings: Settings
    clock: Clock
    correlate: Callable[[], str]
    vocabulary: Vocabulary
    group: bool = False

    def today(self) -> datetime:
        """What probations are counted by: talk of long ago that is taken in today has its chance from today on."""
        return max(self.clock.now(), self.clock.wall())

    async def notes(self) -> Notes:
        """The notes as they stand on disk now, with what was recalled since the last commit."""
        return await to_thread.run_sync(lambda: self.store.counted(self.store.notes()))

    async def window(self, after: int, upto: int | None = None) -> list[Message]:
        """The transcript after a message number."""
        return await to_thread.run_sync(lambda: list(self.store.transcript.window(after, upto)))

    async def archive(self) -> Note:
        """HISTORY.archive.md as it stands."""
        text = await to_thread.run_sync(self.store.archive_text)
        return Note.read(File.ARCHIVE, text, self.store.key)

    async def commit(
        self, decision: Decision, actor: str = "", seen: Notes | None = None
    ) -> Committed:
        """Make a decision last; a commit that has begun is not cancelled half way.

        One that was thought about the notes `seen` comes to nothing where something was forgotten since.
        """
        if seen is not None:
            decision = replace(
                decision,
                progress=replace(decision.progress, expect_forgotten=seen.ledger.forgotten),
            )
        wall = self.clock.wall()
        who = actor or self.assistant.name
        with anyio.CancelScope(shield=True):
            done = await to_thread.run_sync(
                lambda: self.store.commit(decision, self.clock.now(), who, wall)
            )
        return done  # noqa: RET504 - inside the scope mypy cannot tell that it does not swallow

    async def committed(
        self, decision: Decision, seen: Notes, call: Call | None = None, actor: str = ""
    ) -> Done:
        """Commit what was thought about the notes `seen`, with what the call cost where there was one."""
        if call is not None:
            now = self.clock.wall()
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            lines = self.store.workspace.books.tail(min(midnight, later(now, -_LONGEST_THOUGHT)))
            tokens = await to_thread.run_sync(
                lambda: spent(lines.fresh(), decision.task, call, f"{now:%Y-%m-%d}")
            )
            decision = replace(decision, tokens=tokens)
        return Done(decision, (await self.commit(decision, actor, seen)).outcome)

    async def done(self, decision: Decision, call: Call, seen: Notes) -> Done:
        """Commit the run of an idle job: the job has run now, and its failures are over."""
        ran = Job(ran=self.clock.now().isoformat(timespec="seconds"))
        return await self.committed(replace(decision, job=ran), seen, call)

    async def checked(self, decision: Decision, notes: Notes) -> Decision:
        """The decision without what would make memory forget an answer that it has today."""
        if not decision.operations:
            return decision

        def held() -> Decision:
            must = self.store.workspace.human_text("recall.must")
            asked, words, synonyms = (
                questions(notes.ledger.asked, must),
                self.vocabulary.words,
                self.vocabulary.synonyms(),
            )
            limits = limits_of(self.settings.recall)
            return (
                Check(notes, self.clock.now(), asked, words, synonyms, limits).held(decision)
                if asked
                else decision
            )

        return await to_thread.run_sync(held)

    async def unasked(self) -> str:
        """Why what people want found cannot be asked for; empty where it can."""
        try:
            await to_thread.run_sync(self.store.workspace.human_text, "recall.must")
        except UnreadableNote as error:
            return str(error)
        return ""

    async def failed(
        self, task: str, why: str, call: Call, seen: Notes, progress: Progress | None = None
    ) -> None:
        """Note a job's failure, so that it waits before it tries again; why may quote what it thought about."""
        notes, now = await self.notes(), self.clock.now()
        job = notes.ledger.jobs.get(task, Job())
        due = later(now, backoff(job.failures + 1)).isoformat(timespec="seconds")
        waiting = replace(job, failures=job.failures + 1, due=due)
        said = f"failed: {redacted(why.removeprefix('failed: '))}"
        decision = Decision(
            task, Author.RULE, (), progress or Progress(), said, call.correlation, job=waiting
        )
        await self.committed(decision, seen, call)

    def call(self, timeout: float) -> Call:
        """The frame of a new thought."""
        return Call(self.store.channel_id, self.correlate(), timeout)

    async def within(self, timeout: float, think: Callable[[], Awaitable[T]]) -> T:
        """The thought, or `ModelTimeout` when it took too long."""
        try:
            with anyio.fail_after(timeout):
                return await think()
        except TimeoutError as error:
            raise ModelTimeout(
                f"no answer within {timeout:g} s; raise the timeout in pipimem.toml, [model]"
            ) from error
