"""What operators and the maintenance worker do with a channel beyond its host."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from pipimem.errors import PipimemError, SidecarError, described
from pipimem.memory.gates import Gate
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Hole
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.maintenance.background import Background
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs
from pipimem.runtime.maintenance.jobs import DryRun, Ran, maintained
from pipimem.runtime.maintenance.service_queue import EMBEDDING, embedded
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.talk import TalkIndex
from pipimem.runtime.threads import finish_in_thread, run_in_thread
from pipimem.runtime.transcript_recall import update_search_cache
from pipimem.runtime.transcript_writer import TranscriptWriter
from pipimem.runtime.turn_recall import TurnRecall
from pipimem.store.caches.channel_caches import TurnFigures
from pipimem.store.channel import ChannelStore

# How many new messages a settling channel indexes at once: 0.3 s of a thread.
_INDEXED_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class JobRun:
    """One idle job: whether it ran, and why or why not."""

    task: str
    ran: bool
    reason: str


@dataclass(slots=True, eq=False)
class ChannelUpkeep:
    """Jobs, caches and memory of one channel; `used` is when it was last used, in monotonic s."""

    access: ChannelAccess
    jobs: ChannelJobs
    background: Background
    recall_service: RecallService
    turn_recall: TurnRecall
    writer: TranscriptWriter
    talk_index: TalkIndex
    used: float
    under_way: int = 0
    figures: TurnFigures = field(default_factory=TurnFigures)

    @property
    def id(self) -> str:
        """The platform's id of the conversation."""
        return self.access.id

    @property
    def store(self) -> ChannelStore:
        """The channel's files."""
        return self.access.store

    async def notes(self) -> Notes:
        """Return the notes as they stand on disk now."""
        return await self.access.read_notes()

    def gates(self) -> dict[str, Gate]:
        """Return the gate of every job, from counters and stamps alone; call in a thread."""
        return self.jobs.due()

    async def maintain(
        self, *, forced: bool = False, dry_run: bool = False, only: Collection[str] = ()
    ) -> list[Ran]:
        """Run due jobs, of the kinds `only` where it names some.

        `forced` skips pauses, `dry_run` asks models but commits nothing.
        """
        jobs = DryRun.of(self.jobs) if dry_run else self.jobs
        ran = await maintained(jobs, self.background, forced=forced, only=only)
        folder, embeddings = self.store.folder.name, self.recall_service.embeddings
        if (
            embeddings is not None
            and not dry_run
            and (forced or not self.background.pause(EMBEDDING, folder))
        ):
            await self.turn_recall.ready()
            await self.background.attempt(
                EMBEDDING, partial(embedded, self.recall_service, embeddings), folder
            )
        return ran

    async def fill_holes(self) -> dict[Hole, str]:
        """Retry each set-aside window; returns why it failed, empty for a closed hole."""
        results: dict[Hole, str] = {}
        timeout = self.access.settings.model.consolidate_timeout
        for hole in self.store.ledger.holes:
            try:
                await self.jobs.fill(hole, timeout)
                is_closed = hole not in self.store.ledger.holes
                results[hole] = "" if is_closed else "something else was committed meanwhile"
            except SidecarError as error:
                results[hole] = described(error)
        return results

    @contextmanager
    def use(self, now: float) -> Iterator[None]:
        """Note that somebody uses the channel; their index is not freed meanwhile."""
        self.used = now
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1

    @property
    def is_loaded(self) -> bool:
        """Whether what was read of the channel is still held in memory."""
        is_read = self.recall_service.is_loaded or self.store.is_loaded
        return is_read or self.talk_index.is_loaded

    async def flush(self) -> None:
        """Write recall counts and caches that wait for an idle moment."""
        await self.close_files()
        await self.keep_search(_INDEXED_AT_ONCE)

    async def close_files(self) -> None:
        """Sync the channel's files, and write the caches for the next start."""
        figures, self.figures = self.figures.and_then(self.writer.taken_figures()), TurnFigures()
        await finish_in_thread(self._write_caches, figures)

    def _write_caches(self, figures: TurnFigures) -> None:
        self.store.close()
        with suppress(PipimemError, OSError):  # a start without it takes longer, that is all
            if figures != TurnFigures():
                self.store.caches.add_figures(figures)
            if figures.turns:
                self.recall_service.transcript_recall.keep()
            self.recall_service.keep_words()
            self.recall_service.keep_vectors()

    async def keep_search(self, most: int | None = None) -> None:
        """Update the cached transcript index by at most `most` messages; ignores disk errors."""
        with suppress(PipimemError, OSError):
            await run_in_thread(
                update_search_cache, self.store, self.recall_service.vocabulary, most
            )

    async def unload(self) -> None:
        """Free the indexes and notes; the next use reads them again."""
        await self.talk_index.unload()
        unload: Callable[[], None] = self.recall_service.unload
        await run_in_thread(self.store.drop_cached if self.under_way else unload)
