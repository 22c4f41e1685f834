"""The answers of models to each task: their JSON schema, and their strict parser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import structs

from pipimem.errors import AnswerRefused
from pipimem.llm.request import AnswerSchema
from pipimem.llm.strict_decoding import Ids, checked, decoded, schema_of
from pipimem.sidecar.tasks import (
    ANSWERS,
    Answer,
    Consolidate,
    Consolidated,
    Fold,
    Folded,
    LineText,
    Outdated,
    Refresh,
    Refreshed,
    Rerank,
    Reranked,
    Task,
    Tidied,
    Tidy,
    Title,
    check_order,
    is_exchange,
    task_name,
)
from pipimem.text.talk.context import holds_a_statement

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
_Items = Annotated[tuple[LineText, ...], msgspec.Meta(max_length=6)]
_LISTS = [(field, _Items) for field in _SECTIONS]
_Sheet = msgspec.defstruct("_Sheet", _LISTS, frozen=True, forbid_unknown_fields=True)
_SheetWithTitle = msgspec.defstruct(
    "_SheetWithTitle", [("title", Title), *_LISTS], frozen=True, forbid_unknown_fields=True
)


# What a model is asked for, and what is accepted: a sheet that is none costs no fact.
class _ConsolidatedWithSheet(Consolidated, frozen=True, kw_only=True):
    sheet: _Sheet  # type: ignore[valid-type]


class _ConsolidatedWithAnything(Consolidated, frozen=True, kw_only=True):
    sheet: msgspec.Raw = msgspec.Raw()  # type: ignore[assignment]


class _Drop(Outdated, frozen=True, kw_only=True):
    why: Literal["over", "duplicate", "wrong"]


class _TidiedWithReasons(Tidied, frozen=True, kw_only=True):
    drop: Annotated[tuple[_Drop, ...], msgspec.Meta(max_length=16)]


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


def answer_schema(task: Task) -> AnswerSchema:
    """The JSON schema of a task's answer, with the ids that the task shows, each once."""
    name, enums = task_name(task), _enums(task)
    match task:
        case Consolidate():
            bounds = {"learned": task.most_learned, "history": task.most_history}
            hidden = {"sheet"} if task.session is None else set()
            return schema_of(name, _ConsolidatedWithSheet, enums, bounds, _LENGTHS, hidden)
        case Refresh():
            return schema_of(name, _SheetWithTitle, enums, {}, _LENGTHS)
        case Tidy():
            return schema_of(name, _TidiedWithReasons, enums, {}, {})
        case _:
            return schema_of(name, ANSWERS[type(task)], enums, {}, _LENGTHS)


def parse_answer(
    answer: str, task: Task, true_ids: Mapping[str, str] = MappingProxyType({})
) -> Answer:
    """A model's text as the answer to a task, with the `true_ids` of those that it shows short.

    Raises `AnswerRefused`, also for an answer without a history or a title where one is needed.
    """
    ids = _shown_ids(task, true_ids)
    match task:
        case Consolidate():
            talk = checked(decoded(answer, _ConsolidatedWithAnything), ids)
            _check_bounds(talk, task)
            sheet = None if task.session is None else _sheet(talk.sheet, talk.title)
            return Consolidated(talk.learned, talk.over, talk.title, talk.history, sheet)
        case Refresh():
            lists = checked(decoded(answer, _SheetWithTitle), ids)
            return Refreshed(_session_sections(structs.asdict(lists)))
        case Tidy():
            said = checked(decoded(answer, _TidiedWithReasons), ids)
            drop = tuple(Outdated(one.id, one.why) for one in said.drop)
            return Tidied(said.merge, said.move, drop, said.reword)
        case Fold():
            fold = checked(decoded(answer, Folded), ids)
            if not fold.title:
                raise AnswerRefused("The title is empty; say what the month was about.")
            return fold
        case Rerank():
            reranked = decoded(answer, Reranked)
            check_order(reranked, task)
            return reranked


def _check_bounds(answer: Consolidated, task: Consolidate) -> None:
    talked = is_exchange(task.window) and holds_a_statement(task.before, task.window)
    if not answer.history and talked:
        raise AnswerRefused(
            "history is empty although people talked; say in at least one item what happened."
        )
    for field, count, most in (
        ("learned", len(answer.learned), task.most_learned),
        ("history", len(answer.history), task.most_history),
    ):
        if count > most:
            raise AnswerRefused(f"{field} has {count} items; keep the {most} most important.")


def _sheet(sheet: msgspec.Raw, title: str) -> dict[str, tuple[str, ...]] | None:
    """The sheet by section; `None` where it is not whole."""
    try:
        lists = checked(msgspec.json.decode(sheet, type=_Sheet), {})
    except (msgspec.DecodeError, AnswerRefused):
        return None
    return _session_sections({**structs.asdict(lists), "title": title})


def _session_sections(sheet: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The items by section of SESSION.md; an empty title leaves the old one."""
    sections = {section: sheet[field] for field, section in _SECTIONS.items()}
    return sections | {"Session Title": (sheet["title"],)} if sheet["title"] else sections


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


def _shown_ids(task: Task, true_ids: Mapping[str, str]) -> Ids:
    """The ids that a task shows, by the fields of its answer."""

    def shown(what: str, names: Iterable[str]) -> tuple[str, dict[str, str]]:
        return what, {name: true_ids.get(name, name) for name in names}

    match task:
        case Consolidate():
            entries = shown("entry", (known.id for known in task.memory))
            sources = shown("message", (message.id for message in task.window))
            return {"sources": sources, "replaces": entries, "id": entries}
        case Tidy():
            entries = shown("entry", (known.id for known in task.memory))
            return {"id": entries, "ids": entries}
        case Fold():
            return {"sources": shown("bullet", (name for name, _ in task.bullets))}
        case _:
            return {}
