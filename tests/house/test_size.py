"""The house stays small enough to be known: long modules, branching functions, deep imports.

What these bounds hold is what was reached; a change that needs more says why, here. Other figures
are printed by `python -m benchmarks.baseline --only house`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from benchmarks.baseline.house import complexity

HOUSE = Path(__file__).parents[2] / "pipimem"
FILES = sorted(HOUSE.rglob("*.py"))
RULES = (HOUSE / "sidecar" / "rules", HOUSE / "text" / "talk")
MOST_LINES = 600
LEAST_LINES = 60
# Shorter modules of one user, with the reason why they do not stand in it.
ALONE = {
    "pipimem.runtime.models": "it brings metering and the client, 30 ms that offline spares",
    "pipimem.runtime.transfer.formats.langgraph_store": "a format a module, beside nine others",
    "pipimem.runtime.transfer.formats.mcp_memory": "the same",
    "pipimem.runtime.transfer.formats.mem0": "the same",
}
# From letters and quotes over merges, a commit, a forgetting, the channel on disk and its parts to
# the bots.
LONGEST_CHAIN = 23
MOST_BRANCHES = 10


def test_no_module_is_too_long_to_be_read_at_once() -> None:
    """600 lines; a shorter bound would give the house its shape."""
    too_long = {}
    for path in FILES:
        name, lines = str(path.relative_to(HOUSE)), len(path.read_text("utf-8").splitlines())
        if lines > MOST_LINES:
            too_long[name] = lines
    assert too_long == {}


@pytest.mark.slow
def test_no_function_has_too_many_branches_to_be_followed() -> None:
    """More than 10 are steps that want names; the rules on sentences are not counted."""
    too_many = {}
    for path in FILES:
        if any(map(path.is_relative_to, RULES)):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name, count = f"{path.relative_to(HOUSE)}:{node.name}", complexity(node)
                if count > MOST_BRANCHES:
                    too_many[name] = count
    assert too_many == {}


def _module_name(path: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(HOUSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module_name(path): path for path in FILES}


@cache
def _tree(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(MODULES[module].read_text("utf-8"))


def _imported(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the modules of the house that some statements import."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            below = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in MODULES else str(node.module) for name in below}
    return found & MODULES.keys()


def test_no_short_module_has_one_user() -> None:
    """Who reads the user has to open it; commands and public modules have no user here."""
    users = Counter(
        name for module in MODULES for name in _imported(ast.walk(_tree(module))) - {module}
    )
    short = {
        name
        for name, path in MODULES.items()
        if users[name] == 1
        and path.stem != "__init__"
        and len(path.read_text("utf-8").splitlines()) < LEAST_LINES
    }
    assert short == ALONE.keys()


def _imports(module: str) -> list[str]:
    """Return the modules of the house that a module imports while it is loaded."""
    return sorted(_imported(_tree(module).body) - {module})


@cache
def _import_chain(module: str) -> tuple[str, ...]:
    """Return the longest row of modules of which each imports the next."""
    longest = max(map(_import_chain, _imports(module)), key=len, default=())
    return (module, *longest)


def test_imports_do_not_go_deeper() -> None:
    """A type that stands where it belongs makes the chain shorter; a detour makes it longer."""
    longest = max(map(_import_chain, MODULES), key=len)
    assert len(longest) <= LONGEST_CHAIN, "\n".join(longest)
