"""Strict decoding of answers: nothing is repaired, for a repaired cut would be a silent loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from enum import Enum
from types import MappingProxyType
from typing import TypeVar

import msgspec
from msgspec import Struct

from pipimem.errors import AnswerRefused
from pipimem.llm.json_object import extract_json
from pipimem.llm.request import AnswerSchema
from pipimem.text.patterns import Pattern

S = TypeVar("S", bound=msgspec.Struct)

# A provider takes a thousand or so names in a schema, and a grammar of that many is slow.
_MOST_NAMED = 300
# These may be empty, and are joined into one line.
_LABELS = frozenset({"title", "speaker", "why", "due"})
# A model may leave these out; other fields have defaults for rules and hosts alone.
_OPTIONAL = frozenset({"over", "title", "speaker", "necessity", "explicit", "concluded", "due"}) | {
    *("replaces", "reword", "sheet", "remove", "add")
}
# Rules and guards set these, a model never: they stand in no schema.
_OURS = frozenset({"weight", "quote_reason"})
# These come first in a schema, in this order. A grammar makes a model keep it, and it writes better
# when it has named its sources before the text.
_FIRST = ("drop", "sources", "speaker", "id", "ids", "text")

_PATH = Pattern(r"`\$\.(\w+)")

# By the name of a field: what its ids name ("entry", "message"), and the true ids by those shown.
Ids = Mapping[str, tuple[str, Mapping[str, str]]]


def decoded(answer: str, shape: type[S], longest: Mapping[str, int] = MappingProxyType({})) -> S:
    """The one JSON object of an answer as `shape`; raises `AnswerRefused` with the reason.

    Lists in a field of `longest`, such as `history.sources`, lose what is beyond its number.
    """
    try:
        said = _shortened(msgspec.json.decode(extract_json(answer)), "", longest)
        found = msgspec.json.decode(msgspec.json.encode(said), type=shape)
    except msgspec.ValidationError as reason:
        raise AnswerRefused(
            f"The answer does not have the asked-for shape: {reason}.", _field_of(str(reason))
        ) from reason
    except msgspec.DecodeError as reason:
        raise AnswerRefused(f"The answer is not valid JSON: {reason}.") from reason
    for problem in _wrong_fields(found, said):
        raise AnswerRefused(
            f"The answer does not have the asked-for shape: Object {problem}.", _field_of(problem)
        )
    return found


def amended(answer: str, field: str, correction: str) -> str:
    """Return the JSON of an answer with one field as its `correction` has it, itself an object.

    A correction that is a whole answer replaces it. Raises `AnswerRefused` if it lacks the field.
    """
    said, newer = (msgspec.json.decode(extract_json(text)) for text in (answer, correction))
    if field not in newer:
        raise AnswerRefused(f"The correction has no field {field}.")
    return msgspec.json.encode({**said, **newer}).decode()


def _field_of(problem: str) -> str:
    """The field of an answer that a problem names by its path, such as `$.learned[3].text`."""
    found = _PATH().search(problem)
    return found[1] if found else ""


def _shortened(value: object, field: str, longest: Mapping[str, int]) -> object:
    """The value of a field, its lists without what is beyond their number."""
    match value:
        case dict():
            path = f"{field}." if field else ""
            return {
                name: _shortened(inner, f"{path}{name}", longest) for name, inner in value.items()
            }
        case list():
            inner = [_shortened(item, field, longest) for item in value]
            return inner[: longest[field]] if field in longest else inner
        case _:
            return value


def _wrong_fields(value: object, said: object, path: str = "$") -> Iterator[str]:
    """Yield what is wrong with the fields of `said`, the JSON of `value`, and where."""
    where = "" if path == "$" else f" - at `{path}`"
    match value, said:
        case msgspec.Struct(), dict():
            for name in value.__struct_fields__:
                if name in said and name in _OURS:
                    yield f"contains unknown field `{name}`{where}"
                elif name in said:
                    yield from _wrong_fields(getattr(value, name), said[name], f"{path}.{name}")
                elif name not in _OPTIONAL | _OURS:
                    yield f"missing required field `{name}`{where}"
        case tuple(), list():
            for place, (inner, one) in enumerate(zip(value, said, strict=True)):
                yield from _wrong_fields(inner, one, f"{path}[{place}]")


def checked(answer: S, ids: Ids) -> S:
    """Return the answer with true ids and stripped texts; lists of texts lose their repetitions.

    Raises `AnswerRefused` for an id that was never shown, and a text that is empty or has several
    lines.
    """
    check, fields = _Check(ids), dict[str, object]()
    for name in answer.__struct_fields__:
        try:
            fields[name] = check.value(getattr(answer, name), name, "")
        except AnswerRefused as reason:
            raise AnswerRefused(str(reason), name) from reason
    return type(answer)(**fields)


class _Check(Struct, frozen=True):
    """The check of one answer."""

    ids: Ids

    def struct(self, struct: S, field: str) -> S:
        """A struct that stands in `field`, with its fields checked."""
        names = struct.__struct_fields__
        return type(struct)(
            **{name: self.value(getattr(struct, name), name, field) for name in names}
        )

    def value(self, value: object, field: str, item: str) -> object:
        """The value of a field, inside the list `item`."""
        match value:
            case msgspec.Struct():
                return self.struct(value, field)
            case [str(), *_]:
                return tuple(dict.fromkeys(self.value(one, field, field) for one in value))
            case tuple():
                return tuple(self.value(one, field, field) for one in value)
            case str() if not isinstance(value, Enum) and field not in _OURS:
                return self._text(value, field, item)
            case _:
                return value

    def _text(self, text: str, field: str, item: str) -> str:
        if field in self.ids:
            return self._true_id(text, field)
        if field in _LABELS:
            return " ".join(text.split())
        stripped = text.strip()
        if not stripped:
            raise AnswerRefused(f"A text of {item} is empty; leave the item out or fill it.")
        if len(stripped.splitlines()) > 1:
            raise AnswerRefused(f"A text of {item} has several lines; write each on one line.")
        return stripped

    def _true_id(self, name: str, field: str) -> str:
        what, shown = self.ids[field]
        if name not in shown:
            raise AnswerRefused(
                f"There is no {what} [{name}]; use only ids that stand in brackets above."
            )
        return shown[name]


def schema_of(
    name: str,
    shape: type[msgspec.Struct],
    enums: Mapping[str, list[str]],
    bounds: Mapping[str, int],
    hidden: Set[str] = frozenset(),
) -> AnswerSchema:
    """The JSON schema of `shape`, without references and with every field required.

    Providers' strict modes want both, and small servers do not follow references. The `enums`, by
    field, keep a model from making up an id: each stands where its field comes first, for a schema
    is paid for as the prompt is; more than 300 names are left out. `bounds` are how many items the
    list of a field may have. Fields that are `hidden` are left out.
    """
    _, parts = msgspec.json.schema_components([shape], ref_template="{name}")
    known = {field: names for field, names in enums.items() if 0 < len(names) <= _MOST_NAMED}
    inliner = _Inliner(parts, known, bounds, _OURS | hidden)
    inlined = inliner.node(parts[shape.__name__], "")
    assert isinstance(inlined, dict)
    return AnswerSchema(name, inlined)


class _Inliner(Struct, frozen=True):
    """Replaces references by the `parts` they name, and a string by the enum of its field.

    An enum that was used is taken out of `enums`. `bounds` are the lengths of lists by field.
    Fields that are `hidden` are left out.
    """

    parts: Mapping[str, Mapping[str, object]]
    enums: dict[str, list[str]]
    bounds: Mapping[str, int]
    hidden: Set[str]

    def node(self, node: object, field: str) -> object:
        """A node of the schema, `field` is the property it belongs to."""
        match node:
            case {"$ref": str(name)}:
                return self.node(self.parts[name], "")
            case {"type": "string"} if field in self.enums:
                return {"type": "string", "enum": self.enums.pop(field)}
            case {"type": "object", "properties": {**properties}}:
                return self._strict_object(properties)
            case dict():
                return self._mapping(node, field)
            case list():
                return [self.node(value, "") for value in node]
            case _:
                return node

    def _strict_object(self, properties: Mapping[object, object]) -> dict[str, object]:
        names = [str(name) for name in properties if name not in self.hidden]
        names.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
        fields = {name: self.node(properties[name], name) for name in names}
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
            elif key not in {"title", "description", "default"}:
                kept[key] = self.node(value, "")
        return kept
