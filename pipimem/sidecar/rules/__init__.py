"""The assistant without a model, by rules that quote, and the fallback to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from anyio import to_thread

from pipimem.errors import BudgetSpent
from pipimem.sidecar.tasks import (
    Answer,
    Assistant,
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
        return await to_thread.run_sync(self._answered, task)  # 0.1 s for a long window

    def _answered(self, task: Task) -> Answer:
        # Imported with the first task, so that a workspace opens quickly.
        from pipimem.sidecar.rules.consolidating import consolidated
        from pipimem.sidecar.rules.refreshing import refreshed
        from pipimem.sidecar.rules.tidying import folded, tidied

        if self._words is None:
            self._words = Words(Segmenter())
        match task:
            case Consolidate(session=str(session)):
                sheet = refreshed(Refresh(task.now, session, task.window), self._words)
                return replace(consolidated(task, self._words), sheet=sheet.sections)
            case Consolidate():
                return consolidated(task, self._words)
            case Refresh():
                return refreshed(task, self._words)
            case Tidy():
                return tidied(task)
            case Fold():
                return folded(task, self._words)
            case Rerank():
                # Recall's own ranking is the best these rules know.
                return Reranked(tuple(range(1, len(task.candidates) + 1)))


@dataclass(slots=True)
class Fallback:
    """`Assistant` of one channel: `model`, or `rules` for a task that no budget holds.

    `name` is that of the one that answered last, and goes into the journal with what is committed:
    a channel has one task at a time.
    """

    model: Assistant
    rules: Assistant
    _last: Assistant | None = None

    @property
    def name(self) -> str:
        """The name of the one that answered last."""
        return (self._last or self.model).name

    @property
    def paid(self) -> bool:
        """Whether the model costs something."""
        return self.model.paid

    async def answer(self, task: Task, call: Call) -> Answer:
        """The model's answer, or that of the rules when the budget is spent; raises `SidecarError`.

        A `Rerank` goes to the model alone: it may run beside another task and commits nothing, and
        the local order is there without it.
        """
        if isinstance(task, Rerank):
            return await self.model.answer(task, call)
        self._last = self.model
        try:
            return await self.model.answer(task, call)
        except BudgetSpent:
            self._last = self.rules
            return await self.rules.answer(task, call)
