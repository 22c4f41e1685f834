"""The answers of models to each task: their JSON schema, and their strict parser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct, structs

from pipimem.errors import AnswerRefused
from pipimem.llm.request import AnswerSchema
from pipimem.llm.strict_decoding import Ids, checked, decoded, schema_of
from pipimem.sidecar.sheet import MOST_LINES_CHANGED, SheetList, changed_sections, sheet_lines
from pipimem.sidecar.tasks import (
    ANSWERS,
    MOST_HISTORY_SOURCES,
    MOST_SOURCES,
    Answer,
    Consolidate,
    Consolidated,
    Fold,
    Folded,
    Id,
    Learned,
    LineText,
    Outdated,
    Refile,
    Refresh,
    Refreshed,
    Rerank,
    Reranked,
    Reword,
    Task,
    Tidied,
    Tidy,
    Title,
    check_order,
    is_day,
    is_exchange,
    task_name,
)
from pipimem.text.talk.context import holds_a_statement

_Named = TypeVar("_Named", Outdated, Refile, Reword)

# Ids beyond these bounds are left out: the first ones say it best.
_MOST_IDS = {
    Consolidate: {
        "learned.sources": MOST_SOURCES,
        "learned.replaces": MOST_SOURCES,
        "history.sources": MOST_HISTORY_SOURCES,
    },
    Fold: {"bullets.sources": MOST_HISTORY_SOURCES},
}


class _AddedLine(Struct, frozen=True, forbid_unknown_fields=True):
    list: SheetList
    text: LineText


class _SheetChanges(Struct, frozen=True, forbid_unknown_fields=True):
    remove: Annotated[tuple[Id, ...], Meta(max_length=MOST_LINES_CHANGED)] = ()
    add: Annotated[tuple[_AddedLine, ...], Meta(max_length=MOST_LINES_CHANGED)] = ()


class _SheetWithTitle(_SheetChanges, frozen=True, forbid_unknown_fields=True):
    title: Title = ""


# What a model is asked for, and what is accepted: a sheet that is none costs no fact.
class _ConsolidatedWithSheet(Consolidated, frozen=True, kw_only=True):
    sheet: _SheetChanges  # type: ignore[assignment]


class _ConsolidatedWithAnything(Consolidated, frozen=True, kw_only=True):
    sheet: msgspec.Raw = msgspec.Raw()  # type: ignore[assignment]


class _Drop(Outdated, frozen=True, kw_only=True):
    why: Literal["over", "duplicate", "wrong"]


class _TidiedWithReasons(Tidied, frozen=True, kw_only=True):
    drop: Annotated[tuple[_Drop, ...], Meta(max_length=16)]


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


def answer_schema(task: Task) -> AnswerSchema:
    """The JSON schema of a task's answer, with the ids that the task shows, each once."""
    name, enums = task_name(task), _enums(task)
    match task:
        case Consolidate():
            bounds = {"learned": task.most_learned, "history": task.most_history}
            # The author of the first source is the speaker.
            hidden = {"speaker"} if task.session is not None else {"speaker", "sheet"}
            return schema_of(name, _ConsolidatedWithSheet, enums, bounds, hidden)
        case Refresh():
            return schema_of(name, _SheetWithTitle, enums, {})
        case Tidy():
            return schema_of(name, _TidiedWithReasons, enums, {})
        case Fold():
            return schema_of(name, Folded, enums, {"bullets": task.most_bullets})
        case _:
            return schema_of(name, ANSWERS[type(task)], enums, {})


def parse_answer(
    answer: str, task: Task, true_ids: Mapping[str, str] = MappingProxyType({})
) -> Answer:
    """A model's text as the answer to a task, with the `true_ids` of those that it shows short.

    Raises `AnswerRefused`, also for an answer without a history or a title where one is needed.
    """
    ids, longest = _shown_ids(task, true_ids), _MOST_IDS.get(type(task), {})
    match task:
        case Consolidate():
            talk = checked(decoded(answer, _ConsolidatedWithAnything, longest), ids)
            learned, over = _changed_once(talk)
            talk = structs.replace(talk, learned=learned, over=over)
            _check_talk(talk, task)
            sheet = None if task.session is None else _sheet(talk.sheet, talk.title, task.session)
            return Consolidated(talk.learned, talk.over, talk.title, talk.history, sheet)
        case Refresh():
            changes = checked(decoded(answer, _SheetWithTitle), ids)
            added = [(line.list, line.text) for line in changes.add]
            sections = changed_sections(task.session, changes.remove, added)
            return Refreshed(_with_title(sections, changes.title))
        case Tidy():
            return _tidied(checked(decoded(answer, _TidiedWithReasons), ids))
        case Fold():
            fold = checked(decoded(answer, Folded, longest), ids)
            _check_fold(fold, task)
            return fold
        case Rerank():
            reranked = decoded(answer, Reranked)
            check_order(reranked, task)
            return reranked


