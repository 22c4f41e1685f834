"""Recall of entries: EVALS_DIR/notes-scale, and the questions of `benchmarks/recall/cases`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.baseline import scores
from benchmarks.baseline.effort import Effort
from benchmarks.baseline.materials import read_lines, write_lines
from benchmarks.baseline.table import Table
from benchmarks.baseline.talk import Rows, query_times
from benchmarks.baseline.trees import Tree

GROUP = "recall of entries"
CASES = Path(__file__).parents[1] / "recall" / "cases"
OWN_SETS = ("", "fresh", "unseen", "blind", "third", "fourth")
# A Thursday: "last Thursday" and "last month" in the questions are counted from it.
_NOW = "2026-08-20T12:00:00+08:00"


def measure(table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort) -> None:
    """Add the rows of notes-scale and of each own set."""
    source = evals / "notes-scale" if evals else None
    if source is None or not source.exists():
        table.leave_out(GROUP, "notes-scale", f"no {source}" if source else "no EVALS_DIR")
    else:
        asked = read_lines(source / "questions.jsonl")[: effort.some]
        found = {tree.label: _batch(tree, source, asked) for tree in trees}
        _quality(table, "notes-scale", found)
        table.compare(GROUP, "notes-scale, shown in the context", "", found, scores.shown)
        for channel in dict.fromkeys(row["channel"] for row in asked):
            own = {
                label: [row for row in rows if row["channel"] == channel]
                for label, rows in found.items()
            }
            table.compare(GROUP, f"notes-scale, a query in {channel}", "ms", own, query_times)
    for name in OWN_SETS[: effort.some]:
        asked = read_lines(CASES / name / "questions.jsonl")[: effort.some]
        found = {tree.label: _asked(tree, CASES / name, asked) for tree in trees}
        _quality(table, f"own set, {name or 'first'}", found)
    texts = (CASES / "general.txt").read_text("utf-8").splitlines()[: effort.some]
    found = {tree.label: _asked_of_all(tree, texts) for tree in trees}
    table.compare(GROUP, "questions of anybody to anybody, silent", "", found, scores.silent)


def _quality(table: Table, name: str, found: dict[str, Rows]) -> None:
    for most in (1, 5):
        table.compare(
            GROUP,
            f"{name}, R@{most}",
            "",
            found,
            lambda rows, most=most: scores.recall_at(rows, most),
        )
    table.compare(GROUP, f"{name}, silent", "", found, scores.silent)


def _copied(tree: Tree, source: Path, name: str) -> Path:
    return shutil.copytree(source, tree.workspace(name), dirs_exist_ok=True)


def _batch(tree: Tree, source: Path, asked: Rows) -> Rows:
    workspace = _copied(tree, source, "notes-scale")
    path = write_lines(workspace / "asked.jsonl", asked)
    done = tree.command("recall", "--batch", str(path), workspace=workspace)
    return [json.loads(line) for line in done.printed.splitlines()]


def _asked(tree: Tree, folder: Path, asked: Rows) -> Rows:
    workspace = _copied(tree, folder / "workspace", f"cases {folder.name}")
    found = tree.child("recall", workspace=workspace, questions=asked, now=_NOW)
    return [{**row, **more} for row, more in zip(asked, found, strict=True)]


def _asked_of_all(tree: Tree, texts: list[str]) -> Rows:
    """Ask the nine memories of the first three sets what none of them can answer."""
    rows: Rows = []
    for name in OWN_SETS[:3]:
        channels = (path.name for path in (CASES / name / "workspace" / "channels").iterdir())
        asked = [{"channel": channel, "query": text} for channel in channels for text in texts]
        rows += _asked(tree, CASES / name, asked)
    return rows
