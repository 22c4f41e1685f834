"""Embeds changed entries in the background, a few at a time."""

from __future__ import annotations

from functools import partial

from anyio import to_thread

from pipimem.runtime.embeddings import Embeddings
from pipimem.runtime.maintenance.background import Background
from pipimem.runtime.maintenance.service_queue import ServiceQueue
from pipimem.runtime.recall_service import RecallService

# The job, as the operator reads of it.
JOB = "embedding"
# The local embedder takes half a second for so many; what it gave is used from then on.
AT_ONCE = 32


class Embedding(ServiceQueue):
    """One workspace's task that embeds what readings say they lack."""

    def __init__(self, embeddings: Embeddings, background: Background) -> None:
        super().__init__(JOB, partial(embedded, embeddings=embeddings), background)
        self._embeddings = embeddings

    async def run(self) -> None:
        """Embed the wanted channels until cancelled; a failing one is skipped for its pause."""
        await to_thread.run_sync(self._embeddings.baseline)
        await super().run()


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
