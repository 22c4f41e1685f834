"""The protocol of assistants: the tasks that memory asks for, and the types of their answers.

Tasks and answers are msgspec structs; `msgspec.structs.replace` changes a copy.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from pipimem.notes import operations
from pipimem.sidecar.tasks import (
    Assistant,
    Call,
    Consolidate,
    Consolidated,
    Fold,
    Folded,
    HistoryItem,
    KnownEntry,
    Learned,
    Merge,
    Outdated,
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
    "Call",
    "Consolidate",
    "Consolidated",
    "Fold",
    "Folded",
    "HistoryItem",
    "KnownEntry",
    "Learned",
    "Merge",
    "Outdated",
    "Refile",
    "Refresh",
    "Refreshed",
    "Rerank",
    "Reranked",
    "Reword",
    "Tidied",
    "Tidy",
]

# What 0.2 called them; these names go in 0.4.0. `GuardedAssistant` takes a `Bullet` in an answer.
_RENAMED = {"Bullet": (operations.Bullet, "HistoryItem"), "Over": (Outdated, "Outdated")}

if not TYPE_CHECKING:  # or checkers would accept every name

    def __getattr__(name: str) -> object:
        """Return a type by its name of 0.2, with a warning."""
        if name not in _RENAMED:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value, new = _RENAMED[name]
        warnings.warn(
            f"pipimem.assistant.{name} is {new} now; the old name works until 0.4.0",
            DeprecationWarning,
            stacklevel=2,
        )
        return value
