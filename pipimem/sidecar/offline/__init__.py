"""The sidecar without a model: the same contracts, fulfilled by rules that quote, in English and Chinese."""

from __future__ import annotations

from anyio import to_thread

from pipimem.sidecar.contracts import Answer, Call, Task
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words


class Offline:
    """`Assistant` by rules: they choose sentences, and write them as they were said, with who and when.

    No network, no cost, the same answer every time. `words` may be shared with recall; its dictionary loads on the
    first thought.
    """

    name = "offline"
    paid = False

    def __init__(self, words: Words | None = None) -> None:
        self._words = words

    async def answer(self, task: Task, call: Call) -> Answer:  # noqa: ARG002 - rules are never late
        """The rules' answer; they never fail."""
        return await to_thread.run_sync(self._answered, task)  # 0.1 s for a long window

    def _answered(self, task: Task) -> Answer:
        # Loaded with the first thought, so that importing pipimem stays quick.
        from pipimem.sidecar.offline.rules import by_rules

        if self._words is None:
            self._words = Words(Segmenter())
        return by_rules(task, self._words)
