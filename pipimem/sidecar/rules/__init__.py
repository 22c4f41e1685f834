"""The assistant without a model, by rules that quote."""

from __future__ import annotations

from msgspec.structs import replace

from pipimem.sidecar.tasks import (
    Answer,
    Call,
    Consolidate,
    Fold,
    Refresh,
    Rerank,
    Reranked,
    Task,
    Tidy,
)
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter


class Offline:
    """`Assistant` by rules that choose sentences and quote them, with who and when.

    In English and Chinese, without network and cost; the same task has the same answer. `words` may
    be shared with recall; its dictionary loads with the first task.
    """

    name = "offline"
    paid = False

    def __init__(self, words: Words | None = None) -> None:
        self._words = words

    async def answer(self, task: Task, call: Call) -> Answer:  # noqa: ARG002 - rules are never late
        """The rules' answer; they never fail."""
        from anyio import to_thread  # recall uses rules too, and needs no event loop

        return await to_thread.run_sync(self._answered, task)  # 0.1 s for a long window

    def _answered(self, task: Task) -> Answer:
        # Imported with the first task, so that a workspace opens quickly.
        from pipimem.sidecar.rules import consolidating, refreshing, tidying

        if self._words is None:
            self._words = Words(Segmenter())
        match task:
            case Consolidate(session=str(session)):
                refresh = Refresh(task.now, session, task.window, task.before)
                refresh = Refresh(task.now, session, task.window, task.before)
                sheet = refreshing.refreshed(refresh, self._words)
                return replace(consolidating.consolidated(task, self._words), sheet=sheet.sections)
            case Consolidate():
                return consolidating.consolidated(task, self._words)
            case Refresh():
                return refreshing.refreshed(task, self._words)
            case Tidy():
                return tidying.tidied(task)
            case Fold():
                return tidying.folded(task, self._words)
            case Rerank():
                # Recall's own ranking is the best these rules know.
                return Reranked(tuple(range(1, len(task.candidates) + 1)))
