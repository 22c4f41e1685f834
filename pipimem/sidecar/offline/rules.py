"""Which rules fulfil which task."""

from __future__ import annotations

from pipimem.sidecar.contracts import (
    Answer,
    Consolidate,
    Fold,
    Refresh,
    Rerank,
    Reranked,
    Task,
    Tidy,
)
from pipimem.sidecar.offline.consolidating import consolidated
from pipimem.sidecar.offline.folding import folded
from pipimem.sidecar.offline.refreshing import refreshed
from pipimem.sidecar.offline.tidying import tidied
from pipimem.text.words import Words


def by_rules(task: Task, words: Words) -> Answer:
    """The answer to a task without a model."""
    match task:
        case Consolidate():
            return consolidated(task, words)
        case Refresh():
            return refreshed(task, words)
        case Tidy():
            return tidied(task)
        case Fold():
            return folded(task, words)
        case Rerank():
            # Recall's own ranking is the best these rules know.
            return Reranked(tuple(range(1, len(task.candidates) + 1)))
