"""Strict decoding of answers: nothing is repaired, for a repaired cut would be a silent loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from pipimem.errors import AnswerRefused
from pipimem.llm.json_object import extract_json
from pipimem.llm.request import Schema

# A provider takes a thousand or so names in a schema, and a grammar of that many is slow.
_MOST_NAMED = 300
# These may be empty, and are joined into one line.
_LABELS = frozenset({"title", "speaker", "why"})
# Fields with ids of entries that change: each entry may be named once in an answer.
_CHANGED = frozenset({"id", "ids", "replaces"})

# By the name of a field: what its ids name ("entry", "message"), and the ids that were shown.
Ids = Mapping[str, tuple[str, Sequence[str]]]


def decoded(answer: str, shape: type[msgspec.Struct]) -> msgspec.Struct:
    """The one JSON object of an answer as `shape`; raises `AnswerRefused` with the reason."""
    text = extract_json(answer)
    try:
        return msgspec.json.decode(text, type=shape)
    except msgspec.ValidationError as reason:
        raise AnswerRefused(f"The answer does not have the asked-for shape: {reason}.") from reason
    except msgspec.DecodeError as reason:
        raise AnswerRefused(f"The answer is not valid JSON: {reason}.") from reason


def checked(answer: msgspec.Struct, ids: Ids) -> dict[str, Any]:
    """The answer as plain values: texts are stripped, lists of texts lose their repetitions.

    Raises `AnswerRefused` for an id that was never shown, an entry that two items want to change,
    and a text that is empty or has several lines.
    """
    check = _Check(ids)
    fields = msgspec.to_builtins(answer)
    return {name: check.value(value, name, name) for name, value in fields.items()}


@dataclass(slots=True)
class _Check:
    """The check of one answer, which remembers the entries that it changes."""

    ids: Ids
    changed: set[str] = field(default_factory=set)

    def value(self, value: object, field: str, item: str) -> object:
        """The value of a field, inside the list `item`."""
        match value:
            case dict():
                return {name: self.value(inner, name, field) for name, inner in value.items()}
            case [str(), *_]:
                return list(dict.fromkeys(self.value(one, field, field) for one in value))
            case list():
                return [self.value(one, field, field) for one in value]
            case str():
                return self._text(value, field, item)
            case _:
                return value

    def _text(self, text: str, field: str, item: str) -> str:
        if field in self.ids:
            self._check_id(text, field)
            return text
        if field in _LABELS:
            return " ".join(text.split())
        stripped = text.strip()
        if not stripped:
            raise AnswerRefused(f"A text of {item} is empty; leave the item out or fill it.")
        if len(stripped.splitlines()) > 1:
            raise AnswerRefused(f"A text of {item} has several lines; write each on one line.")
        return stripped

    def _check_id(self, name: str, field: str) -> None:
        what, shown = self.ids[field]
        if name not in shown:
            raise AnswerRefused(
                f"There is no {what} [{name}]; use only ids that stand in brackets above."
            )
        if field in _CHANGED:
            if name in self.changed:
                raise AnswerRefused(
                    f"The entry [{name}] is changed twice; name it in one item only."
                )
            self.changed.add(name)


def schema_of(
    name: str,
    shape: type[msgspec.Struct],
    enums: Mapping[str, list[str]],
    bounds: Mapping[str, int],
    lengths: Mapping[str, int],
) -> Schema:
    """The JSON schema of `shape`, without references and with every field required.

    Providers' strict modes want both, and small servers do not follow references. The `enums`, by
    field, keep a model from making up an id: each stands where its field comes first, for a schema
    is paid for as the prompt is; more than 300 names are left out. `bounds` are how many items the
    list of a field may have, `lengths` how many characters a text that is asked for there.
    """
    _, parts = msgspec.json.schema_components([shape], ref_template="{name}")
    known = {field: names for field, names in enums.items() if 0 < len(names) <= _MOST_NAMED}
    inlined = _Inliner(parts, known, bounds, lengths).node(parts[shape.__name__], "")
    assert isinstance(inlined, dict)
    return Schema(name, inlined)


@dataclass(frozen=True, slots=True)
class _Inliner:
    """Replaces references by the `parts` they name, and a string by the enum of its field.

    An enum that was used is taken out of `enums`. `bounds` are the lengths of lists by field,
    `lengths` those of texts.
    """

    parts: Mapping[str, Mapping[str, object]]
    enums: dict[str, list[str]]
    bounds: Mapping[str, int]
    lengths: Mapping[str, int]

    def node(self, node: object, field: str) -> object:
        """A node of the schema, `field` is the property it belongs to."""
        match node:
            case {"$ref": str(name)}:
                return self.node(self.parts[name], "")
            case {"type": "string"} if field in self.enums:
                return {"type": "string", "enum": self.enums.pop(field)}
            case {"type": "string", "maxLength": _, **rest} if field in self.lengths:
                return {"type": "string", "maxLength": self.lengths[field], **rest}
            case {"type": "object", "properties": {**properties}}:
                return self._strict_object(properties)
            case dict():
                return self._mapping(node, field)
            case list():
                return [self.node(value, "") for value in node]
            case _:
                return node

    def _strict_object(self, properties: Mapping[object, object]) -> dict[str, object]:
        fields = {str(name): self.node(value, str(name)) for name, value in properties.items()}
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }

    def _mapping(self, node: Mapping[str, object], field: str) -> dict[str, object]:
        kept: dict[str, object] = {}
        if field in self.bounds and node.get("type") == "array":
            kept["maxItems"] = self.bounds[field]
        for key, value in node.items():
            if key == "items":
                kept[key] = self.node(value, field)
            elif key not in {"title", "default"}:
                kept[key] = self.node(value, "")
        return kept
