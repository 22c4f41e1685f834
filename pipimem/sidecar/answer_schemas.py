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
from pipimem.text.talk.context import holds_a_statement

# Recall sends 12; a host may ask for more, never for this many.
_MOST_CANDIDATES = 64

# What is accepted: a few characters more than were asked for shall not cost a whole answer. The
# limits keep a weak model from running on until its answer is cut.
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


# Field of a sheet → section of SESSION.md.
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
_Items = Annotated[list[_BulletText], msgspec.Meta(max_length=6)]
_LISTS = [(field, _Items) for field in _SECTIONS]
_Sheet = msgspec.defstruct("_Sheet", _LISTS, forbid_unknown_fields=True)
_Refreshed = msgspec.defstruct(
    "_Refreshed", [("title", _Title), *_LISTS], forbid_unknown_fields=True
)


# How many items `learned` and `history` may have is the task's to say.
class _Consolidated(_Shape, kw_only=True):
    learned: list[_Learned]
    over: Annotated[list[_Over], msgspec.Meta(max_length=16)] = []
    title: _Title = ""
    history: list[_Bullet]


# What a model is asked for, and what is accepted: a sheet that is none costs no fact.
class _ConsolidatedWithSheet(_Consolidated, kw_only=True):
    sheet: _Sheet  # type: ignore[valid-type]


class _ConsolidatedWithAnything(_Consolidated, kw_only=True):
    sheet: object = None


class _Merge(_Shape):
    ids: Annotated[list[_Id], msgspec.Meta(min_length=2, max_length=8)]
    text: _EntryText


class _Move(_Shape):
    id: _Id
    kind: _Kind


class _Reword(_Shape):
    id: _Id
    text: _EntryText


class _Drop(_Shape):
    id: _Id
    why: Literal["over", "duplicate", "wrong"]


class _Tidied(_Shape):
    drop: Annotated[list[_Drop], msgspec.Meta(max_length=16)]
    merge: Annotated[list[_Merge], msgspec.Meta(max_length=16)]
    move: Annotated[list[_Move], msgspec.Meta(max_length=16)]
    reword: Annotated[list[_Reword], msgspec.Meta(max_length=8)] = []


class _Folded(_Shape):
    title: Annotated[_Title, msgspec.Meta(min_length=1)]
    bullets: Annotated[list[_Bullet], msgspec.Meta(min_length=1, max_length=24)]


class _Reranked(_Shape):
    order: Annotated[list[_Place], msgspec.Meta(max_length=_MOST_CANDIDATES)]


_SHAPES: Mapping[type[Task], type[msgspec.Struct]] = {
    Consolidate: _ConsolidatedWithAnything,
    Refresh: _Refreshed,
    Tidy: _Tidied,
    Fold: _Folded,
    Rerank: _Reranked,
}
# Enough for the longest answer the schema allows, and for a model that thinks before it answers.
_MAX_TOKENS: Mapping[type[Task], int] = {
    Consolidate: 8000,
    Refresh: 4000,
    Tidy: 6000,
    Fold: 4000,
    Rerank: 300,
}


# What an item of `learned` or `history` takes, and what stands around them.
_TOKENS_AN_ITEM, _TOKENS_AROUND = 100, 2000


def max_tokens(task: Task) -> int:
    """The tokens that an answer may have."""
    if isinstance(task, Consolidate):
        items = task.most_learned + task.most_history
        return max(_MAX_TOKENS[Consolidate], _TOKENS_AROUND + items * _TOKENS_AN_ITEM)
    return _MAX_TOKENS[type(task)]


# What prompts and schemas ask for; a note that says what several said may need more.
_LENGTHS = {"text": 200, "title": 60, **dict.fromkeys(_SECTIONS, 200)}


def answer_schema(task: Task) -> Schema:
    """The JSON schema of a task's answer, with the ids that the task shows, each once."""
    shape, bounds = _SHAPES[type(task)], {}
    if isinstance(task, Consolidate):
        shape = _Consolidated if task.session is None else _ConsolidatedWithSheet
        bounds = {"learned": task.most_learned, "history": task.most_history}
    lengths = {} if isinstance(task, Tidy) else _LENGTHS
    return schema_of(task_name(task), shape, _enums(task), bounds, lengths)


def parse_answer(answer: str, task: Task) -> Answer:
    """A model's text as the answer to a task.

    Raises `AnswerRefused`, also for an answer without a history or a title where one is needed.
    """
    said, sheet = decoded(answer, _SHAPES[type(task)]), None
    if isinstance(said, _ConsolidatedWithAnything):
        sheet, said.sheet = said.sheet, None
    got = checked(said, _shown_ids(task))
    match task:
        case Consolidate():
            _check_bounds(got, task)
            got["sheet"] = _sheet(sheet, got["title"]) if task.session is not None else None
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


def _check_bounds(got: Mapping[str, Any], task: Consolidate) -> None:
    talked = is_exchange(task.window) and holds_a_statement(task.before, task.window)
    if not got["history"] and talked:
        raise AnswerRefused(
            "history is empty although people talked; say in at least one item what happened."
        )
    for field, most in (("learned", task.most_learned), ("history", task.most_history)):
        if len(got[field]) > most:
            raise AnswerRefused(
                f"{field} has {len(got[field])} items; keep the {most} most important."
            )


def _sheet(sheet: object, title: str) -> dict[str, list[str]] | None:
    """The sheet by section; `None` where it is not whole."""
    try:
        lists = checked(msgspec.convert(sheet, _Sheet), {})
    except (msgspec.ValidationError, AnswerRefused):
        return None
    return _session_sections({**lists, "title": title})


def _session_sections(got: Mapping[str, Any]) -> dict[str, list[str]]:
    """The items by section of SESSION.md; an empty title leaves the old one."""
    sections = {section: got[field] for field, section in _SECTIONS.items()}
    if got["title"]:
        sections["Session Title"] = [got["title"]]
    return sections


def _enums(task: Task) -> dict[str, list[str]]:
    """What a grammar holds a field to: who spoke, and the ids, each list where it stands first.

    Without the ids of the bot's messages: what only the bot said does not count.
    """
    match task:
        case Consolidate():
            return {
                "sources": [each.id for each in task.window if each.role != "assistant"],
                "speaker": ["", *task.participants] if task.participants else [],
                "replaces": [known.id for known in task.memory],
            }
        case Tidy():
            return {"id": [known.id for known in task.memory]}
        case Fold():
            return {"sources": [name for name, _ in task.bullets]}
        case _:
            return {}


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
