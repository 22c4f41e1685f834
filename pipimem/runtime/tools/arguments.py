"""Checks what a model gives a tool: a missing or unknown argument is told, never passed over."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from pipimem.errors import ArgumentError
from pipimem.runtime.tools.definitions import CHANNEL, Parameter, Tool, Type
from pipimem.text.characters import storable

_MOST_ITEMS = 50
# Longer than any sentence to remember; a file of memory has a bound of its own.
_MOST_CHARACTERS = 2_000
_EXPECTED = {
    Type.TEXT: f"a text of at most {_MOST_CHARACTERS} characters",
    Type.COUNT: "a whole number from 1 on",
    Type.FLAG: "true or false",
    Type.TEXTS: f"a list of at most {_MOST_ITEMS} texts",
    Type.ITEMS: f"a list of 1 to {_MOST_ITEMS} objects",
}


def checked(tool: Tool, arguments: Mapping[str, Any] | str | None) -> dict[str, Any]:
    """The arguments of a call, those that are null left out.

    They may come as the JSON text that a model wrote. Raises `ArgumentError` that names all that
    is wrong with them.
    """
    given = _object(arguments)
    problems = [*_problems(tool, given)]
    if problems:
        known = ", ".join(parameter.name for parameter in tool.parameters)
        raise ArgumentError(f"{tool.name}: {'; '.join(problems)}. It takes {known}.")
    return given


def calls_in(arguments: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The single calls in one call: its `items`, or itself."""
    items: list[Mapping[str, Any]] = arguments.get("items", [arguments])
    return items


def checked_item(tool: Tool, item: Mapping[str, Any]) -> dict[str, Any]:
    """One of several calls. Raises `ArgumentError` that names all that is wrong with it."""
    given = _without_nulls(item)
    parameters = [
        one for one in tool.parameters if one.type is not Type.ITEMS and one.name != CHANNEL
    ]
    problems = [*_unknown(parameters, given), *_wrong(parameters, given)]
    problems += [*_missing(parameters, given)]
    if problems:
        raise ArgumentError(f"{tool.name}: {'; '.join(problems)}.")
    return given


def _object(arguments: Mapping[str, Any] | str | None) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            raise ArgumentError(f"The arguments are no JSON: {error}.") from None
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise ArgumentError("The arguments must be one JSON object.")
    return _without_nulls(arguments)


def _without_nulls(given: Mapping[str, Any]) -> dict[str, Any]:
    """Models write null for what they leave out."""
    return {str(name): _storable(value) for name, value in given.items() if value is not None}


def _storable(value: object) -> object:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(one) for one in value]
    return value


def _problems(tool: Tool, given: Mapping[str, Any]) -> Iterator[str]:
    yield from _unknown(tool.parameters, given)
    yield from _wrong(tool.parameters, given)
    if tool.takes_items and "items" in given:
        yield from _beside_items(tool, given)
    else:
        yield from _missing(tool.parameters, given)
        yield from _not_one_of(tool.needs_one_of, given)


def _beside_items(tool: Tool, given: Mapping[str, Any]) -> Iterator[str]:
    outside = [name for name in given if name not in ("items", CHANNEL)]
    if outside:
        yield f"with items nothing else is given: {', '.join(outside)}"
    yield from _missing([one for one in tool.parameters if one.name == CHANNEL], given)


def _not_one_of(names: Sequence[str], given: Mapping[str, Any]) -> Iterator[str]:
    chosen = [name for name in names if name in given]
    if names and len(chosen) != 1:
        yield f"give exactly one of {', '.join(names)}"


def _unknown(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> Iterator[str]:
    known = {parameter.name for parameter in parameters}
    for name in given:
        if name not in known:
            yield f"there is no argument {name!r}"


def _missing(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> Iterator[str]:
    for parameter in parameters:
        if parameter.required and parameter.name not in given:
            yield f"{parameter.name!r} is missing"


def _wrong(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> Iterator[str]:
    for parameter in parameters:
        if parameter.name not in given:
            continue
        value = given[parameter.name]
        if not _fits(parameter, value):
            yield f"{parameter.name!r} must be {_EXPECTED[parameter.type]}"
        elif parameter.choices and value not in parameter.choices:
            yield f"{parameter.name!r} must be one of {', '.join(parameter.choices)}"


def _fits(parameter: Parameter, value: object) -> bool:
    match parameter.type:
        case Type.TEXT:
            return isinstance(value, str) and len(value) <= _MOST_CHARACTERS
        case Type.COUNT:
            return _is_count(value)
        case Type.FLAG:
            return isinstance(value, bool)
        case Type.TEXTS:
            return _is_list_of(value, str) and len(value) <= _MOST_ITEMS
        case Type.ITEMS:
            return _is_list_of(value, Mapping) and 1 <= len(value) <= _MOST_ITEMS


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_list_of(value: object, kind: type) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and all(isinstance(one, kind) for one in value)
