"""Patterns are compiled late, so a mistake in one must show here."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest
from pipimem.text.patterns import Pattern

MODULES = (
    "answers chinese_dates dates english_calendar english_dates fence key_formats no_secrets private"
    " secret_numbers secrets spoken_secrets written_dates"
)


def patterns_in(value: object) -> Iterator[Pattern]:
    if isinstance(value, Pattern):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from patterns_in(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from patterns_in(getattr(value, field.name))


@pytest.mark.parametrize("name", MODULES.split())
def test_every_pattern_compiles(name):
    """Each pattern of a module, in tables too, is a valid regular expression."""
    for value in vars(importlib.import_module(f"pipimem.text.{name}")).values():
        for pattern in patterns_in(value):
            assert isinstance(pattern(), re.Pattern)


def test_a_pattern_is_compiled_once():
    """Equal patterns share one compiled expression."""
    assert Pattern("a+b")() is Pattern("a+b")()
    assert Pattern("A", re.IGNORECASE)().match("a")
