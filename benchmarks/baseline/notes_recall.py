"""Recall of entries: EVALS_DIR/notes-scale, and the questions of `benchmarks/recall/cases`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.baseline import scores
from benchmarks.baseline.effort import Effort
from benchmarks.baseline.materials import read_lines, write_lines
from benchmarks.baseline.table import Figure, Table
from benchmarks.baseline.trees import Tree

GROUP = "recall of entries"
CASES = Path(__file__).parents[1] / "recall" / "cases"
OWN_SETS = ("", "fresh", "unseen", "blind", "third", "fourth")
# A Thursday: "last Thursday" and "last month" in the questions are counted from it.
_NOW = "2026-08-20T12:00:00+08:00"


def measure(table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort) -> None:
    """Add the rows of notes-scale and of each own set."""
    if evals is None or not (evals / "notes-scale").exists():
        table.leave_out(GROUP, "notes-scale", "no EVALS_DIR" if evals is None else "no notes-scale")
    else:
        source = evals / "notes-scale"
        asked = read_lines(source / "questions.jsonl")[: effort.questions]
        results = {tree.label: _batch(tree, source, asked) for tree in trees}
        _quality(table, "notes-scale", results)
        shown = {label: scores.shown(rows) for label, rows in results.items()}
        table.add(GROUP, "notes-scale, shown in the context", "", shown)
        for channel in dict.fromkeys(row["channel"] for row in asked):
            times = {
                label: Figure.of_samples([r["elapsed_ms"] for r in rows if r["channel"] == channel])
                for label, rows in results.items()
            }
            table.add(GROUP, f"notes-scale, a query in {channel}", "ms", times)
    for name in OWN_SETS:
        folder = CASES / name
        asked = read_lines(folder / "questions.jsonl")[: effort.questions]
        results = {tree.label: _asked(tree, folder, asked) for tree in trees}
        _quality(table, f"own set: {name or 'first'}", results)
    general = (CASES / "general.txt").read_text("utf-8").splitlines()[: effort.questions]
    results = {tree.label: _general(tree, general) for tree in trees}
    figures = {label: scores.silent(rows) for label, rows in results.items()}
    table.add(GROUP, "questions of anybody to anybody, silent", "", figures)


def _quality(table: Table, name: str, results: dict[str, list[dict[str, Any]]]) -> None:
    for most in (1, 5):
        figures = {label: scores.recall_at(rows, most) for label, rows in results.items()}
        table.add(GROUP, f"{name}, R@{most}", "", figures)
    if any(not scores.has_gold(row) for rows in results.values() for row in rows):
        figures = {label: scores.silent(rows) for label, rows in results.items()}
        table.add(GROUP, f"{name}, silent", "", figures)


def _copied(tree: Tree, source: Path, name: str) -> Path:
    workspace = tree.workspace(name)
    shutil.copytree(source, workspace, dirs_exist_ok=True)
    return workspace


def _batch(tree: Tree, source: Path, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    workspace = _copied(tree, source, "notes-scale")
    path = write_lines(workspace / "asked.jsonl", asked)
    done = tree.command("recall", "--batch", str(path), workspace=workspace)
    return [json.loads(line) for line in done.printed.splitlines()]


def _asked(tree: Tree, folder: Path, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    workspace = _copied(tree, folder / "workspace", f"cases {folder.name}")
    found = tree.child("recall", workspace=str(workspace), questions=asked, now=_NOW)
    return [{**row, **more} for row, more in zip(asked, found, strict=True)]


def _general(tree: Tree, texts: list[str]) -> list[dict[str, Any]]:
    """Ask what nobody's memory answers, of the nine memories of the first three sets."""
    results = []
    for name in OWN_SETS[:3]:
        folder = CASES / name
        channels = sorted(path.name for path in (folder / "workspace" / "channels").iterdir())
        asked = [{"channel": channel, "query": text} for channel in channels for text in texts]
        results += _asked(tree, folder, asked)
    return results
