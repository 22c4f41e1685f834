"""What is kept of ten labelled stretches of talk, by the rules or by a model.

usage: python -m benchmarks.consolidation --evals DIR [--unseen | --blind | --blind-second |
--blind-third | --blind-fourth] [--table] [--model M] [--prompts DIR] [--only NAME...] [--timeout S]

`DIR` holds the evaluation's `transcripts/`. With `--unseen` the stretches are our own twelve talks,
with `--blind` six more, with `--blind-second` and `--blind-third` another six each, with
`--blind-fourth` four, written by people who had not seen rules or prompts; `--table` prints no sentence of them. In the blind talks what was changed or done by the end counts as falsified where
it still stands, also in its own words; in the unseen ones its own words pass. The model is
a litellm name, or `offline` for the rules. `--prompts` is a folder of prompts to use instead of our
own, to compare. Junk is what matches no label: it is listed, for people to judge.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.consolidation.labels import (
    BLIND,
    BLIND_FOURTH,
    BLIND_SECOND,
    BLIND_THIRD,
    FOLDER,
    UNSEEN,
    Score,
    Stretch,
    scored,
    stretches,
)
from benchmarks.consolidation.running import Outcome, run
from benchmarks.machine import heading

_HEAD = (
    "stretch",
    "kept / labelled",
    "in history too",
    "junk / entries",
    "falsified",
    "of these overtaken",
    "valid / tries",
    "tokens in",
    "out",
    "s",
)
Row = tuple[Stretch, Outcome, Score]


def main() -> None:
    """Run the stretches and print the table, what was missed, and what matches no label."""
    args = _arguments()
    print(
        heading(
            f"Consolidation of labelled talk, {args.model}",
            "litellm" if args.model != "offline" else "jieba",
        )
    )
    known = stretches(args.folder)
    chosen = [stretch for stretch in known if not args.only or stretch.name in args.only]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for stretch in chosen:
            outcome = run(stretch, args.evals, Path(folder), args.model, args.timeout, args.prompts)
            rows.append((stretch, outcome, scored(stretch, outcome.entries)))
            if not args.table:
                _details(*rows[-1])
    _table(rows)


def _details(stretch: Stretch, outcome: Outcome, score: Score) -> None:
    print(f"── {stretch.name}   {outcome.title.removeprefix('## ')}")
    if outcome.problem:
        print(f"  FAILED  {outcome.problem}")
    for text in outcome.entries:
        mark = (
            "overtaken"
            if text in score.stale
            else "WRONG"
            if text in score.falsified
            else "junk"
            if text in score.junk
            else "fine"
            if text in score.fine
            else "kept"
        )
        print(f"  {mark}    {text}")
    for fact in score.missed:
        print(f"  missed  ({fact.says})")
    for text in outcome.history:
        print(f"  told    {text}")
    print(flush=True)


def _table(rows: Sequence[Row]) -> None:
    lines = [
        _HEAD,
        *(_line(stretch.name, [(stretch, outcome, score)]) for stretch, outcome, score in rows),
    ]
    ten = [row for row in rows if not row[0].held_out]
    groups = {
        "all en": [row for row in ten if row[0].language == "en"],
        "all zh": [row for row in ten if row[0].language == "zh"],
        "all": ten,
        "held out": [row for row in rows if row[0].held_out],
        "unseen": [row for row in rows if row[0].unseen],
    }
    lines += [_line(name, some) for name, some in groups.items() if some]
    print("| " + " | ".join(_HEAD) + " |\n|" + " --- |" * len(_HEAD))
    for line in lines[1:]:
        print("| " + " | ".join(line) + " |")


def _line(name: str, rows: Sequence[Row]) -> tuple[str, ...]:
    facts = sum(len(stretch.facts) for stretch, _, _ in rows)
    kept = sum(len(score.kept) for _, _, score in rows)
    told = sum(
        any(fact.is_in(text) for text in (*outcome.entries, *outcome.history))
        for stretch, outcome, _ in rows
        for fact in stretch.facts
    )
    junk, entries = (
        sum(len(score.junk) for _, _, score in rows),
        sum(score.entries for _, _, score in rows),
    )
    valid, attempts = sum(o.valid for _, o, _ in rows), sum(o.attempts for _, o, _ in rows)
    tokens = sum(o.tokens_in for _, o, _ in rows), sum(o.tokens_out for _, o, _ in rows)
    return (
        name,
        f"{kept} / {facts} = {kept / facts:.2f}",
        f"{told} = {told / facts:.2f}",
        f"{junk} / {entries} = {junk / entries:.2f}" if entries else "0 / 0",
        str(sum(len(score.falsified) for _, _, score in rows)),
        str(sum(len(score.stale) for _, _, score in rows)),
        f"{valid} / {attempts}",
        f"{tokens[0]:,}",
        f"{tokens[1]:,}",
        f"{sum(o.seconds for _, o, _ in rows):.1f}",
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.consolidation", description=__doc__)
    parser.add_argument("--evals", type=Path, required=True, help="folder with transcripts/")
    talks = parser.add_mutually_exclusive_group()
    talks.set_defaults(folder=FOLDER)
    for name, folder, count in (
        ("--unseen", UNSEEN, "twelve"),
        ("--blind", BLIND, "six"),
        ("--blind-second", BLIND_SECOND, "other six"),
        ("--blind-third", BLIND_THIRD, "third six"),
        ("--blind-fourth", BLIND_FOURTH, "last four"),
    ):
        talks.add_argument(
            name,
            dest="folder",
            action="store_const",
            const=folder,
            help=f"our {count} {name[2:]} talks instead of the stretches",
        )
    parser.add_argument("--table", action="store_true", help="only the table")
    parser.add_argument(
        "--model", default="offline", help="a litellm model name; default: offline, the rules"
    )
    parser.add_argument("--prompts", type=Path, help="a folder of prompts to use instead of ours")
    parser.add_argument("--only", nargs="+", default=[], help="names of stretches, as en-1")
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds for one stretch")
    return parser.parse_args()


if __name__ == "__main__":
    main()
