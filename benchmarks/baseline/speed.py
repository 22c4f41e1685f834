"""Times of turns, commits and starts, and memory, at several sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, count
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
from benchmarks.baseline.talk import TalkSet, batch, query_times, replayed, talk_sets
from benchmarks.baseline.trees import Process, Tree, by_turns

TURNS, STARTS, MEMORY = "turns and commits", "starts", "memory"
_EDITED, _COMMITTED, _COLD, _COMMITS = 5_000, (50, 500, 5_000), (500, 5_000), 40
_STORMS = 2
_SIZES = "sizes"
_COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "import pipimem": ("-c", "import pipimem"),
    "from pipimem import Pipimem": ("-c", "from pipimem import Pipimem"),
    "pipimem --help": ("-m", "pipimem", "--help"),
}


def measure(table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort) -> None:
    """Add the rows of turns, commits, starts and memory."""
    for size in effort.sizes:
        for tree in trees:
            write_channel(tree.workspace(_SIZES), size)
        asked = {f"n{size}": questions(effort.samples, offset=7)}
        _turns(table, trees, effort, f"before_turn, {size:,} entries", _SIZES, asked)
    _turns_in_talk(table, trees, evals, effort)
    _turns_beside_messages(table, trees, effort)
    _edits(table, trees, effort)
    for size in sorted({min(size, effort.sizes[-1]) for size in _COMMITTED}):
        _commits(table, trees, effort, size)
    _talk_beside_commits(table, trees, effort)
    _starts(table, trees, effort)
    _memory(table, trees, effort)


def _turns(
    table: Table,
    trees: Sequence[Tree],
    effort: Effort,
    name: str,
    workspace: str,
    channels: dict[str, list[str]],
) -> None:
    """Add a turn's time in warm channels, and that of the first turn in a process."""

    def once(tree: Tree) -> Any:
        return tree.child("turns", workspace=tree.workspace(workspace), channels=channels)

    table.say(f"{TURNS}: {name}")
    found = by_turns(trees, effort.rounds, once)
    table.compare(TURNS, name, "ms", found, _pooled("ms"))
    table.compare(TURNS, f"{name}, the first in a process", "ms", found, _pooled("first_ms"))


def _pooled(name: str) -> Callable[[list[dict[str, list[float]]]], Figure]:
    """Return a function that makes a figure of the samples of all rounds."""
    return lambda rounds: Figure.of_samples([value for one in rounds for value in one[name]])


def _turns_in_talk(table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort) -> None:
    beam = talk_sets(evals, effort).get("BEAM")
    if beam is None:
        table.leave_out(TURNS, "before_turn in a BEAM chat", "no BEAM in EVALS_DIR")
        return
    for tree in trees:
        replayed(tree, beam)
    asked = {name: [row["query"] for row in rows] for name, rows in beam.questions.items()}
    _turns(table, trees, effort, "before_turn in a BEAM chat", f"replayed {beam.name}", asked)


