"""Search in recorded talk, evidence in `turn.context`, and the time of a replay.

`EVALS_DIR` holds `transcripts/`, `questions/` and `beam/`, a file for each conversation.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.baseline import scores
from benchmarks.baseline.bm25 import Index
from benchmarks.baseline.effort import Effort
from benchmarks.baseline.materials import read_lines, write_lines
from benchmarks.baseline.table import Figure, Table
from benchmarks.baseline.trees import Tree, by_turns

SEARCH, BY_KIND, SUPPLY = "search in talk", "search in talk, by kind", "evidence in turn.context"
_OWN = Path(__file__).parents[1] / "consolidation" / "talks" / "band-zh.jsonl"
_COMPACTED_EVERY = "60"
_BY_ASSISTANT = "said by the assistant alone"
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class TalkSet:
    """Conversations of one kind, with their questions by channel."""

    name: str
    kind: str
    transcripts: dict[str, Path]
    questions: dict[str, Rows]

    def messages(self) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
        """Yield each message by its channel and id."""
        for channel, path in self.transcripts.items():
            for message in read_lines(path):
                yield (channel, message["id"]), message


def talk_sets(evals: Path | None, effort: Effort) -> dict[str, TalkSet]:
    """Return LoCoMo, MemoryBank zh and BEAM, as far as they are there."""
    found = {}
    for name, folder, pattern, kind in (
        ("LoCoMo", ".", "locomo-*.jsonl", "group"),
        ("MemoryBank zh", ".", "memorybank-zh.jsonl", "group"),
        ("BEAM", "beam", "beam-*.jsonl", "dm"),
    ):
        root = evals / folder if evals else None
        files = sorted((root / "questions").glob(pattern)) if root else []
        if root and files:
            files = files[: 1 if effort.some else None]
            asked = {path.stem: read_lines(path)[: effort.some] for path in files}
            said = {path.stem: root / "transcripts" / path.name for path in files}
            found[name] = TalkSet(name, kind, said, asked)
    return found


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
    return tree.command("replay", channel, str(path), *options, workspace=workspace).wall_ms


def batch(tree: Tree, talks: TalkSet, command: str, *options: str) -> Rows:
    """Ask every question of a set through `search --batch` or `recall --batch`."""
    workspace = replayed(tree, talks)
    rows = [row for rows in talks.questions.values() for row in rows]
    asked = write_lines(workspace / "questions.jsonl", rows)
    done = tree.command(command, "--batch", str(asked), *options, workspace=workspace)
    return [json.loads(line) for line in done.printed.splitlines()]


def query_times(rows: Rows) -> Figure:
    """Return the times of the queries in a warm process."""
    return Figure.of_samples([row["elapsed_ms"] for row in rows])


def measure(table: Table, trees: Sequence[Tree], evals: Path | None, effort: Effort) -> None:
    """Add the rows of every set."""
    known = talk_sets(evals, effort)
    if not known:
        reason = f"{evals} has no questions" if evals else "no EVALS_DIR"
        table.leave_out(SEARCH, "LoCoMo, MemoryBank zh, BEAM", reason)
        table.leave_out(SUPPLY, "LoCoMo, MemoryBank zh, BEAM", reason)
    for talks in known.values():
        table.say(f"{SEARCH}: replaying {talks.name}")
        by_turns(trees, 1, lambda tree, talks=talks: replayed(tree, talks))
        add_search(table, trees, talks)
        add_supply(table, trees, talks)
    own = TalkSet("an own talk", "group", {"own": _OWN}, {})
    _replay_time(table, trees, own, effort)
    if "MemoryBank zh" in known and not effort.some:
        _replay_time(table, trees, known["MemoryBank zh"], effort)


def add_search(table: Table, trees: Sequence[Tree], talks: TalkSet) -> None:
    """Add R@1, R@5, R@10, MRR and the time of `search --batch`, and R@10 of each kind."""
    found = {tree.label: batch(tree, talks, "search") for tree in trees}
    rivals = {"BM25": _by_bm25(talks), "of passages": _by_bm25(talks, by_passage=True)}
    for most in (1, 5, 10):
        table.compare(
            SEARCH,
            f"{talks.name}, R@{most}",
            "",
            found | rivals,
            lambda rows, most=most: scores.recall_at(rows, most),
        )
    table.compare(SEARCH, f"{talks.name}, MRR", "", found | rivals, scores.reciprocal_rank)
    table.compare(SEARCH, f"{talks.name}, a query", "ms", found, query_times)
    assistant = {key for key, message in talks.messages() if message["role"] == "assistant"}
    kinds: dict[str, dict[str, Rows]] = defaultdict(lambda: defaultdict(list))
    for label, rows in (found | rivals).items():
        for row in filter(scores.has_gold, rows):
            kinds[row["kind"]][label].append(row)
            gold = {(row["channel"], name) for group in scores.groups_of(row) for name in group}
            if gold <= assistant:
                kinds[_BY_ASSISTANT][label].append(row)
    for kind in sorted(kinds):
        name = f"{talks.name}, {kind}, R@10"
        table.compare(BY_KIND, name, "", kinds[kind], lambda rows: scores.recall_at(rows, 10))


def add_supply(table: Table, trees: Sequence[Tree], talks: TalkSet) -> None:
    """Add the evidence in the first turn of a new session, and the tokens of its context."""
    contents = {key: message["content"] for key, message in talks.messages()}
    found = {tree.label: batch(tree, talks, "recall", "--turn") for tree in trees}
    table.compare(SUPPLY, talks.name, "", found, lambda rows: scores.evidence(rows, contents))
    table.compare(SUPPLY, f"{talks.name}, the context", "tokens", found, scores.context_tokens)


def _by_bm25(talks: TalkSet, *, by_passage: bool = False) -> Rows:
    rows: Rows = []
    for channel, asked in talks.questions.items():
        index = Index(read_lines(talks.transcripts[channel]), by_passage=by_passage)
        for row in asked:
            candidates = [{"id": name} for name in index.search(row["query"])]
            rows.append({**row, "candidates": candidates})
    return rows


def _replay_time(table: Table, trees: Sequence[Tree], talks: TalkSet, effort: Effort) -> None:
    (path,) = talks.transcripts.values()
    numbers = count()

    def once(tree: Tree) -> float:
        workspace = tree.workspace("replays")
        return replay(tree, workspace, f"talk{next(numbers)}", path, talks.kind) / 1000

    size = len(path.read_text("utf-8").splitlines())
    times = by_turns(trees, effort.rounds, once)
    table.compare("replay", f"{talks.name}, {size:,} messages", "s", times, Figure.of_samples)
