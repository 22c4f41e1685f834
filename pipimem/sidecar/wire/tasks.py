"""The table of tasks as a model is asked for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pipimem.sidecar.contracts import Answer, Consolidate, Fold, Refresh, Rerank, Task, Tidy
from pipimem.sidecar.door import Schema
from pipimem.sidecar.wire import consolidation, folding, refreshing, reranking, tidying


@dataclass(frozen=True, slots=True)
class Wire:
    """How a task travels: the JSON schema of its answer, the strict parser, and room for the answer in tokens.

    The parser takes a model's text and the task, and raises `AnswerRefused`.
    """

    schema: Callable[[Any], Schema]
    parsed: Callable[[str, Any], Answer]
    max_tokens: int


# The room is for the longest answer the schema allows, and for a model that thinks before it answers.
WIRES: Mapping[type[Task], Wire] = {
    Consolidate: Wire(consolidation.schema, consolidation.parsed, 8000),
    Refresh: Wire(refreshing.schema, refreshing.parsed, 4000),
    Tidy: Wire(tidying.schema, tidying.parsed, 6000),
    Fold: Wire(folding.schema, folding.parsed, 4000),
    Rerank: Wire(reranking.schema, reranking.parsed, 300),
}
