"""The answer to `Consolidate` on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from pipimem.errors import AnswerRefused
from pipimem.notes.kinds import Kind
from pipimem.sidecar.contracts import Consolidate, Consolidated, Learned, Over, is_exchange
from pipimem.sidecar.door import Schema
from pipimem.sidecar.wire.strictness import (
    EntryText,
    Id,
    KindName,
    Title,
    Why,
    WireBullet,
    bullets_of,
    checked_ids,
    decoded,
    each_once,
    one_line,
    schema_of,
)

# The order of the fields is the prompt's: a grammar makes a model write them so, and it writes better when it has
# named its sources before the text. The bounds keep a weak model from running on until its answer is cut.


class _Learned(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    sources: Annotated[list[Id], msgspec.Meta(min_length=1, max_length=4)]
    speaker: Annotated[str, msgspec.Meta(max_length=80)] = ""
    text: EntryText
    kind: KindName
    necessity: Literal["high", "medium", "low"]
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)]
    explicit: bool = False
    replaces: Annotated[list[Id], msgspec.Meta(max_length=4)] = []


class _Over(msgspec.Struct, forbid_unknown_fields=True):
    id: Id
    why: Why


class _Answer(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    learned: Annotated[list[_Learned], msgspec.Meta(max_length=16)]
    over: Annotated[list[_Over], msgspec.Meta(max_length=16)] = []
    title: Title = ""
    history: Annotated[list[WireBullet], msgspec.Meta(max_length=8)]


def schema(task: Consolidate) -> Schema:
    """The shape of the answer, with the ids this task knows."""
    messages, entries = [message.id for message in task.window], [known.id for known in task.memory]
    return schema_of(
        "consolidation", _Answer, {"sources": messages, "replaces": entries, "id": entries}
    )


def parsed(answer: str, task: Consolidate) -> Consolidated:
    """A model's text as `Consolidated`; raises `AnswerRefused`."""
    got = decoded(answer, _Answer)
    messages = frozenset(message.id for message in task.window)
    entries = frozenset(known.id for known in task.memory)
    learned = tuple(_learned(item, messages, entries) for item in got.learned)
    over = tuple(
        Over(checked_ids([item.id], entries, "entry")[0], item.why.strip()) for item in got.over
    )
    each_once([*(name for item in learned for name in item.replaces), *(item.id for item in over)])
    history = bullets_of(got.history, messages, "history", "message")
    if not history and is_exchange(task.window):
        raise AnswerRefused(
            "history is empty although people talked; say in at least one item what happened."
        )
    return Consolidated(learned, over, " ".join(got.title.split()), history)


def _learned(item: _Learned, messages: frozenset[str], entries: frozenset[str]) -> Learned:
    return Learned(
        kind=Kind(item.kind),
        text=one_line(item.text, "learned"),
        sources=checked_ids(item.sources, messages, "message"),
        speaker=" ".join(item.speaker.split()),
        necessity=item.necessity,
        confidence=item.confidence,
        explicit=item.explicit,
        replaces=checked_ids(item.replaces, entries, "entry"),
    )
