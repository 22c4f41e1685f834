"""The answers of models to each task: their JSON schema, and their strict parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from pipimem.errors import AnswerRefused
from pipimem.llm.request import Schema
from pipimem.llm.strict_decoding import Ids, checked, decoded, schema_of
from pipimem.sidecar.tasks import (
    ANSWERS,
    Answer,
    Consolidate,
    Fold,
    Refresh,
    Rerank,
    Reranked,
    Task,
    Tidy,
    is_exchange,
    task_name,
)

# Recall sends 12; a host may ask for more, never for this many.
_MOST_CANDIDATES = 64

# Prompts ask for shorter texts: a few characters too many shall not cost a whole answer. The limits
# keep a weak model from running on until its answer is cut.
_EntryText = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
_BulletText = Annotated[str, msgspec.Meta(min_length=1, max_length=240)]
_Title = Annotated[str, msgspec.Meta(max_length=80)]
_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
_Kind = Literal[
    "identity", "fact", "preference", "ongoing", "constraint", "decision", "open_loop", "lesson"
]
_Place = Annotated[int, msgspec.Meta(ge=1, le=_MOST_CANDIDATES)]

# The names are those of the answers in `tasks`. The order of the fields is the prompt's: a grammar
# makes a model keep it, and it writes better when it has named its sources before the text. The
# shapes have no docstrings, which would become a part of the schema.


class _Shape(msgspec.Struct, forbid_unknown_fields=True):
    pass


class _Bullet(_Shape):
    sources: Annotated[list[_Id], msgspec.Meta(min_length=1, max_length=8)]
    text: _BulletText


class _Learned(_Shape, kw_only=True):
    sources: Annotated[list[_Id], msgspec.Meta(min_length=1, max_length=4)]
    speaker: Annotated[str, msgspec.Meta(max_length=80)] = ""
    text: _EntryText
    kind: _Kind
    necessity: Literal["high", "medium", "low"]
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)]
    explicit: bool = False
    replaces: Annotated[list[_Id], msgspec.Meta(max_length=4)] = []


class _Over(_Shape):
    id: _Id
    why: Annotated[str, msgspec.Meta(max_length=200)]


class _Consolidated(_Shape, kw_only=True):
    learned: Annotated[list[_Learned], msgspec.Meta(max_length=16)]
    over: Annotated[list[_Over], msgspec.Meta(max_length=16)] = []
    title: _Title = ""
    history: Annotated[list[_Bullet], msgspec.Meta(max_length=8)]


# Field of the answer to `Refresh` → section of SESSION.md.
_SECTIONS = {
    "current_state": "Current State",
    "user_intent": "User Intent",
    "active_files": "Active Files",
    "decisions": "Decisions",
    "constraints": "Constraints",
    "errors": "Errors & Corrections",
    "next_steps": "Next Steps",
    "worklog": "Worklog",
}
_Items = Annotated[list[_BulletText], msgspec.Meta(max_length=8)]
_Refreshed = msgspec.defstruct(
    "_Refreshed",
    [("title", _Title), *((field, _Items) for field in _SECTIONS)],
    forbid_unknown_fields=True,
)


class _Merge(_Shape):
    ids: Annotated[list[_Id], msgspec.Meta(min_length=2, max_length=8)]
    text: _EntryText


class _Move(_Shape):
    id: _Id
    kind: _Kind


class _Drop(_Shape):
    id: _Id
    why: Literal["over", "duplicate", "in_history", "wrong"]


class _Tidied(_Shape):
    drop: Annotated[list[_Drop], msgspec.Meta(max_length=16)]
    merge: Annotated[list[_Merge], msgspec.Meta(max_length=16)]
    move: Annotated[list[_Move], msgspec.Meta(max_length=16)]


class _Folded(_Shape):
    title: Annotated[_Title, msgspec.Meta(min_length=1)]
    bullets: Annotated[list[_Bullet], msgspec.Meta(min_length=1, max_length=24)]


class _Reranked(_Shape):
    order: Annotated[list[_Place], msgspec.Meta(max_length=_MOST_CANDIDATES)]


_SHAPES: Mapping[type[Task], type[msgspec.Struct]] = {
    Consolidate: _Consolidated,
    Refresh: _Refreshed,
    Tidy: _Tidied,
    Fold: _Folded,
    Rerank: _Reranked,
}
# Enough for the longest answer the schema allows, and for a model that thinks before it answers.
MAX_TOKENS: Mapping[type[Task], int] = {
    Consolidate: 8000,
    Refresh: 4000,
    Tidy: 6000,
    Fold: 4000,
    Rerank: 300,
}


def answer_schema(task: Task) -> Schema:
    """The JSON schema of a task's answer, with the ids that the task shows."""
    return schema_of(task_name(task), _SHAPES[type(task)], _shown_ids(task))


def parse_answer(answer: str, task: Task) -> Answer:
    """A model's text as the answer to a task.

    Raises `AnswerRefused`, also for an answer without a history or a title where one is needed.
    """
    got = checked(decoded(answer, _SHAPES[type(task)]), _shown_ids(task))
    match task:
        case Consolidate() if not got["history"] and is_exchange(task.window):
            raise AnswerRefused(
                "history is empty although people talked; say in at least one item what happened."
            )
        case Refresh():
            got = {"sections": _session_sections(got)}
        case Fold() if not got["title"]:
            raise AnswerRefused("The title is empty; say what the month was about.")
        case Rerank():
            _check_order(got["order"], len(task.candidates))
    return msgspec.convert(got, ANSWERS[type(task)])


def checked_answer(answer: Answer, task: Task) -> Answer:
    """The answer that a host's own assistant made, each of its fields of the type it is to have.

    Raises `AnswerRefused`, naming the field. An answer to another task is returned as it is: who
    gave the task refuses it.
    """
    wanted = ANSWERS[type(task)]
    if not isinstance(answer, wanted):
        return answer
    try:
        found = msgspec.convert(msgspec.to_builtins(answer), wanted)
    except (msgspec.ValidationError, TypeError) as reason:
        raise AnswerRefused(
            f"the assistant's {wanted.__name__} has a field of another type: {reason}"
        ) from reason
    if isinstance(task, Rerank) and isinstance(found, Reranked):
        _check_order(found.order, len(task.candidates))
    return found


def _session_sections(got: Mapping[str, Any]) -> dict[str, list[str]]:
    """The items by section of SESSION.md; an empty title leaves the old one."""
    sections = {section: got[field] for field, section in _SECTIONS.items()}
    if got["title"]:
        sections["Session Title"] = [got["title"]]
    return sections


def _shown_ids(task: Task) -> Ids:
    match task:
        case Consolidate():
            entries = "entry", [known.id for known in task.memory]
            sources = "message", [message.id for message in task.window]
            return {"sources": sources, "replaces": entries, "id": entries}
        case Tidy():
            entries = "entry", [known.id for known in task.memory]
            return {"id": entries, "ids": entries}
        case Fold():
            return {"sources": ("bullet", [name for name, _ in task.bullets])}
        case _:
            return {}


def _check_order(order: Sequence[int], count: int) -> None:
    for place in order:
        if not 1 <= place <= count:
            raise AnswerRefused(f"there is no note [{place}]; the last one is [{count}]")
    if len(set(order)) < len(order):
        raise AnswerRefused("a note is named twice")
