"""Two thousand seeded mutations of the scripted replies, tried on a memory of sixty facts.

usage: python -m benchmarks.mutations [COUNT] [SEED]

An entry is lost when it is gone from MEMORY.md, unless its words stand in the text that took its
place, or a whole answer named it and the cap of a run (25 %) allowed it, or the unbroken reply was
a good one and named it. The same judge (tests/sidecar/replies/judging.py) looks at the files of
every design.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import anyio
from pipimem.notes.operations import Author, Decision
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Answer
from tests.sidecar.replies import judging
from tests.sidecar.replies.mutating import mutated
from tests.sidecar.replies.trial import Reply, Trial, Tried, entry_ids, facts, replies

from benchmarks.machine import heading
from benchmarks.mutations import repaired, rewritten

COUNT, SEED = 2_000, 20260304
_MESSAGES = tuple(f"m{number}" for number in range(1, 11))


class MessageCounts:
    """The figures of one run."""

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()
        self.refused = self.named = self.otherwise = self.changed = 0
        self.kinds: Counter[str] = Counter()

    def ours(
        self, tried: Tried, names: str, ends: Mapping[str, str], memory: Mapping[str, str]
    ) -> None:
        """Count one reply tried by our own path."""
        self.refused += bool(tried.refused)
        self.changed += bool(tried.named or tried.added)
        self.lost["operations, strict (ours)"] += len(tried.lost)
        self.named += len(tried.named)
        self.otherwise += sum(
            1 for x in tried.named if ends.get(x) and not judging.keeps(memory[x], ends[x])
        )
        for loss in tried.lost:
            self.kinds[f"{names}: {loss.why}: {loss.text[:40]}"] += 1


async def measured(count: int, seed: int) -> MessageCounts:
    """Every design on the same mutations."""
    chance, tally, texts = Random(seed), MessageCounts(), replies()
    memory, ids = dict(zip(entry_ids(), facts(), strict=True)), entry_ids()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder))
        for number in range(count):
            reply = texts[number % len(texts)]
            names, text = mutated(reply.text, chance, ids)
            wanted = (
                frozenset(judging.named(reply.text, reply.task))
                if reply.verdict == "good"
                else frozenset()
            )
            ends = judging.named(text, reply.task)
            tally.ours(await trial.reply(reply.task, text, wanted), names, ends, memory)
            await _repaired(trial, reply, text, wanted, tally)
            _rewritten(reply, names.split(" + "), memory, wanted, tally, Random(seed + number))
    return tally


async def _repaired(
    trial: Trial, reply: Reply, text: str, wanted: frozenset[str], tally: MessageCounts
) -> None:
    answer, ends = _understood(reply.task, text), judging.named(text, reply.task)
    for name, change in (
        ("operations, repaired, our guards", _as_it_is),
        ("operations, repaired, no guards", _free),
    ):
        tried = await trial.assistant(reply.task, Scripted([answer]), ends, wanted, change)
        tally.lost[name] += len(tried.lost)


def _understood(task: str, text: str) -> Answer:
    match task:
        case "consolidate":
            return repaired.consolidated(text, entry_ids(), _MESSAGES)
        case "tidy":
            return repaired.tidied(text, entry_ids())
        case _:
            return repaired.folded(text)


def _as_it_is(decision: Decision) -> Decision:
    return decision


def _free(decision: Decision) -> Decision:
    """A decision that the guards let pass: they bind models only."""
    return replace(decision, author=Author.RULE)


def _rewritten(
    reply: Reply,
    names: list[str],
    memory: Mapping[str, str],
    wanted: frozenset[str],
    tally: MessageCounts,
    chance: Random,
) -> None:
    if reply.task == "fold":
        return  # MEMORY.md is not asked for
    text = rewritten.changed(rewritten.file_asked_for(reply.text, memory), names, chance)
    tally.lost["whole file"] += rewritten.lost(text, memory, wanted, guarded=False)
    tally.lost["whole file, at least half of it"] += rewritten.lost(
        text, memory, wanted, guarded=True
    )


def main() -> None:
    """Measure and print."""
    count, seed = (
        int(argument) for argument in (*sys.argv[1:], *(str(COUNT), str(SEED))[len(sys.argv) - 1 :])
    )
    started = time.perf_counter()
    tally = anyio.run(measured, count, seed)
    print(
        heading(
            f"{count} mutations of {len(replies())} replies (seed {seed}) on {len(facts())} facts"
        )
    )
    print(f"{'design':<36} entries lost")
    for design, lost in tally.lost.items():
        print(f"{design:<36} {lost:>12,}")
    print(f"\nours: {tally.refused} replies refused, {tally.changed} changed MEMORY.md")
    print(f"      {tally.named} entries ended by a whole answer that named them, within the cap;")
    print(f"      {tally.otherwise} of them by a newer text that keeps less than half of the words")
    for name, times in tally.kinds.most_common(10):
        print(f"      lost: {name} ({times})")
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
