"""Rerank: which of the entries that were found answer the question."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from pipimem.recall.budget import Limits, within
from pipimem.recall.recall import Recall
from pipimem.sidecar.tasks import Assistant, Call, Rerank, Reranked, answered
from pipimem.text.secrets import redacted
from pipimem.text.token_count import clipped

# What a model sees of a candidate: enough to judge it, so that all candidates fit into one prompt.
CANDIDATE_CHARS = 800


async def rerank(
    assistant: Assistant, found: Recall, query: str, limits: Limits, shown: Set[str], call: Call
) -> Recall:
    """What was found, in the order an assistant gives; raises `SidecarError` when it fails."""
    texts = tuple(clipped(redacted(one.item.text), CANDIDATE_CHARS) for one in found.candidates)
    answer = await answered(
        assistant, Rerank(redacted(query)[:CANDIDATE_CHARS], texts), Reranked, call
    )
    return reordered(found, answer.order, limits, shown)


def reordered(
    found: Recall, order: Sequence[int], limits: Limits, shown: Set[str] = frozenset()
) -> Recall:
    """What is injected in an `order` (places from 1, best first); an empty one keeps the first.

    `candidates` stay in the local order, so that an explanation still holds.
    """
    chosen = [found.candidates[place - 1] for place in order] or list(found.candidates[:1])
    injected, left_out = within(chosen, limits, shown, found.excerpts)
    return replace(found, injected=injected, left_out=left_out)
