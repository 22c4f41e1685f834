"""The share of questions whose evidence is in the whole memory, in a turn, and in a turn and a
search.

Usage: python -m benchmarks.answers EVALS_DIR [--channel NAME …] [--questions N] [--seed 7] [--model
M] [--questions-from FILE] [--workspace DIR] [--out DIR]

Each conversation is replayed into a workspace of its own (by the offline rules unless --model says
otherwise), or taken as it stands in --workspace. The questions are those of EVALS_DIR or of
--questions-from; `benchmarks/answers/memorybank-zh.jsonl` has sixty in Chinese, ten of which cannot
be answered. A question is asked in a new session. No model judges: a question counts by the share of
its groups of gold messages of which one is a source of what is shown (`sources` of an entry, or the
message whose words a quote repeats). With --out the contexts, and the whole memory as
CHANNEL.whole.jsonl, are written as lines that `answers.py run` of EVALS_DIR puts to an answerer and
a judge.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from click.testing import CliRunner
from pipimem import Pipimem, Turn
from pipimem.cli.commands import pipimem as command
from pipimem.notes.notes import Notes
from pipimem.text.quotes import words_said
from pipimem.text.token_count import estimate

from benchmarks.machine import heading
from benchmarks.recall.talks import lines

SEARCHED = 10
_COMPACTED_EVERY = "60"


@dataclass
class Row:
    """One conversation: how much of the evidence each supply holds, and what it costs in tokens."""

    channel: str
    memory: list[float] = field(default_factory=list)
    turn: list[float] = field(default_factory=list)
    both: list[float] = field(default_factory=list)
    turn_tokens: list[int] = field(default_factory=list)
    both_tokens: list[int] = field(default_factory=list)


class Sources:
    """Which messages a line of memory goes back to."""

    def __init__(self, notes: Notes, messages: Sequence[dict]) -> None:
        self._records = notes.ledger.records
        self._messages = [(row["id"], _plain(row["content"])) for row in messages]
        self._of_text: dict[str, frozenset[str]] = {}

    def of_ids(self, ids: Iterable[str]) -> frozenset[str]:
        """The sources of entries, by their content ids or as a turn names them; a message itself."""
        found: set[str] = set()
        for name in ids:
            place, _, rest = name.rpartition(":")
            if place.startswith("log"):
                found.add(name.removeprefix("log:"))
                continue
            record = self._records.get(rest.partition(".")[0])
            if record:
                found.update(record.sources)
        return frozenset(found)

    def of_text(self, text: str) -> frozenset[str]:
        """The messages whose words stand in a text: what a quote repeats."""
        found: set[str] = set()
        for line in text.splitlines():
            found |= self._of_line(line)
        return frozenset(found)

    def _of_line(self, line: str) -> frozenset[str]:
        known = self._of_text.get(line)
        if known is None:
            words = _plain(words_said(line.lstrip("-*# ")))
            known = frozenset(
                name for name, content in self._messages if len(words) > 12 and words in content
            )
            self._of_text[line] = known
        return known


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _share(gold: Sequence[Sequence[str]], sources: frozenset[str]) -> float:
    return sum(any(name in sources for name in group) for group in gold) / len(gold)


def _replayed(folder: Path, channel: str, transcript: Path, model: str) -> Path:
    workspace = folder / channel
    runner = CliRunner()
    for arguments in (
        ["init", str(workspace)],
        [
            *("--workspace", str(workspace), "--model", model),
            *("replay", channel, str(transcript), "--kind", "group"),
            *("--compact-every", _COMPACTED_EVERY, "--maintain"),
        ],
    ):
        done = runner.invoke(command, arguments, prog_name="pipimem")
        if done.exit_code:
            raise SystemExit(f"pipimem {' '.join(arguments)}: {done.output}")
    return workspace


def _searched(workspace: Path, rows: Sequence[dict], folder: Path) -> list[list[dict]]:
    batch = folder / "questions.jsonl"
    batch.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    arguments = [
        "--workspace",
        str(workspace),
        "search",
        "--batch",
        str(batch),
        "-k",
        str(SEARCHED),
    ]
    done = CliRunner().invoke(command, arguments, prog_name="pipimem")
    return [json.loads(line)["candidates"] for line in done.stdout.splitlines()]


async def _asked(workspace: Path, channel: str, rows: Sequence[dict]) -> tuple[Notes, list[Turn]]:
    turns = []
    for row in rows:
        # A session of its own for each question: what was shown before is not left out.
        async with Pipimem(workspace) as pipimem:
            opened = await pipimem.channel(channel)
            turns.append(await opened.before_turn(row["query"]))
            notes = await opened.notes()
    return notes, turns


def _questions(arguments: argparse.Namespace, channel: str) -> list[dict]:
    """The questions of one conversation: of a file of one's own, of EVALS_DIR, or a sample."""
    path = arguments.questions_from or arguments.evals / "questions" / f"{channel}.jsonl"
    rows = [row for row in lines(path) if row["channel"] == channel]
    if arguments.questions and arguments.questions < len(rows):
        rows = random.Random(arguments.seed).sample(rows, arguments.questions)
    return rows


