"""The answer to `Tidy` on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from pipimem.notes.kinds import Kind
from pipimem.sidecar.contracts import Merge, Over, Refile, Tidied, Tidy
from pipimem.sidecar.door import Schema
from pipimem.sidecar.wire.strictness import (
    EntryText,
    Id,
    KindName,
    checked_ids,
    decoded,
    each_once,
    one_line,
    schema_of,
)


class _Merge(msgspec.Struct, forbid_unknown_fields=True):
    ids: Annotated[list[Id], msgspec.Meta(min_length=2, max_length=8)]
    text: EntryText


class _Move(msgspec.Struct, forbid_unknown_fields=True):
    id: Id
    kind: KindName


class _Drop(msgspec.Struct, forbid_unknown_fields=True):
    id: Id
    why: Literal["over", "duplicate", "in_history", "wrong"]


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    drop: Annotated[list[_Drop], msgspec.Meta(max_length=16)]
    merge: Annotated[list[_Merge], msgspec.Meta(max_length=16)]
    move: Annotated[list[_Move], msgspec.Meta(max_length=16)]


def schema(task: Tidy) -> Schema:
    """The shape of the answer, with the ids this task knows."""
    entries = [known.id for known in task.memory]
    return schema_of("tidying", _Answer, {"id": entries, "ids": entries})


def parsed(answer: str, task: Tidy) -> Tidied:
    """A model's text as `Tidied`; raises `AnswerRefused`."""
    got = decoded(answer, _Answer)
    entries = frozenset(known.id for known in task.memory)
    named = [
        *(name for item in got.merge for name in item.ids),
        *(item.id for item in got.move),
        *(item.id for item in got.drop),
    ]
    checked_ids(named, entries, "entry")
    each_once(named)
    return Tidied(
        merge=tuple(Merge(tuple(item.ids), one_line(item.text, "merge")) for item in got.merge),
        move=tuple(Refile(item.id, Kind(item.kind)) for item in got.move),
        drop=tuple(Over(item.id, item.why) for item in got.drop),
    )
