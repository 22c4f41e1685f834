"""Times of turns, commits and starts, and memory, at several sizes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.baseline.effort import Effort
from benchmarks.baseline.materials import (
    QUERIES,
    long_transcript,
    questions,
    reworded,
    write_channel,
    write_lines,
)
from benchmarks.baseline.table import Figure, Table
from benchmarks.baseline.talk import TalkSet, batch, replayed, talk_sets
from benchmarks.baseline.trees import Tree, by_turns

TURNS, STARTS, MEMORY = "turns", "starts", "memory"
_EDITED, _COMMITTED = 5_000, (50, 500, 5_000)
_WARM = 20


def measure(table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort) -> None:
    """Add the rows of turns, commits, starts and memory."""
    for tree in trees:
        for size in effort.sizes:
            write_channel(tree.workspace("sizes"), size)
    _turns(table, trees, effort)
    _turns_in_talk(table, trees, evals, effort)
    _turns_beside_messages(table, trees, effort)
    _edits(table, trees, effort)
    _commits(table, trees, effort)
    _starts(table, trees, effort)
    _memory(table, trees, effort)


def _turns(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    for size in effort.sizes:
        asked = questions(effort.samples, offset=7)
        channels = {f"n{size}": asked}
        _add_turns(table, trees, effort, f"before_turn, {size:,} entries", "sizes", channels)


def _add_turns(
    table: Table,
    trees: Sequence[Tree],
    effort: Effort,
    name: str,
    workspace: str,
    channels: dict[str, list[str]],
) -> None:
    table.say(f"{TURNS}: {name}")
    rounds = by_turns(
        trees,
        effort.rounds,
        lambda tree: tree.child("turns", workspace=str(tree.workspace(workspace)), channels=channels),
    )
    table.add(TURNS, name, "ms", _pooled(rounds, "ms"))
    table.add(TURNS, f"{name}, the first in a process", "ms", _pooled(rounds, "first_ms"))


def _pooled(rounds: dict[str, list[dict[str, Any]]], name: str) -> dict[str, Figure]:
    """Return a figure a tree of the samples of all rounds."""
    return {
        label: Figure.of_samples([value for one in results for value in one[name]])
        for label, results in rounds.items()
    }


def _turns_in_talk(
    table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort
) -> None:
    name = "before_turn in a BEAM chat"
    found = [talks for talks in talk_sets(evals, effort) if talks.name == "BEAM"] if evals else []
    if not found:
        table.leave_out(TURNS, name, "no EVALS_DIR" if evals is None else "no BEAM")
        return
    (beam,) = found
    for tree in trees:
        replayed(tree, beam)
    asked = {
        channel: [row["query"] for row in rows] for channel, rows in beam.questions.items()
    }
    _add_turns(table, trees, effort, name, f"replayed {beam.name}", asked)


def _turns_beside_messages(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    scratch, count = trees[0].scratch, effort.messages
    path = write_lines(scratch / "long.jsonl", long_transcript(count))
    asked = [
        {"qid": str(n), "channel": "long", "query": text, "gold": []}
        for n, text in enumerate(questions(effort.samples, offset=100))
    ]
    talks = TalkSet("long", "group", {"long": path}, {"long": asked})

    def taken_in(tree: Tree) -> float:
        workspace = tree.workspace("replayed long")
        arguments = ("import", str(path), "--channel", "long", "--kind", "group")
        return tree.command(*arguments, workspace=workspace).wall_ms / 1000

    table.say(f"{TURNS}: importing {count:,} messages")
    times = by_turns(trees, 1, taken_in)
    figures = {label: Figure(values[0]) for label, values in times.items()}
    table.add(STARTS, f"import of {count:,} messages", "s", figures)
    texts = [row["query"] for row in asked]
    name = f"before_turn beside {count:,} messages"
    _add_turns(table, trees, effort, name, "replayed long", {"long": texts})
    searched = by_turns(trees, effort.rounds, lambda tree: batch(tree, talks, "search"))
    figures = {
        label: Figure.of_samples([row["elapsed_ms"] for rows in results for row in rows])
        for label, results in searched.items()
    }
    table.add(TURNS, f"search in {count:,} messages", "ms", figures)


def _edits(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    size, count = min(_EDITED, max(effort.sizes)), max(10, effort.samples // 3)

    def once(tree: Tree) -> Any:
        workspace = tree.workspace("sizes")
        text = (workspace / "channels" / f"n{size}" / "MEMORY.md").read_text("utf-8")
        texts = [reworded(text, 10 + n, n) for n in range(count)]
        asked = questions(count, offset=20)
        return tree.child(
            "edits", workspace=str(workspace), channel=f"n{size}", texts=texts, questions=asked
        )

    rounds = by_turns(trees, effort.rounds, once)
    table.add(TURNS, f"the turn after an edit, {size:,} entries", "ms", _pooled(rounds, "edited"))
    table.add(TURNS, "the turn after that", "ms", _pooled(rounds, "plain"))


def _commits(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    for size in sorted({min(size, max(effort.sizes)) for size in _COMMITTED}):
        numbers = iter(range(1_000_000))

        def once(tree: Tree, size: int = size, numbers: Iterator[int] = numbers) -> Any:
            workspace, name = tree.workspace("commits"), f"n{size}-{next(numbers)}"
            write_channel(workspace, size, name)
            texts = [f"The crane in hall {n} is served by team {n % 7}." for n in range(40)]
            texts = texts[: effort.samples]
            return tree.child("commits", workspace=str(workspace), channel=name, texts=texts)

        rounds = by_turns(trees, effort.rounds, once)
        table.add(TURNS, f"remember: a commit, {size:,} entries", "ms", _pooled(rounds, "remember"))
        if size == _COMMITTED[0]:
            table.add(TURNS, "after_turn, two messages", "ms", _pooled(rounds, "after_turn"))


# ── starts and memory ─────────────────────────────────────────────────────────────────────────────


def _starts(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    bare = [_bare_ms() for _ in range(effort.starts)]
    table.add(STARTS, "python -c pass", "ms", {trees[0].label: Figure.of_samples(bare)})
    for name, arguments in (
        ("import pipimem", ("-c", "import pipimem")),
        ("from pipimem import Pipimem", ("-c", "from pipimem import Pipimem")),
        ("pipimem --help", ("-m", "pipimem", "--help")),
    ):
        _add_starts(table, trees, effort, name, lambda _, arguments=arguments: arguments)
    for size in (size for size in (500, 5_000) if size in effort.sizes):

        def cold(tree: Tree, size: int = size) -> tuple[str, ...]:
            workspace = ("--workspace", str(tree.workspace("sizes")))
            return ("-m", "pipimem", *workspace, "recall", f"n{size}", QUERIES[0])

        _add_starts(table, trees, effort, f"pipimem recall, cold, {size:,} entries", cold)


def _add_starts(
    table: Table, trees: Sequence[Tree], effort: Effort, name: str, command: Any
) -> None:
    by_turns(trees, 1, lambda tree: tree.python(*command(tree)))  # warms the page cache
    runs = by_turns(trees, effort.starts, lambda tree: tree.python(*command(tree)))
    for clock in ("wall_ms", "processor_ms"):
        figures = {
            label: Figure.of_samples([getattr(run, clock) for run in found])
            for label, found in runs.items()
        }
        suffix = "" if clock == "wall_ms" else ", processor"
        table.add(STARTS, f"{name}{suffix}", "ms", figures)


def _bare_ms() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.perf_counter() - began) * 1000


def _memory(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    names = [f"turn-{n}" for n in range(effort.channels)]

    def once(tree: Tree) -> Any:
        workspace = tree.workspace("many")
        for name in names:
            write_channel(workspace, 100, name)
        asked = questions(len(QUERIES), offset=7)
        return tree.child(
            "many_channels",
            workspace=str(workspace),
            idle=effort.channels,
            asked=names,
            questions=asked,
        )

    found = by_turns(trees, 1, once)
    for name, key in (
        (f"{effort.channels:,} idle channels", "idle"),
        (f"a turn in each of {effort.channels:,} channels of 100 entries", "asked"),
    ):
        figures = {label: Figure(results[0][key]) for label, results in found.items()}
        table.add(MEMORY, name, "MB", figures)
