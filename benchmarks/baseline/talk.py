"""Search in recorded talk, evidence in `turn.context`, and the time of a replay.

`EVALS_DIR` holds `transcripts/`, `questions/` and `beam/`, a file for each conversation.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.baseline import scores
from benchmarks.baseline.bm25 import Index
from benchmarks.baseline.effort import Effort
from benchmarks.baseline.materials import read_lines, write_lines
from benchmarks.baseline.table import Figure, Table
from benchmarks.baseline.trees import Tree, by_turns

GROUP, SUPPLY = "search in talk", "evidence in turn.context"
OWN_TALKS = Path(__file__).parents[1] / "consolidation" / "talks"
_COMPACTED_EVERY = "60"
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class TalkSet:
    """Conversations of one kind, with their questions by channel."""

    name: str
    kind: str
    transcripts: dict[str, Path]
    questions: dict[str, Rows]


def talk_sets(evals: Path, effort: Effort) -> Iterator[TalkSet]:
    """Yield LoCoMo, MemoryBank zh and BEAM, as far as they are there."""
    for name, folder, pattern, kind in (
        ("LoCoMo", evals, "locomo-*.jsonl", "group"),
        ("MemoryBank zh", evals, "memorybank-zh.jsonl", "group"),
        ("BEAM", evals / "beam", "beam-*.jsonl", "dm"),
    ):
        files = sorted((folder / "questions").glob(pattern))[: effort.talks]
        asked = {path.stem: read_lines(path)[: effort.questions] for path in files}
        said = {path.stem: folder / "transcripts" / path.name for path in files}
        if files:
            yield TalkSet(name, kind, said, asked)


def replayed(tree: Tree, talks: TalkSet) -> Path:
    """Return a workspace of a tree with the conversations replayed by the offline rules."""
    workspace = tree.workspace(f"replayed {talks.name}")
    for channel, path in talks.transcripts.items():
        if not (workspace / "channels" / channel).exists():
            replay(tree, workspace, channel, path, talks.kind)
    return workspace


def replay(tree: Tree, workspace: Path, channel: str, path: Path, kind: str) -> float:
    """Replay a transcript; returns the wall time in milliseconds."""
    options = ("--kind", kind, "--compact-every", _COMPACTED_EVERY, "--maintain")
    arguments = ("replay", channel, str(path), *options)
    return tree.command(*arguments, workspace=workspace).wall_ms


def measure(table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort) -> None:
    """Add the rows of every set."""
    known = list(talk_sets(evals, effort)) if evals else []
    if not known:
        reason = "no EVALS_DIR" if evals is None else f"{evals} has no questions"
        for group in (GROUP, SUPPLY):
            table.leave_out(group, "LoCoMo, MemoryBank zh, BEAM", reason)
    for talks in known:
        table.say(f"{GROUP}: replaying {talks.name}")
        by_turns(trees, 1, lambda tree, talks=talks: replayed(tree, talks))
    for talks in known:
        _search(table, trees, talks)
    for talks in known:
        _supply(table, trees, talks)
    _replay_time(table, trees, evals, effort)


def _search(table: Table, trees: Sequence[Tree], talks: TalkSet) -> None:
    results = {tree.label: batch(tree, talks, "search") for tree in trees}
    sides = {label: ("", rows) for label, rows in results.items()}
    first = trees[0].label
    sides["BM25"] = ("BM25 over messages, ", _by_bm25(talks, by_passage=False))
    sides["passages"] = ("BM25 over passages of 120 words, ", _by_bm25(talks, by_passage=True))
    for most in (1, 5, 10):
        figures = {label: scores.recall_at(results[label], most) for label in results}
        table.add(GROUP, f"{talks.name}, R@{most}", "", figures)
        for name in ("BM25", "passages"):
            head, rows = sides[name]
            table.add(GROUP, f"{head}{talks.name}, R@{most}", "", {first: scores.recall_at(rows, most)})
    figures = {label: scores.reciprocal_rank(rows) for label, rows in results.items()}
    table.add(GROUP, f"{talks.name}, MRR", "", figures)
    figures = {label: _query_ms(rows) for label, rows in results.items()}
    table.add(GROUP, f"{talks.name}, a query", "ms", figures)
    _by_kind(table, talks, results | {name: sides[name][1] for name in ("BM25", "passages")})


def _by_kind(table: Table, talks: TalkSet, results: dict[str, Rows]) -> None:
    """Add R@10 of each kind of question, and of what only the assistant said."""
    roles = {
        (channel, message["id"]): message["role"]
        for channel, path in talks.transcripts.items()
        for message in read_lines(path)
    }
    kinds: dict[str, dict[str, Rows]] = defaultdict(lambda: defaultdict(list))
    for label, rows in results.items():
        for row in filter(scores.has_gold, rows):
            kinds[str(row.get("kind", ""))][label].append(row)
            names = [name for group in scores.groups_of(row) for name in group]
            if all(roles[row["channel"], name] == "assistant" for name in names):
                kinds["said by the assistant alone"][label].append(row)
    for kind in sorted(kinds) if len(kinds) > 1 else ():
        figures = {label: scores.recall_at(rows, 10) for label, rows in kinds[kind].items()}
        for name in ("BM25", "passages"):
            head = "BM25 over messages" if name == "BM25" else "BM25 over passages"
            own = {next(iter(results)): figures.pop(name)}
            table.add(f"{GROUP}, by kind", f"{talks.name}, {kind}, R@10, {head}", "", own)
        table.add(f"{GROUP}, by kind", f"{talks.name}, {kind}, R@10", "", figures)


def _supply(table: Table, trees: Sequence[Tree], talks: TalkSet) -> None:
    contents = {
        (channel, message["id"]): message["content"]
        for channel, path in talks.transcripts.items()
        for message in read_lines(path)
    }
    results = {tree.label: batch(tree, talks, "recall", "--turn") for tree in trees}
    figures = {label: scores.evidence(rows, contents) for label, rows in results.items()}
    table.add(SUPPLY, talks.name, "", figures)
    figures = {label: scores.context_tokens(rows) for label, rows in results.items()}
    table.add(SUPPLY, f"{talks.name}, the whole context", "tokens", figures)


def batch(tree: Tree, talks: TalkSet, command: str, *options: str) -> Rows:
    """Ask every question of a set through `search --batch` or `recall --batch`."""
    workspace = replayed(tree, talks)
    rows = [row for rows in talks.questions.values() for row in rows]
    asked = write_lines(workspace / "questions.jsonl", rows)
    arguments = (command, "--batch", str(asked), *options)
    done = tree.command(*arguments, workspace=workspace)
    return [json.loads(line) for line in done.printed.splitlines()]


def _by_bm25(talks: TalkSet, *, by_passage: bool) -> Rows:
    rows: Rows = []
    for channel, asked in talks.questions.items():
        index = Index(read_lines(talks.transcripts[channel]), by_passage=by_passage)
        for row in asked:
            candidates = [{"id": name} for name in index.search(row["query"])]
            rows.append({**row, "candidates": candidates})
    return rows


def _query_ms(rows: Rows) -> Figure:
    return Figure.of_samples([row["elapsed_ms"] for row in rows])


def _replay_time(
    table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort
) -> None:
    sources = {path.stem: path for path in sorted(OWN_TALKS.glob("*.jsonl"))[:1]}
    if evals and (path := evals / "transcripts" / "memorybank-zh.jsonl").exists():
        sources["MemoryBank zh"] = path
    for name, path in sources.items():
        count = len(path.read_text("utf-8").splitlines())
        number = iter(range(10_000))

        def once(tree: Tree, path: Path = path, number: Iterator[int] = number) -> float:
            workspace = tree.workspace("replays")
            return replay(tree, workspace, f"talk{next(number)}", path, "group") / 1000

        times = by_turns(trees, effort.rounds, once)
        figures = {label: Figure.of_samples(values) for label, values in times.items()}
        table.add("replay", f"{name}, {count:,} messages", "s", figures)
