"""The front door: what pipimem exports, and how little it loads."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings

import pipimem
import pytest
from pipimem import errors

from tests.cases import each
from tests.public_names import MODULES, names_of

HEAVY = (
    "asyncio",
    "litellm",
    "jieba",
    "watchdog",
    "rich",
    "click",
    "Stemmer",
    "trio",
    "mcp",
    "uvicorn",
    "pydantic",
    "pipimem.mcp",
    "pipimem.bots",
    "pipimem.adapters",
)
PUBLIC_MODULES = [f"pipimem.{name}".rstrip(".") for name in MODULES]


@each("name", PUBLIC_MODULES)
def test_a_public_module_offers_what_it_lists(name: str) -> None:
    """Each `__all__` is sorted, and each of its names is there."""
    module = importlib.import_module(name)
    listed = getattr(module, "__all__", names_of(name))
    assert listed == sorted(set(listed))
    assert [missing for missing in listed if not hasattr(module, missing)] == []


def test_few_names_are_at_the_root() -> None:
    """About 30 can be learnt; all others are in the public modules."""
    assert len(pipimem.__all__) <= 36


def test_a_name_is_one_value_wherever_it_is_offered() -> None:
    """`pipimem.Settings` is `pipimem.settings.Settings`."""
    values: dict[str, set[int]] = {}
    for module in PUBLIC_MODULES:
        for name in names_of(module):
            value = getattr(importlib.import_module(module), name)
            values.setdefault(name, set()).add(id(value))
    assert {name for name, ids in values.items() if len(ids) > 1} == set()


def test_an_unknown_name_is_refused() -> None:
    """As by every module."""
    with pytest.raises(AttributeError, match="has no attribute 'Pipimen'"):
        pipimem.Pipimen  # noqa: B018 - the access raises


@each("name", sorted(pipimem._MOVED_TO))
def test_a_name_of_0_2_warns_once_and_says_where_it_is(name: str) -> None:
    """`from pipimem import Learned` works until 0.4.0."""
    module = pipimem._MOVED_TO[name]
    vars(pipimem).pop(name, None)
    with pytest.warns(DeprecationWarning, match=rf"{module}\.{name}; .* until 0\.4\.0") as warned:
        exec(f"from pipimem import {name}", {})
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert getattr(pipimem, name) is getattr(importlib.import_module(module), name)
    assert name in names_of(module)


def test_the_error_of_a_damaged_journal_is_that_of_a_damaged_state() -> None:
    """`except JournalError` works until 0.4.0, from both modules."""
    vars(pipimem).pop("JournalError", None)
    for module in (pipimem, errors):
        with pytest.warns(DeprecationWarning, match=r"JournalError is [\w.]*DamagedState"):
            assert module.JournalError is errors.DamagedState
    with pytest.raises(AttributeError, match="no attribute 'Odd'"):
        errors.Odd  # noqa: B018 - the access raises


def test_every_error_is_in_the_docstring_of_the_tree() -> None:
    """The docstring of the errors module is the map people read."""
    assert all(name in (errors.__doc__ or "") for name in names_of("pipimem.errors"))


def test_the_import_loads_no_heavy_library() -> None:
    """A bot that never recalls pays for nothing."""
    code = f"import sys; from pipimem import *; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []
