"""Embeds changed entries in the background, a few at a time."""

from __future__ import annotations

from functools import partial

import anyio
from anyio import to_thread

from pipimem.runtime.embeddings import Embeddings
from pipimem.runtime.maintenance.background import Background
from pipimem.runtime.recall_service import RecallService

# The job, as the operator reads of it.
JOB = "embedding"
# The local embedder takes half a second for so many; what it gave is used from then on.
AT_ONCE = 32


class Embedding:
    """One workspace's task that embeds what readings say they lack."""

    def __init__(self, embeddings: Embeddings, background: Background) -> None:
        self._embeddings, self._background = embeddings, background
        self._waiting: dict[int, RecallService] = {}
        self._news = anyio.Event()

    def request(self, service: RecallService) -> None:
        """A channel's entries may have changed."""
        self._waiting[id(service)] = service
        self._news.set()

    async def run(self) -> None:
        """Embed the wanted channels until cancelled; a failing one is skipped for its pause."""
        await to_thread.run_sync(self._embeddings.baseline)
        while True:
            while self._waiting:
                name, service = next(iter(self._waiting.items()))
                del self._waiting[name]
                folder = service.store.folder.name
                if not self._background.pause(JOB, folder):
                    await self._background.attempt(
                        JOB, partial(embedded, service, self._embeddings), folder
                    )
                    await self._background.note_success(JOB)
            self._news = anyio.Event()
            await self._news.wait()


async def embedded(service: RecallService, embeddings: Embeddings) -> None:
    """Embed all that a channel lacks, and keep it."""
    while await to_thread.run_sync(embed_missing, service, embeddings, AT_ONCE):
        pass
    await to_thread.run_sync(service.keep_vectors)


def embed_missing(service: RecallService, embeddings: Embeddings, most: int | None = None) -> bool:
    """Embed up to `most` texts without vectors; whether any were, so more may follow."""
    texts = service.texts_without_vectors(most)
    vectors = embeddings.passages(texts) if texts else None
    if vectors is None:
        return False
    service.add_vectors(texts, vectors)
    return True
