"""The answer to `Rerank` on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

from pipimem.errors import AnswerRefused
from pipimem.sidecar.contracts import Rerank, Reranked
from pipimem.sidecar.door import Schema
from pipimem.sidecar.wire.strictness import decoded, schema_of

# Recall looks at 12 (DESIGN §8); a host may ask for more, never for this many.
_MOST = 64


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    order: Annotated[
        list[Annotated[int, msgspec.Meta(ge=1, le=_MOST)]], msgspec.Meta(max_length=_MOST)
    ]


def schema(_: Rerank) -> Schema:
    """The shape of the answer."""
    return schema_of("rerank", _Answer)


def parsed(answer: str, task: Rerank) -> Reranked:
    """A model's text as `Reranked`; raises `AnswerRefused` for a place that is not there or named twice."""
    order = decoded(answer, _Answer).order
    if foreign := [place for place in order if place > len(task.candidates)]:
        raise AnswerRefused(
            f"there is no note [{foreign[0]}]; the last one is [{len(task.candidates)}]"
        )
    if len(set(order)) < len(order):
        raise AnswerRefused("a note is named twice")
    return Reranked(tuple(order))
