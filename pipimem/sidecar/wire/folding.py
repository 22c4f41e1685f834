"""The answer to `Fold` on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

from pipimem.notes.operations import Bullet
from pipimem.sidecar.contracts import Fold, Folded
from pipimem.sidecar.door import Schema
from pipimem.sidecar.wire.strictness import BulletText, Id, Title, checked_ids, decoded, naming, one_line, schema_of


class _Bullet(msgspec.Struct, forbid_unknown_fields=True):
    sources: Annotated[list[Id], msgspec.Meta(min_length=1, max_length=8)]
    text: BulletText


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    title: Annotated[Title, msgspec.Meta(min_length=1)]
    bullets: Annotated[list[_Bullet], msgspec.Meta(min_length=1, max_length=24)]


_SCHEMA = schema_of("fold", _Answer)


def schema(task: Fold) -> Schema:
    """The shape of the answer, with the ids this task knows."""
    return naming(_SCHEMA, {"sources": [name for name, _ in task.bullets]})


def parsed(answer: str, task: Fold) -> Folded:
    """A model's text as `Folded`; raises `AnswerRefused`, also for one that would lose the month."""
    got = decoded(answer, _Answer)
    known = frozenset(name for name, _ in task.bullets)
    return Folded(
        one_line(got.title, "title"),
        tuple(
            Bullet(one_line(item.text, "bullets"), checked_ids(item.sources, known, "bullet")) for item in got.bullets
        ),
    )
