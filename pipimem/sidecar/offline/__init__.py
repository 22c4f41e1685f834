"""The sidecar without a model: the same contracts, fulfilled by rules, in English and Chinese."""

from __future__ import annotations

from pipimem.sidecar.contracts import (
    Call,
    Consolidate,
    Consolidated,
    Fold,
    Folded,
    Refresh,
    Refreshed,
    Rerank,
    Reranked,
    Tidied,
    Tidy,
)
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words


class Offline:
    """`Assistant` by cue phrases and extraction: no network, no cost, the same answer every time.

    It keeps what is said in so many words ("remember …", "我们决定…") and misses what must be understood. `words` may be
    shared with recall; its dictionary loads on the first thought.
    """

    def __init__(self, words: Words | None = None) -> None:
        self._words = words

    @property
    def name(self) -> str:
        """As it stands in the journal."""
        return "offline"

    @property
    def paid(self) -> bool:
        """Rules cost nothing."""
        return False

    # The rules' tables are loaded with the first thought, so that importing pipimem stays quick.

    async def consolidate(self, task: Consolidate, call: Call) -> Consolidated:  # noqa: ARG002 - rules are never late
        """What is worth keeping of a window, and what happened in it."""
        from pipimem.sidecar.offline.consolidating import consolidated

        return consolidated(task, self._loaded())

    async def refresh(self, task: Refresh, call: Call) -> Refreshed:  # noqa: ARG002
        """What is going on now."""
        from pipimem.sidecar.offline.refreshing import refreshed

        return refreshed(task, self._loaded())

    async def tidy(self, task: Tidy, call: Call) -> Tidied:  # noqa: ARG002
        """What stands twice or in the wrong place."""
        from pipimem.sidecar.offline.tidying import tidied

        return tidied(task, self._loaded())

    async def fold(self, task: Fold, call: Call) -> Folded:  # noqa: ARG002
        """The weightiest bullets of a month."""
        from pipimem.sidecar.offline.folding import folded

        return folded(task, self._loaded())

    async def rerank(self, task: Rerank, call: Call) -> Reranked:  # noqa: ARG002
        """The order as it is: recall's own ranking is the best these rules know."""
        return Reranked(tuple(range(1, len(task.candidates) + 1)))

    def _loaded(self) -> Words:
        if self._words is None:
            self._words = Words(Segmenter())
        return self._words
