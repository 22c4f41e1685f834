"""Work on channels' recall in the background: one channel after the other, each as it is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
from anyio import to_thread

from pipimem.runtime.embeddings import Embeddings
from pipimem.runtime.maintenance.background import Background
from pipimem.runtime.recall_service import RecallService

# The jobs, as the operator reads of them.
WARMING = "transcript index"
EMBEDDING = "embedding"
# The local embedder takes half a second for so many; what it gave is used from then on.
_AT_ONCE = 32


class ServiceQueue:
    """One workspace's task that does a job for each channel that it is requested for."""

    def __init__(
        self,
        job: str,
        work: Callable[[RecallService], Awaitable[None]],
        background: Background,
    ) -> None:
        self._job, self._work, self._background = job, work, background
        self._waiting: dict[int, RecallService] = {}
        self._news = anyio.Event()

    def request(self, service: RecallService) -> None:
        """There may be something to do for a channel."""
        self._waiting[id(service)] = service
        self._news.set()

    async def run(self) -> None:
        """Do what is requested until cancelled; a channel that failed is skipped for its pause."""
        while True:
            while self._waiting:
                name, service = next(iter(self._waiting.items()))
                del self._waiting[name]
                folder = service.store.folder.name
                if not self._background.pause(self._job, folder):
                    work = partial(self._work, service)
                    await self._background.attempt(self._job, work, folder)
                    await self._background.note_success(self._job)
            self._news = anyio.Event()
            await self._news.wait()


class Warming(ServiceQueue):
    """Keeps the transcript indexes of the channels in use up to their transcripts."""

    def __init__(self, background: Background) -> None:
        super().__init__(WARMING, _warmed, background)

    def request(self, service: RecallService) -> None:
        """Messages may have come to a channel."""
        service.transcript_recall.expect()
        super().request(service)


async def _warmed(service: RecallService) -> None:
    await to_thread.run_sync(service.transcript_recall.warm)


class Embedding(ServiceQueue):
    """One workspace's task that embeds what readings say they lack."""

    def __init__(self, embeddings: Embeddings, background: Background) -> None:
        super().__init__(EMBEDDING, partial(embedded, embeddings=embeddings), background)
        self._embeddings = embeddings

    async def run(self) -> None:
        """Embed the wanted channels until cancelled; a failing one is skipped for its pause."""
        await to_thread.run_sync(self._embeddings.baseline)
        await super().run()


async def embedded(service: RecallService, embeddings: Embeddings) -> None:
    """Embed all that a channel lacks, and keep it."""
    while await to_thread.run_sync(service.embed_missing, embeddings, _AT_ONCE):
        pass
    await to_thread.run_sync(service.keep_vectors)
