"""The house in figures: lines, files, code tokens, complexity, and the files of each journey."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.baseline.table import Figure, Table
from benchmarks.baseline.trees import Tree

GROUP, JOURNEYS = "the house", "files of a journey"
_TRANSCRIPT = Path(__file__).parents[2] / "examples" / "release-room.jsonl"
_CODE = (tokenize.NAME, tokenize.OP, tokenize.NUMBER)
_CHANNEL = "room"


def measure(table: Table, trees: Sequence[Tree]) -> None:
    """Add the rows of the package, of its tests and benchmarks, and of the journeys."""
    counts = {tree.label: package_figures(tree.path / "pipimem") for tree in trees}
    for name in counts[trees[0].label]:
        table.compare(GROUP, name, "", counts, lambda figures, name=name: figures[name])
    for folder in ("tests", "benchmarks"):
        lines = {tree.label: _lines(tree.path / folder) for tree in trees}
        table.compare(GROUP, f"lines of Python in {folder}", "", lines, Figure)
    _journeys(table, trees)


def package_figures(package: Path) -> dict[str, Figure]:
    """Return the figures of a package by name."""
    texts = {path: path.read_text("utf-8") for path in sorted(package.rglob("*.py"))}
    parsed = [ast.parse(text) for text in texts.values()]
    lengths = [len(text.splitlines()) for text in texts.values()]
    branches = [
        complexity(node)
        for tree in parsed
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {
        "files": Figure(len(texts)),
        "lines": Figure(sum(lengths)),
        "code tokens": Figure(sum(map(code_tokens, texts.values()))),
        "longest file": Figure(max(lengths)),
        "functions": Figure(len(branches)),
        "mean complexity of a function": Figure(mean(branches)),
        "functions of complexity 11 and more": Figure(sum(count > 10 for count in branches)),
    }


def code_tokens(text: str) -> int:
    """Count names, operators and numbers: formatting cannot move their count."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type in _CODE for token in tokens)


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a function, without the functions inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
            yield from _own_nodes(child)


def complexity(function: ast.AST) -> int:
    """Return the cyclomatic complexity of a function as radon counts it."""
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


def _lines(folder: Path) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in folder.rglob("*.py"))


def _journeys(table: Table, trees: Sequence[Tree]) -> None:
    found = {}
    for tree in trees:
        workspace = tree.workspace("journeys")
        options = ("--kind", "group", "--compact-every", "60", "--maintain")
        tree.command("replay", _CHANNEL, str(_TRANSCRIPT), *options, workspace=workspace)
        found[tree.label] = tree.child("journeys", workspace=workspace, channel=_CHANNEL)
    for name in found[trees[0].label]:
        table.compare(JOURNEYS, name, "", found, lambda one, name=name: _passed(one[name]))


def _passed(journey: dict[str, Any]) -> Figure:
    note = f"{journey['lines']:,} lines in them, {journey['functions']} functions"
    if journey.get("state", "consolidated") != "consolidated":
        note += f"; {journey['state']}"
    return Figure(journey["files"], note=note)
