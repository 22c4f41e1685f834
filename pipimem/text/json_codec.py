"""Structs and dataclasses as JSON objects and back.

Defaults are left out, unknown fields passed over.

`field(name=…)` gives a struct's field its key; the fields in its class's `NOT_WRITTEN` have none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import structs

T = TypeVar("T")
Json = dict[str, object]
# A class, or an alias such as tuple[str, ...]; no type of its own in Python 3.11.
Hint = Any

_PLAIN = frozenset({str, int, float, bool})


class CodecError(ValueError):
    """A JSON value has the wrong type, or a field is missing; the caller knows file and line."""


def encoded(value: object) -> Json:
    """A value as a JSON object of those fields that differ from their defaults."""
    found: Json = {}
    kind: Hint = type(value)
    for name, key, default in _written(kind):
        item = getattr(value, name)
        if item != default:
            found[key] = _encoded(item)
    return found


def decoded(kind: type[T], value: object) -> T:
    """Returns what a JSON value stands for; raises `CodecError` if it has another form."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        # Half of a surrogate pair is a string, but no number, choice or name of a field.
        raise CodecError(str(error)) from error


def _encoded(value: object) -> object:
    kind: Hint = type(value)
    if kind in _PLAIN or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): _encoded(item) for key, item in value.items()}
    if isinstance(value, tuple | frozenset):  # a named one too
        items = value if isinstance(value, tuple) else sorted(value)
        return [_encoded(item) for item in items]
    if isinstance(value, str):  # an enum of strings
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return encoded(value)


@cache
def _written(kind: Hint) -> tuple[tuple[str, str, object], ...]:
    """Each written field of a struct or dataclass: its name, its key in JSON and its default."""
    if not issubclass(kind, msgspec.Struct):
        fields = dataclasses.fields(kind)
        return tuple((each.name, each.name, _default(each, dataclasses.MISSING)) for each in fields)
    not_written: frozenset[str] = getattr(kind, "NOT_WRITTEN", frozenset())
    return tuple(
        (each.name, each.encode_name, _default(each, msgspec.NODEFAULT))
        for each in structs.fields(kind)
        if each.name not in not_written
    )


def _default(field: Hint, missing: object) -> object:
    return field.default if field.default_factory is missing else field.default_factory()
