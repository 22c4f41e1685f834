"""Patterns are compiled late, so a mistake in one must show here."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pkgutil import walk_packages

from pipimem import text
from pipimem.text.patterns import Pattern


def patterns_in(value: object) -> Iterator[Pattern]:
    if isinstance(value, Pattern):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from patterns_in(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from patterns_in(getattr(value, field.name))


def test_every_pattern_compiles():
    """Each pattern of a module, in tables too, is a valid regular expression."""
    modules = [
        importlib.import_module(found.name)
        for found in walk_packages(text.__path__, "pipimem.text.")
    ]
    patterns = [
        one for module in modules for value in vars(module).values() for one in patterns_in(value)
    ]
    assert len(patterns) > 100
    for pattern in patterns:
        assert isinstance(pattern(), re.Pattern)


def test_a_pattern_is_compiled_once():
    """Equal patterns share one compiled expression."""
    assert Pattern("a+b")() is Pattern("a+b")()
    assert Pattern("A", re.IGNORECASE)().match("a")