def _turns_beside_messages(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    beside = f"{effort.messages:,} messages"
    path = write_lines(trees[0].scratch / "long.jsonl", long_transcript(effort.messages))
    asked = questions(effort.samples, offset=100)
    rows = [{"channel": "long", "query": text} for text in asked]
    talks = TalkSet("long", "group", {"long": path}, {"long": rows})

    def taken_in(tree: Tree) -> float:
        options = ("--channel", "long", "--kind", "group")
        workspace = tree.workspace("replayed long")
        return tree.command("import", str(path), *options, workspace=workspace).wall_ms / 1000

    table.say(f"{STARTS}: import of {beside}")
    imported = by_turns(trees, 1, taken_in)
    table.compare(STARTS, f"import of {beside}", "s", imported, Figure.of_samples)
    name = f"before_turn beside {beside}"
    _turns(table, trees, effort, name, "replayed long", {"long": asked})
    found = by_turns(trees, effort.rounds, lambda tree: batch(tree, talks, "search"))
    searched = {label: list(chain.from_iterable(rounds)) for label, rounds in found.items()}
    table.compare(TURNS, f"search in {beside}", "ms", searched, query_times)


def _edits(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    size, times = min(_EDITED, effort.sizes[-1]), max(4, effort.samples // 4)

    def once(tree: Tree) -> Any:
        workspace = tree.workspace(_SIZES)
        text = (workspace / "channels" / f"n{size}" / "MEMORY.md").read_text("utf-8")
        texts = [reworded(text, 10 + n, n) for n in range(times)]
        asked = questions(times, offset=2_000)
        given = {"channel": f"n{size}", "texts": texts, "questions": asked}
        return tree.child("edits", workspace=workspace, **given)

    found = by_turns(trees, effort.rounds, once)
    name = f"the turn after an edit, {size:,} entries"
    table.compare(TURNS, name, "ms", found, _pooled("edited"))
    table.compare(TURNS, "the turn after that turn", "ms", found, _pooled("plain"))


def _commits(table: Table, trees: Sequence[Tree], effort: Effort, size: int) -> None:
    numbers = count()
    texts = [f"The crane in hall {n} is served by team {n % 7}." for n in range(_COMMITS)]

    def once(tree: Tree) -> Any:
        workspace = tree.workspace("commits")
        name = write_channel(workspace, size, f"n{size}-{next(numbers)}")
        kept = texts[: effort.samples]
        return tree.child("commits", workspace=workspace, channel=name, texts=kept)

    found = by_turns(trees, effort.rounds, once)
    table.compare(TURNS, f"remember: a commit, {size:,} entries", "ms", found, _pooled("remember"))
    if size == _COMMITTED[0]:
        table.compare(TURNS, "after_turn, two messages", "ms", found, _pooled("after_turn"))


def _talk_beside_commits(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    numbers = count()

    def once(tree: Tree) -> Any:
        workspace, name = tree.workspace("beside commits"), f"room-{next(numbers)}"
        given = {"channel": name, "processes": _STORMS, "samples": effort.samples}
        return tree.child("beside_commits", workspace=workspace, **given)

    found = by_turns(trees, effort.rounds, once)
    for measured in ("append", "after_turn"):
        name = f"{measured}, a message, beside {_STORMS} processes that commit"
        table.compare(TURNS, name, "ms", found, _pooled(measured))


def _starts(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    for name, command in _COMMANDS.items():
        _start(table, trees, effort, name, lambda tree, command=command: tree.python(*command))
    for size in (size for size in _COLD if size in effort.sizes):

        def cold(tree: Tree, size: int = size) -> Process:
            return tree.command("recall", f"n{size}", QUERIES[0], workspace=tree.workspace(_SIZES))

        _start(table, trees, effort, f"pipimem recall, cold, {size:,} entries", cold)


def _start(
    table: Table, trees: Sequence[Tree], effort: Effort, name: str, run: Callable[[Tree], Process]
) -> None:
    by_turns(trees, 1, run)  # warms the page cache
    found = by_turns(trees, effort.starts, run)
    for unit, clock in (("ms", "wall_ms"), ("ms of the processor", "processor_ms")):
        times = {label: [getattr(one, clock) for one in runs] for label, runs in found.items()}
        table.compare(STARTS, name, unit, times, Figure.of_samples)


def _memory(table: Table, trees: Sequence[Tree], effort: Effort) -> None:
    names = [f"turn-{n}" for n in range(effort.channels)]

    def once(tree: Tree) -> Any:
        workspace = tree.workspace("many")
        for name in names:
            write_channel(workspace, 100, name)
        return tree.child("many_channels", workspace=workspace, asked=names, questions=QUERIES)

    found = by_turns(trees, 1, once)
    for name, key in (
        ("idle channels", "idle"),
        ("channels of 100 entries after a turn each", "asked"),
    ):
        name = f"{effort.channels:,} {name}"
        table.compare(MEMORY, name, "MB", found, lambda rounds, key=key: Figure(rounds[0][key]))
