"""Dataclasses as JSON objects and back.

Defaults are left out, unknown fields passed over.

A field with `metadata={"name": …}` stands under that name, one with `{"written": False}` nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
Json = dict[str, object]
# A class, or an alias such as tuple[str, ...]; no type of its own in Python 3.11.
Hint = Any

_PLAIN = frozenset({str, int, float, bool})


class CodecError(ValueError):
    """A JSON value has the wrong type, or a field is missing; the caller knows file and line."""


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
    """Returns the dataclass that a JSON value stands for; raises `CodecError` otherwise."""
    hint: Hint = kind
    names = {key: name for name, key, _ in _written(hint) if key != name}
    if names and isinstance(value, dict):
        value = {names.get(key, key): item for key, item in value.items()}
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
    if isinstance(value, tuple):  # a named one too: a journal has thousands of splices
        return [_encoded(item) for item in value]
    if isinstance(value, str):  # an enum of strings
        return str(value)
    return encoded(value)


@cache
def _written(kind: Hint) -> tuple[tuple[str, str, object], ...]:
    """Each written field of a dataclass: its name, its key in JSON and its default."""
    return tuple(
        (field.name, field.metadata.get("name", field.name), _default(field))
        for field in fields(kind)
        if field.metadata.get("written", True)
    )


def _default(field: Field[object]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()