def _changed_once(talk: Consolidated) -> tuple[tuple[Learned, ...], tuple[Outdated, ...]]:
    """The items of an answer, each entry changed by the first item alone that names it."""
    changed: set[str] = set()
    learned = []
    for item in talk.learned:
        replaces = tuple(name for name in item.replaces if name not in changed)
        changed.update(replaces)
        learned.append(structs.replace(item, replaces=replaces))
    return tuple(learned), _first_by_id(talk.over, changed)


def _tidied(answer: _TidiedWithReasons) -> Tidied:
    """The answer with each entry in the first list alone that names it."""
    changed: set[str] = set()
    merges = []
    for merge in answer.merge:
        if changed.isdisjoint(merge.ids):
            changed.update(merge.ids)
            merges.append(merge)
    drop = tuple(Outdated(item.id, item.why) for item in _first_by_id(answer.drop, changed))
    move = _first_by_id(answer.move, changed)
    return Tidied(tuple(merges), move, drop, _first_by_id(answer.reword, changed))


def _first_by_id(items: Iterable[_Named], changed: set[str]) -> tuple[_Named, ...]:
    """The items whose entry is not `changed` yet; it is from then on."""
    kept = []
    for item in items:
        if item.id not in changed:
            changed.add(item.id)
            kept.append(item)
    return tuple(kept)


def _check_talk(answer: Consolidated, task: Consolidate) -> None:
    talked = is_exchange(task.window) and holds_a_statement(task.before, task.window)
    if not answer.history and talked:
        raise AnswerRefused(
            "history is empty although people talked; say in at least one item what happened.",
            "history",
        )
    for item in answer.learned:
        if item.due and not is_day(item.due):
            raise AnswerRefused(f"{item.due} is no day such as 2026-05-04.", "learned")
    for field, count, most in (
        ("learned", len(answer.learned), task.most_learned),
        ("history", len(answer.history), task.most_history),
    ):
        if count > most:
            raise AnswerRefused(
                f"{field} has {count} items; keep the {most} most important.", field
            )


def _check_fold(answer: Folded, task: Fold) -> None:
    if not answer.title:
        raise AnswerRefused("The title is empty; say what the month was about.", "title")
    count, most = len(answer.bullets), task.most_bullets
    if count > most:
        raise AnswerRefused(f"There are {count} bullets; at most {most} may be left.", "bullets")


def _sheet(raw: msgspec.Raw, title: str, session: str) -> dict[str, tuple[str, ...]] | None:
    """The sections of the sheet that change; `None` where the changes are not whole."""
    try:
        changes = checked(msgspec.json.decode(raw, type=_SheetChanges), _sheet_ids(session))
    except (msgspec.DecodeError, AnswerRefused):
        return None
    added = [(line.list, line.text) for line in changes.add]
    return _with_title(changed_sections(session, changes.remove, added), title)


def _with_title(sections: Mapping[str, tuple[str, ...]], title: str) -> dict[str, tuple[str, ...]]:
    """The sections with a title; an empty one leaves the old one."""
    return {**sections, "Session Title": (title,)} if title else {**sections}


def _sheet_ids(session: str) -> Ids:
    """The ids of the lines of a sheet, as they are shown."""
    names = [line.id for line in sheet_lines(session) if line.id]
    return {"remove": ("line", dict(zip(names, names, strict=True)))}


def _enums(task: Task) -> dict[str, list[str]]:
    """The ids that a grammar holds a field to, each list where it stands first.

    Without the ids of the bot's messages: what only the bot said does not count.
    """
    match task:
        case Consolidate():
            return {
                "sources": [each.id for each in task.window if each.role != "assistant"],
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
        case Refresh():
            return _sheet_ids(task.session)
        case Tidy():
            entries = shown("entry", (known.id for known in task.memory))
            return {"id": entries, "ids": entries}
        case Fold():
            return {"sources": shown("bullet", (name for name, _ in task.bullets))}
        case _:
            return {}
