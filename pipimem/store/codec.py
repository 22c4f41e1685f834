"""Dataclasses as JSON objects and back: fields that have their default are left out, unknown ones passed over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, partial
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pipimem.notes.ledger import Delta
from pipimem.notes.operations import Hole, Progress
from pipimem.store.journal.records import JournalRecord
from pipimem.text.splices import Splice

T = TypeVar("T")
Json = dict[str, object]
Decoder = Callable[[object], Any]
# A class, or an alias such as tuple[str, ...]; no type of its own in Python 3.11.
Hint = Any

_PLAIN = frozenset({str, int, float, bool})
# Written as arrays, in the order of their fields: a journal has thousands of them.
_ROWS = frozenset({Splice, Hole})
_RENAMED: Mapping[tuple[type, str], str] = {
    (JournalRecord, "sequence"): "seq",
    (JournalRecord, "time"): "ts",
}
# What a decision expects has been checked when it is written; the etags of a delta are those of the record's files.
_UNWRITTEN: frozenset[tuple[type, str]] = frozenset(
    {
        (Delta, "etags"),
        (Progress, "expect_cursor"),
        (Progress, "expect_holes"),
        (Progress, "expect_forgotten"),
    }
)


class CodecError(ValueError):
    """A JSON value is not what its place asks for; whoever reads a file says which line it is in."""


def encoded(value: object) -> Json:
    """A dataclass as a JSON object of those fields that differ from their defaults."""
    found: Json = {}
    kind: Hint = type(value)
    for name, key, default in _written(kind):
        item = getattr(value, name)
        if item != default:
            found[key] = _encoded(item)
    return found


def decoded(kind: type[T], value: object) -> T:
    """The dataclass that a JSON value stands for; raises `CodecError` for a wrong type or a missing field."""
    try:
        hint: Hint = kind
        result: T = _decoder(hint)(value)
    # A missing field is a TypeError, an unknown enum member a ValueError, a number of 400 digits overflows.
    except (TypeError, ValueError, OverflowError) as error:
        raise CodecError(str(error)) from error
    return result


def _encoded(value: object) -> object:
    kind: Hint = type(value)
    if kind in _PLAIN or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): _encoded(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_encoded(item) for item in value]
    if isinstance(value, str):  # an enum of strings
        return str(value)
    if kind in _ROWS:
        return [_encoded(getattr(value, name)) for name, _, _ in _written(kind)]
    return encoded(value)


@cache
def _decoder(hint: Hint) -> Decoder:
    """The function that checks a JSON value and makes of it one of this type hint."""
    arguments = get_args(hint)
    if hint is float:
        return _number
    if hint in _PLAIN:
        return partial(_checked, hint)
    if hint in _ROWS:
        return partial(_row, hint, [_decoder(each) for each in get_type_hints(hint).values()])
    if is_dataclass(hint):
        return _object_decoder(hint)
    origin: Hint = get_origin(hint)
    if origin is Mapping:
        return partial(_mapping, *map(_decoder, arguments))
    if origin is tuple:
        return partial(_tuple, _decoder(arguments[0]))
    if origin is UnionType:
        return partial(_optional, _decoder(arguments[0]))
    return lambda value: hint(_checked(str, value))  # an enum of strings


def _object_decoder(kind: Hint) -> Decoder:
    hints = get_type_hints(kind)
    decoders = {key: (name, _decoder(hints[name])) for name, key, _ in _written(kind)}

    def decode(value: object) -> object:
        found = {}
        for key, item in _checked(dict, value).items():
            if key in decoders:
                name, decoder = decoders[key]
                found[name] = decoder(item)
        return kind(**found)

    return decode


def _number(value: object) -> float:
    return float(value) if type(value) is int else _checked(float, value)


def _row(kind: Callable[..., T], decoders: list[Decoder], value: object) -> T:
    return kind(
        *(decoder(item) for decoder, item in zip(decoders, _checked(list, value), strict=False))
    )


def _mapping(key: Decoder, item: Decoder, value: object) -> dict[object, object]:
    return {key(name): item(each) for name, each in _checked(dict, value).items()}


def _tuple(item: Decoder, value: object) -> tuple[object, ...]:
    return tuple([item(each) for each in _checked(list, value)])


def _optional(inner: Decoder, value: object) -> object:
    return None if value is None else inner(value)


def _checked(kind: type[T], value: object) -> T:
    if type(value) is not kind:  # not isinstance: true and false are no numbers
        raise TypeError(f"{kind.__name__} is expected, not {value!r:.40}")
    return value


@cache
def _written(kind: Hint) -> tuple[tuple[str, str, object], ...]:
    """Each written field of a dataclass: its name, its key in JSON and its default."""
    return tuple(
        (field.name, _RENAMED.get((kind, field.name), field.name), _default(field))
        for field in fields(kind)
        if (kind, field.name) not in _UNWRITTEN
    )


def _default(field: Field[object]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()
