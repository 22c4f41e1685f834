"""Decoding that refuses and never repairs: a repaired cut would be a silent loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, TypeVar

import msgspec

from pipimem.errors import AnswerRefused
from pipimem.sidecar.door import Schema
from pipimem.text.answers import json_in

# Prompts teach shorter texts: a few characters too many shall not cost a whole answer.
ENTRY_CHARS = 300
BULLET_CHARS = 240
TITLE_CHARS = 80
WHY_CHARS = 200

# A provider takes a thousand or so names in a schema, and a grammar of that many is slow.
_MOST_NAMED = 300

EntryText = Annotated[str, msgspec.Meta(min_length=1, max_length=ENTRY_CHARS)]
BulletText = Annotated[str, msgspec.Meta(min_length=1, max_length=BULLET_CHARS)]
Title = Annotated[str, msgspec.Meta(max_length=TITLE_CHARS)]
Why = Annotated[str, msgspec.Meta(max_length=WHY_CHARS)]
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
KindName = Literal["identity", "fact", "preference", "ongoing", "constraint", "decision", "open_loop", "lesson"]

Answer = TypeVar("Answer", bound=msgspec.Struct)


def decoded(answer: str, shape: type[Answer]) -> Answer:
    """The one JSON object of an answer as `shape`; raises `AnswerRefused` with a reason to act on."""
    text = json_in(answer)
    try:
        return msgspec.json.decode(text, type=shape)
    except msgspec.ValidationError as reason:
        raise AnswerRefused(f"The answer does not have the asked-for shape: {reason}.") from reason
    except msgspec.DecodeError as reason:
        raise AnswerRefused(f"The answer is not valid JSON: {reason}.") from reason


def one_line(text: str, what: str) -> str:
    """The text without white space around it; raises `AnswerRefused` unless that is one line."""
    stripped = text.strip()
    if not stripped:
        raise AnswerRefused(f"A text of {what} is empty; leave the item out or fill it.")
    if len(stripped.splitlines()) > 1:
        raise AnswerRefused(f"A text of {what} has several lines; write each on one line.")
    return stripped


def checked_ids(ids: Iterable[str], known: frozenset[str], what: str) -> tuple[str, ...]:
    """The ids, each once; raises `AnswerRefused` for one that was never shown."""
    distinct = tuple(dict.fromkeys(ids))
    for name in distinct:
        if name not in known:
            raise AnswerRefused(f"There is no {what} [{name}]; use only ids that stand in brackets above.")
    return distinct


def each_once(ids: Iterable[str]) -> None:
    """Raises `AnswerRefused` where two items want the same entry."""
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise AnswerRefused(f"The entry [{name}] is changed twice; name it in one item only.")
        seen.add(name)


def schema_of(name: str, shape: type[msgspec.Struct]) -> Schema:
    """The JSON schema of `shape`, without references and with every field required.

    Providers' strict modes want both, and small servers do not follow references.
    """
    _, parts = msgspec.json.schema_components([shape], ref_template="{name}")
    inlined = _inlined(parts[shape.__name__], parts)
    assert isinstance(inlined, dict)
    return Schema(name, inlined)


def naming(schema: Schema, ids: Mapping[str, Sequence[str]]) -> Schema:
    """The schema with the ids that may stand in each field, by the field's name.

    A grammar then keeps a model from making one up. Too many would cost more than a refused answer.
    """
    known = {field: list(names) for field, names in ids.items() if 0 < len(names) <= _MOST_NAMED}
    named = _with_names(schema.schema, known)
    assert isinstance(named, dict)
    return Schema(schema.name, named)


def _with_names(node: object, ids: Mapping[str, list[str]]) -> object:
    match node:
        case {"properties": {**properties}, **rest}:
            return {**rest, "properties": {str(key): _named(str(key), value, ids) for key, value in properties.items()}}
        case {"items": items, **rest}:
            return {**rest, "items": _with_names(items, ids)}
        case _:
            return node


def _named(field: str, node: object, ids: Mapping[str, list[str]]) -> object:
    if field not in ids:
        return _with_names(node, ids)
    one = {"type": "string", "enum": ids[field]}
    match node:
        case {"items": _, **rest}:
            return {**rest, "items": one}
        case _:
            return one


def _inlined(node: object, parts: dict[str, dict[str, object]]) -> object:
    match node:
        case {"$ref": str(name)}:
            return _inlined(parts[name], parts)
        case {"type": "object", "properties": {**properties}}:
            fields = {str(key): _inlined(value, parts) for key, value in properties.items()}
            return {
                "type": "object",
                "properties": fields,
                "required": list(fields),
                "additionalProperties": False,
            }
        case dict():
            return {key: _inlined(value, parts) for key, value in node.items() if key not in {"title", "default"}}
        case list():
            return [_inlined(value, parts) for value in node]
        case _:
            return node
