"""Whatever a public signature takes or returns can be imported from a public module."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from types import UnionType

import msgspec
import pytest

from tests.cases import each
from tests.public_names import PUBLIC


def _parts(hint: object) -> list[object]:
    """A type and everything inside its brackets and unions."""
    arguments = typing.get_args(hint)
    if not arguments:
        return [hint]
    found = (
        [] if typing.get_origin(hint) in (typing.Union, UnionType) else [typing.get_origin(hint)]
    )
    for argument in arguments:
        found += _parts(list(argument) if isinstance(argument, list) else argument)
    return found


def _ours(hints: dict[str, object]) -> set[str]:
    names = set()
    for hint in hints.values():
        for part in _parts(hint):
            if inspect.isclass(part) and part.__module__.startswith("pipimem"):
                names.add(part.__name__)
    return names


def _is_made_by_the_runtime(constructor: object) -> bool:
    """Whether all that it takes is private: no host calls it."""
    if not inspect.isfunction(constructor):
        return False
    _, *names = inspect.signature(constructor).parameters
    return bool(names) and all(name.startswith("_") for name in names)


# Looking at all members asks a struct whether it is a dataclass.
@pytest.mark.filterwarnings("ignore:.* is a msgspec struct now")
@each("name", sorted(PUBLIC))
def test_the_types_of_public_signatures_are_public(name: str) -> None:
    """A host that annotates its own code needs no private import."""
    value = PUBLIC[name]
    if not inspect.isclass(value):
        return
    used: set[str] = set()
    for attribute, member in inspect.getmembers(value):
        if attribute.startswith("_") and attribute != "__init__":
            continue
        function = member.fget if isinstance(member, property) else member
        if attribute == "__init__" and _is_made_by_the_runtime(function):
            continue
        if inspect.isfunction(function) or inspect.ismethod(function):
            used |= _ours(typing.get_type_hints(function))
    if issubclass(value, msgspec.Struct) or dataclasses.is_dataclass(value):
        hints = typing.get_type_hints(value)
        used |= _ours({k: v for k, v in hints.items() if not k.startswith("_")})
    assert used - PUBLIC.keys() == set()
