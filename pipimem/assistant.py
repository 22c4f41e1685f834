"""The protocol of assistants: the tasks that memory asks for, and the types of their answers."""

from __future__ import annotations

from pipimem.notes.operations import Bullet
from pipimem.sidecar.tasks import (
    Assistant,
    Call,
    Consolidate,
    Consolidated,
    Fold,
    Folded,
    KnownEntry,
    Learned,
    Merge,
    Over,
    Refile,
    Refresh,
    Refreshed,
    Rerank,
    Reranked,
    Reword,
    Tidied,
    Tidy,
)

__all__ = [
    "Assistant",
    "Bullet",
    "Call",
    "Consolidate",
    "Consolidated",
    "Fold",
    "Folded",
    "KnownEntry",
    "Learned",
    "Merge",
    "Over",
    "Refile",
    "Refresh",
    "Refreshed",
    "Rerank",
    "Reranked",
    "Reword",
    "Tidied",
    "Tidy",
]
