"""Rerank: which of the entries that were found answer the question."""

from __future__ import annotations

from collections.abc import Set

from pipimem.recall.budgeting import Limits
from pipimem.recall.recalling import Recall
from pipimem.recall.reranking import CANDIDATE_CHARS, reordered
from pipimem.sidecar.contracts import Assistant, Call, Rerank, Reranked, answered
from pipimem.text.secrets import redacted
from pipimem.text.tokens import clipped


async def rerank(
    assistant: Assistant, found: Recall, query: str, limits: Limits, shown: Set[str], call: Call
) -> Recall:
    """What was found, injected in the order an assistant gives. Raises `SidecarError` when it cannot think."""
    texts = tuple(clipped(redacted(one.item.text), CANDIDATE_CHARS) for one in found.candidates)
    answer = await answered(
        assistant, Rerank(redacted(query)[:CANDIDATE_CHARS], texts), Reranked, call
    )
    return reordered(found, answer.order, limits, shown)
