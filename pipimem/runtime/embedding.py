"""Entries are embedded beside the turns, a few at a time: after they changed, never while somebody waits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio
from anyio import to_thread

from pipimem.runtime.background import Background
from pipimem.runtime.meaning import Meaning
from pipimem.runtime.reading import Reading

# The job, as the operator reads of it.
JOB = "embedding"
# The local embedder takes half a second for so many; what was learnt is used from then on.
AT_ONCE = 32


class Embedding:
    """One workspace's task that embeds what readings say they lack."""

    def __init__(self, meaning: Meaning, background: Background) -> None:
        self._meaning, self._background = meaning, background
        self._waiting: dict[int, Reading] = {}
        self._news = anyio.Event()

    def wanted(self, reading: Reading) -> None:
        """A channel's entries may have changed."""
        self._waiting[id(reading)] = reading
        self._news.set()

    async def run(self) -> None:
        """Embed what is wanted, until cancelled; a channel that fails is passed over until its pause is over."""
        await to_thread.run_sync(self._meaning.yardstick)
        while True:
            while self._waiting:
                name, reading = next(iter(self._waiting.items()))
                del self._waiting[name]
                folder = reading.store.folder.name
                if not self._background.pause(JOB, folder):
                    await self._background.attempt(
                        JOB, partial(embedded, reading, self._meaning), folder
                    )
                    await self._background.went_well(JOB)
            self._news = anyio.Event()
            await self._news.wait()


async def embedded(reading: Reading, meaning: Meaning) -> None:
    """Embed all that a channel lacks, and keep it."""
    while texts := await to_thread.run_sync(reading.lacking, AT_ONCE):
        vectors = await to_thread.run_sync(meaning.passages, texts)
        if vectors is None:
            return
        await to_thread.run_sync(reading.learnt, texts, vectors)
    await to_thread.run_sync(reading.keep_vectors)


def embedded_now(reading: Reading, meaning: Meaning, report: Callable[[int], None]) -> None:
    """The same at once and without a loop, for the command line; nothing is kept. `report` is told how many come first."""
    meaning.yardstick()
    texts = reading.lacking(None)
    if texts:
        report(len(texts))
        vectors = meaning.passages(texts)
        if vectors is not None:
            reading.learnt(texts, vectors)
