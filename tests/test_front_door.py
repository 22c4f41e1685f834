"""The front door: what pipimem exports, and how little it loads."""

from __future__ import annotations

import subprocess
import sys

import pipimem
from pipimem import errors

HEAVY = (
    "litellm",
    "jieba",
    "watchdog",
    "rich",
    "click",
    "Stemmer",
    "difflib",
    "trio",
    "mcp",
    "uvicorn",
    "pydantic",
    "pipimem.mcp",
    "pipimem.bots",
    "pipimem.adapters",
)


def test_all_is_sorted_and_true() -> None:
    """Every name in __all__ is there, and every error of the tree is exported."""
    assert sorted(pipimem.__all__) == pipimem.__all__
    assert all(hasattr(pipimem, name) for name in pipimem.__all__)
    tree = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and value.__module__ == errors.__name__
    }
    assert tree <= set(pipimem.__all__)


def test_every_error_is_in_the_docstring_of_the_tree() -> None:
    """The docstring of the errors module is the map people read."""
    tree = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and value.__module__ == errors.__name__
    }
    assert all(name in (errors.__doc__ or "") for name in tree)


def test_the_import_loads_no_heavy_library() -> None:
    """A bot that never recalls pays for nothing."""
    code = f"import sys; from pipimem import *; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []
