"""Decoding that refuses and never repairs: a repaired cut would be a silent loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, TypeVar

import msgspec

from pipimem.errors import AnswerRefused
from pipimem.notes.operations import Bullet
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
KindName = Literal[
    "identity", "fact", "preference", "ongoing", "constraint", "decision", "open_loop", "lesson"
]

Answer = TypeVar("Answer", bound=msgspec.Struct)


# A line of history and the ids it rests on; a docstring would stand in the schema.
class WireBullet(msgspec.Struct, forbid_unknown_fields=True):
    sources: Annotated[list[Id], msgspec.Meta(min_length=1, max_length=8)]
    text: BulletText


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
            raise AnswerRefused(
                f"There is no {what} [{name}]; use only ids that stand in brackets above."
            )
    return distinct


def each_once(ids: Iterable[str]) -> None:
    """Raises `AnswerRefused` where two items want the same entry."""
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise AnswerRefused(f"The entry [{name}] is changed twice; name it in one item only.")
        seen.add(name)


def bullets_of(
    items: Iterable[WireBullet], known: frozenset[str], field: str, what: str
) -> tuple[Bullet, ...]:
    """The lines of history; raises `AnswerRefused` for an empty text, or a source that was never shown."""
    return tuple(
        Bullet(one_line(item.text, field), checked_ids(item.sources, known, what)) for item in items
    )


def schema_of(
    name: str, shape: type[msgspec.Struct], ids: Mapping[str, Sequence[str]] | None = None
) -> Schema:
    """The JSON schema of `shape`, without references and with every field required.

    Providers' strict modes want both, and small servers do not follow references. `ids` are those that may stand in
    a field, by the field's name: a grammar then keeps a model from making one up. Too many would cost more than a
    refused answer, and are left out.
    """
    _, parts = msgspec.json.schema_components([shape], ref_template="{name}")
    known = {
        field: list(names) for field, names in (ids or {}).items() if 0 < len(names) <= _MOST_NAMED
    }
    inlined = _inlined(parts[shape.__name__], parts, known)
    assert isinstance(inlined, dict)
    return Schema(name, inlined)


def _inlined(
    node: object,
    parts: Mapping[str, Mapping[str, object]],
    ids: Mapping[str, list[str]],
    field: str = "",
) -> object:
    """A part of a schema with what it refers to in its place; `field` is the name it stands under."""
    match node:
        case {"$ref": str(name)}:
            return _inlined(parts[name], parts, ids)
        case {"type": "string"} if field in ids:
            return {"type": "string", "enum": ids[field]}
        case {"type": "object", "properties": {**properties}}:
            fields = {
                str(key): _inlined(value, parts, ids, str(key)) for key, value in properties.items()
            }
            return {
                "type": "object",
                "properties": fields,
                "required": list(fields),
                "additionalProperties": False,
            }
        case dict():
            kept = {key: value for key, value in node.items() if key not in {"title", "default"}}
            return {
                key: _inlined(value, parts, ids, field if key == "items" else "")
                for key, value in kept.items()
            }
        case list():
            return [_inlined(value, parts, ids) for value in node]
        case _:
            return node
