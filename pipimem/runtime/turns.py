"""What the runtime hands to a host: a turn's context and a compaction's receipt."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pipimem.recall.recalling import Recall


@dataclass(frozen=True, slots=True)
class Turn:
    """One user message on its way to the model.

    `context` is the one fenced block to put before it, empty if memory has nothing to say. `shown` are the ids in it,
    `first` says that it holds the snapshot, `problem` why memory had to stay silent.
    """

    query: str
    speaker: str
    context: str
    time: datetime
    shown: tuple[str, ...] = ()
    first: bool = False
    recall: Recall | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the gate made durable before the host drops context.

    `state` is `consolidated`, `deferred` (the talk is on disk and recallable, it is consolidated later), `blocked`
    (the policy waits for the model) or `failed` (even the disk refused). `covered` is the last message number the
    receipt stands for, `cursor` how far consolidation came.
    """

    may_compact: bool
    state: Literal["consolidated", "deferred", "blocked", "failed"]
    covered: int
    cursor: int
    reason: str = ""
    steps: tuple[str, ...] = field(default=())
