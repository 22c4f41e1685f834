"""The house stays small enough to be known: long modules, branching functions, deep imports.

What these bounds hold is what was reached; a change that needs more says why, here. The other
figures of docs/design/architecture.md are printed by `python -m benchmarks.house`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from benchmarks.house import FILES, HOUSE, RULES, longest_chain

MOST_LINES = 300
# From values of notes over the journal, a commit, the open channel, recall and a turn to the bots.
LONGEST_CHAIN = 22
MOST_BRANCHES = 10


def test_no_module_is_too_long_to_be_read_at_once() -> None:
    """300 lines; what needs more does two things."""
    too_long = {}
    for path in FILES:
        name, lines = str(path.relative_to(HOUSE)), len(path.read_text("utf-8").splitlines())
        if lines > MOST_LINES:
            too_long[name] = lines
    assert too_long == {}


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """What is in a function, without what is in functions inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
            yield from _own_nodes(child)


def _branches(function: ast.AST) -> int:
    """The complexity of a function as radon counts it."""
    count = 1
    for node in _own_nodes(function):
        match node:
            case ast.If() | ast.IfExp() | ast.Assert() | ast.ExceptHandler():
                count += 1
            case ast.For() | ast.AsyncFor() | ast.While():
                count += 1 + bool(node.orelse)
            case ast.Try():
                count += bool(node.orelse)
            case ast.comprehension():
                count += 1 + len(node.ifs)
            case ast.BoolOp():
                count += len(node.values) - 1
            case ast.Match():
                count += sum(ast.unparse(case.pattern) != "_" for case in node.cases)
    return count


@pytest.mark.slow
def test_no_function_has_too_many_branches_to_be_followed() -> None:
    """More than 10 are steps that want names; the offline rules are not counted."""
    too_many = {}
    for path in FILES:
        if path.is_relative_to(RULES):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name, count = f"{path.relative_to(HOUSE)}:{node.name}", _branches(node)
                if count > MOST_BRANCHES:
                    too_many[name] = count
    assert too_many == {}


def test_imports_do_not_go_deeper() -> None:
    """A type that stands where it belongs makes the chain shorter; a detour makes it longer."""
    longest = longest_chain()
    assert len(longest) <= LONGEST_CHAIN, "\n".join(longest)
