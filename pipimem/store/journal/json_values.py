"""JSON values taken apart: each is what its place asks for, or a `CodecError`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, cast

Json = dict[str, object]
T = TypeVar("T")


class CodecError(ValueError):
    """A JSON value is not what its place asks for; the rooms that read say which file and line it is in."""


def without_empty(value: Json) -> Json:
    """The values that say something."""
    return {name: item for name, item in value.items() if item not in ("", 0, [], {})}


def checked(build: Callable[[], T]) -> T:
    """What `build` makes; whatever is wrong with the value becomes a `CodecError`."""
    try:
        return build()
    except CodecError:
        raise
    except (KeyError, ValueError, IndexError) as error:
        raise CodecError(str(error)) from error


def mapped(value: object, item: Callable[[Json], T]) -> dict[str, T]:
    """An object of objects, each read by `item`."""
    return {name: item(an_object(each)) for name, each in an_object(value).items()}


def mapped_or_none(value: object, item: Callable[[Json], T]) -> dict[str, T | None]:
    """The same where `null` may stand for one."""
    return {name: None if each is None else item(an_object(each)) for name, each in an_object(value).items()}


def an_object(value: object) -> Json:
    """The value as an object; raises `CodecError`, as do the others."""
    if not isinstance(value, dict):
        raise CodecError("an object is expected")
    return cast("Json", value)


def a_list(value: object) -> Sequence[object]:
    """The value as a list."""
    if not isinstance(value, list):
        raise CodecError("a list is expected")
    return value


def a_string(value: object) -> str:
    """The value as a string."""
    if not isinstance(value, str):
        raise CodecError("a string is expected")
    return value


def a_number(value: object) -> int:
    """The value as a whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise CodecError("a whole number is expected")
    return value


def strings(value: object) -> tuple[str, ...]:
    """The value as a list of strings."""
    items: Iterable[object] = a_list(value)
    return tuple(a_string(item) for item in items)
