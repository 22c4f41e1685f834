"""Patterns are compiled late, so a mistake in one must show here."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from inspect import signature
from pkgutil import walk_packages
from types import ModuleType

import msgspec
from msgspec import structs
from pipimem import text
from pipimem.text.dates.rules import Rules
from pipimem.text.patterns import Pattern
from pipimem.text.secrets.keys import formats
from pipimem.text.word_lists import hinted


def patterns_in(value: object) -> Iterator[Pattern]:
    if isinstance(value, Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from patterns_in(one)
    elif isinstance(value, Rules):
        yield from patterns_in([pattern for _, pattern, _ in value._rules])
    elif isinstance(value, msgspec.Struct):
        yield from patterns_in(structs.astuple(value))


def tables(module: ModuleType) -> Iterator[object]:
    """What a module reads of `pipimem/data/` on first use."""
    for value in vars(module).values():
        if hasattr(value, "cache_info") and not signature(value).parameters:
            yield value()


def test_every_pattern_compiles():
    """Each pattern of a module, in tables too, is a valid regular expression."""
    modules = [
        importlib.import_module(found.name)
        for found in walk_packages(text.__path__, "pipimem.text.")
    ]
    values = [value for module in modules for value in (*vars(module).values(), *tables(module))]
    patterns = [one for value in values for one in patterns_in(value)]
    patterns += patterns_in([formats(), hinted("secrets/phone_numbers")])
    assert len(patterns) > 100
    for pattern in patterns:
        assert isinstance(pattern(), re.Pattern)


def test_a_pattern_is_compiled_once():
    """Equal patterns share one compiled expression."""
    assert Pattern("a+b")() is Pattern("a+b")()
    assert Pattern("A", re.IGNORECASE)().match("a")
