"""A channel with what operators and the maintenance worker may do beyond a host."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from anyio import to_thread

from pipimem.errors import PipimemError, SidecarError, described
from pipimem.memory.gates import Gate
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Hole
from pipimem.observer import Operation, OperationKind
from pipimem.runtime.channel import Channel
from pipimem.runtime.maintenance.jobs import DryRun, Ran, maintained
from pipimem.runtime.maintenance.service_queue import EMBEDDING, embedded
from pipimem.runtime.transcript_search import update_search_cache
from pipimem.runtime.turns import Receipt, Turn
from pipimem.settings import Settings
from pipimem.store.channel import ChannelStore

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Self = TypeVar("_Self", bound=Channel)

# How many new messages a settling channel indexes at once: 0.3 s of a thread.
_INDEXED_AT_ONCE = 2_000


def observed(
    kind: OperationKind, method: Callable[Concatenate[_Self, _P], Coroutine[Any, Any, _T]]
) -> Callable[Concatenate[_Self, _P], Coroutine[Any, Any, _T]]:
    """The method, each call of which is an operation; its result says what came of it."""

    @wraps(method)
    async def call(self: _Self, /, *args: _P.args, **options: _P.kwargs) -> _T:
        with self._jobs.observers.of(kind, self._store.channel_id) as operation:
            result = await method(self, *args, **options)
            note_result(operation, result)
        return result

    return call


def note_result(operation: Operation, result: object) -> None:
    """Fill in what a result says: how many entries were found or taken out, and the outcome."""
    match result:
        case Turn():
            operation.records = len(result.shown)
            if result.recall is None:
                operation.outcome = "silent"
        case Receipt():
            operation.outcome = result.state
        case tuple():
            operation.records = len(result)
        case dict():
            operation.records = sum(count for count in result.values() if isinstance(count, int))


@dataclass(slots=True, eq=False, repr=False)
class OpenChannel(Channel):
    """A `Channel` as the runtime makes it."""

    # What hosts wait for. Recalls, jobs, commits and calls of models are observed where they are
    # made: nobody makes them but the runtime.
    before_turn = observed("turn", Channel.before_turn)
    after_turn = observed("store_turn", Channel.after_turn)
    before_compaction = observed("compaction", Channel.before_compaction)
    search = observed("search", Channel.search)
    forget = observed("forget", Channel.forget)

    @property
    def store(self) -> ChannelStore:
        """The channel's files."""
        return self._store

    @property
    def settings(self) -> Settings:
        """The settings of the workspace."""
        return self._settings

    @property
    def used(self) -> float:
        """When it was last used, in seconds of the clock's monotonic scale."""
        return self._used

    def recall_in_threads(self) -> None:
        """Keep recall off the event loop, for a host that owes others an answer within 20 ms."""
        self._turn_recall.in_threads = True

    def gates(self) -> dict[str, Gate]:
        """The gate of every job, from counters and stamps alone; call in a thread."""
        return self._jobs.due()

    async def notes(self) -> Notes:
        """The channel's notes as they stand on disk now."""
        return await self._jobs.notes()

    async def maintain(
        self, *, forced: bool = False, dry_run: bool = False, only: Collection[str] = ()
    ) -> list[Ran]:
        """Run due jobs, of the kinds `only` where it names some.

        `forced` skips pauses, `dry_run` asks models but commits nothing.
        """
        jobs = DryRun.of(self._jobs) if dry_run else self._jobs
        ran = await maintained(jobs, self._background, forced=forced, only=only)
        folder, embeddings = self._store.folder.name, self._recall_service.embeddings
        if (
            embeddings is not None
            and not dry_run
            and (forced or not self._background.pause(EMBEDDING, folder))
        ):
            await self._turn_recall.ready()
            await self._background.attempt(
                EMBEDDING, partial(embedded, self._recall_service, embeddings), folder
            )
        return ran

    async def fill_holes(self) -> dict[Hole, str]:
        """Retry each set-aside window; returns why it failed, empty for a closed hole."""
        results: dict[Hole, str] = {}
        for hole in self._store.ledger.holes:
            try:
                await self._jobs.fill(hole, self._settings.model.consolidate_timeout)
                is_closed = hole not in self._store.ledger.holes
                results[hole] = "" if is_closed else "something else was committed meanwhile"
            except SidecarError as error:
                results[hole] = described(error)
        return results

    def warm(self) -> None:
        """Have the transcript's index built beside whatever comes next."""
        self._request_warming(self._recall_service)

    @property
    def is_loaded(self) -> bool:
        """Whether what was read of the channel is still held in memory."""
        is_read = self._recall_service.is_loaded or self._store.is_loaded
        return is_read or self._transcripts is not None

    async def flush(self) -> None:
        """Write recall counts, a checkpoint and caches that wait for an idle moment."""
        await self._close()
        await self.keep_search(_INDEXED_AT_ONCE)

    async def keep_search(self, most: int | None = None) -> None:
        """Update the cached transcript index by at most `most` messages; ignores disk errors."""
        with suppress(PipimemError, OSError):
            await to_thread.run_sync(
                update_search_cache, self._store, self._recall_service.vocabulary, most
            )

    async def unload(self) -> None:
        """Free the indexes and notes; the next use reads them again."""
        async with self._searching:
            self._transcripts = None
        await to_thread.run_sync(
            self._store.drop_cached if self._under_way else self._recall_service.unload
        )


def opened(channel: Channel) -> OpenChannel:
    """The same object, as the type that the runtime made it of."""
    assert isinstance(channel, OpenChannel)
    return channel
