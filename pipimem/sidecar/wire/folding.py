"""The answer to `Fold` on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

from pipimem.sidecar.contracts import Fold, Folded
from pipimem.sidecar.door import Schema
from pipimem.sidecar.wire.strictness import (
    Title,
    WireBullet,
    bullets_of,
    decoded,
    one_line,
    schema_of,
)


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    title: Annotated[Title, msgspec.Meta(min_length=1)]
    bullets: Annotated[list[WireBullet], msgspec.Meta(min_length=1, max_length=24)]


def schema(task: Fold) -> Schema:
    """The shape of the answer, with the ids this task knows."""
    return schema_of("fold", _Answer, {"sources": [name for name, _ in task.bullets]})


def parsed(answer: str, task: Fold) -> Folded:
    """A model's text as `Folded`; raises `AnswerRefused`, also for one that would lose the month."""
    got = decoded(answer, _Answer)
    known = frozenset(name for name, _ in task.bullets)
    return Folded(one_line(got.title, "title"), bullets_of(got.bullets, known, "bullets", "bullet"))