def measured(channel: str, arguments: argparse.Namespace, folder: Path) -> Row:
    """Replays one conversation, or takes it as it stands in --workspace, and asks its questions."""
    transcript = arguments.evals / "transcripts" / f"{channel}.jsonl"
    workspace = arguments.workspace or _replayed(folder, channel, transcript, arguments.model)
    # Idle work beside the questions would change what they are asked of.
    (workspace / "pipimem.toml").write_text("[maintenance]\nenabled = false\n", encoding="utf-8")
    questions = _questions(arguments, channel)
    found = _searched(workspace, questions, folder)
    notes, turns = anyio.run(_asked, workspace, channel, questions)
    if arguments.out:
        _write(arguments.out, channel, questions, notes, turns)
    return _evidence(channel, questions, Sources(notes, lines(transcript)), notes, turns, found)


def _evidence(
    channel: str,
    questions: Sequence[dict],
    sources: Sources,
    notes: Notes,
    turns: Sequence[Turn],
    found: Sequence[list[dict]],
) -> Row:
    """Which of the gold messages are among the sources; a question without any is not counted."""
    whole = sources.of_ids(notes.ledger.records)
    for note in (notes.session, notes.memory, notes.history):
        whole |= sources.of_text(note.text)
    row = Row(channel)
    for question, turn, hits in zip(questions, turns, found, strict=True):
        if not question["gold"]:
            continue
        shown = sources.of_ids(turn.shown) | sources.of_text(_values(turn.context))
        ids = frozenset(hit["id"] for hit in hits)
        excerpts = "\n".join(hit["content"] for hit in hits)
        row.memory.append(_share(question["gold"], whole))
        row.turn.append(_share(question["gold"], shown))
        row.both.append(_share(question["gold"], shown | ids))
        row.turn_tokens.append(estimate(turn.context))
        row.both_tokens.append(estimate(turn.context) + estimate(excerpts))
    return row


def _write(
    out: Path, channel: str, questions: Sequence[dict], notes: Notes, turns: Sequence[Turn]
) -> None:
    """The questions with what a turn supplies and with the whole memory, for `answers.py run`."""
    out.mkdir(parents=True, exist_ok=True)
    whole = "\n\n".join(note.text for note in (notes.session, notes.memory, notes.history))
    with (
        (out / f"{channel}.jsonl").open("w", encoding="utf-8") as supplied,
        (out / f"{channel}.whole.jsonl").open("w", encoding="utf-8") as all_of_it,
    ):
        for question, turn in zip(questions, turns, strict=True):
            for file, context in ((supplied, turn.context), (all_of_it, whole)):
                row = {**question, "context": context}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _values(context: str) -> str:
    """The texts of a fenced block, one a line."""
    texts = []
    for line in context.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            texts.append(line)
            continue
        texts += [str(part) for part in (value.values() if isinstance(value, dict) else [value])]
    return "\n".join(texts)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("evals", type=Path)
    parser.add_argument("--channel", action="append")
    parser.add_argument("--questions", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--model", default="offline")
    parser.add_argument("--questions-from", type=Path)
    parser.add_argument("--workspace", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    channels = arguments.channel or sorted(
        path.stem for path in (arguments.evals / "transcripts").glob("*.jsonl")
    )
    print(heading(f"evidence in what memory supplies, written by {arguments.model}"))
    print(
        f"{'channel':16}{'n':>5}{'memory':>8}{'turn':>8}{'+search':>9}{'tokens':>8}{'+search':>9}"
    )
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for channel in channels:
            rows.append(measured(channel, arguments, Path(folder)))
            _print(rows[-1])
    total = Row("all")
    for row in rows:
        for name in ("memory", "turn", "both", "turn_tokens", "both_tokens"):
            getattr(total, name).extend(getattr(row, name))
    _print(total)


def _print(row: Row) -> None:
    print(
        f"{row.channel:16}{len(row.turn):5}{_mean(row.memory):8.3f}{_mean(row.turn):8.3f}"
        f"{_mean(row.both):9.3f}{_mean(row.turn_tokens):8.0f}{_mean(row.both_tokens):9.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
