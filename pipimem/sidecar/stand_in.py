"""The assistant that stands in: the model thinks while the budget lasts, the embedded rules when it is spent."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipimem.errors import BudgetSpent
from pipimem.sidecar.contracts import Answer, Assistant, Call, Rerank, Task


@dataclass(slots=True)
class StandIn:
    """`Assistant` of one channel: `model`, or `rules` for a thought that no budget holds; other errors are the model's.

    A channel thinks one thought at a time, so `name` is of whichever of the two thought last: what is committed then
    stands under it in the journal.
    """

    model: Assistant
    rules: Assistant
    _last: Assistant | None = field(default=None)

    @property
    def name(self) -> str:
        """Of the one that thought last."""
        return (self._last or self.model).name

    @property
    def paid(self) -> bool:
        """The model's."""
        return self.model.paid

    async def answer(self, task: Task, call: Call) -> Answer:
        """The model's answer, or the rules' one when the budget is spent. Raises what the model fails with otherwise.

        A `Rerank` is the model's alone: it may run beside a thought, commits nothing, and the local order is there
        without it.
        """
        if isinstance(task, Rerank):
            return await self.model.answer(task, call)
        self._last = self.model
        try:
            return await self.model.answer(task, call)
        except BudgetSpent:
            self._last = self.rules
            return await self.rules.answer(task, call)
