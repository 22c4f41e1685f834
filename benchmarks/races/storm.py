"""One storm: a person saves a file again and again while bots commit to it, and are killed if asked
for.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from multiprocessing.process import BaseProcess
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.notes.kinds import File, Kind
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import quantile
from benchmarks.races.hands import Hand, similar_line
from benchmarks.races.judging import is_ambiguous, looks, story

NOW = datetime.fromisoformat("2026-03-02T09:10:00+08:00")
_CHANNEL = "team"
_BOTS = 2
_KILLS = (0.15, 0.5)


@dataclass(frozen=True, slots=True)
class Count:
    """What came of storms; everything that names a loss should be 0.

    `ambiguous` are deletions that nobody could have told from a line that was never read: those
    lines were kept.
    """

    saves: int = 0
    commits: int = 0
    kills: int = 0
    human_lost: int = 0
    acknowledged_lost: int = 0
    deletions_back: int = 0
    ambiguous: int = 0
    doubled: int = 0
    slow_ms: float = 0.0

    def __add__(self, other: Count) -> Count:
        return Count(
            self.saves + other.saves, self.commits + other.commits, self.kills + other.kills,
            self.human_lost + other.human_lost, self.acknowledged_lost + other.acknowledged_lost,
            self.deletions_back + other.deletions_back, self.ambiguous + other.ambiguous,
            self.doubled + other.doubled,
            max(self.slow_ms, other.slow_ms),
        )  # fmt: skip

    @property
    def losses(self) -> int:
        """The sum of all that must not be."""
        return self.human_lost + self.acknowledged_lost + self.deletions_back + self.doubled


def storm(
    root: Path,
    way: str,
    saves: int,
    seed: int,
    *,
    is_stale: bool,
    deletes: bool,
    kills: bool = False,
    trace: Path | None = None,
) -> Count:
    """Lets a person save `saves` times while bots commit, then counts what is missing, back, or
    there twice.

    With `trace`, a folder, the story of each deletion that came back is written there.
    """
    (root / "channels").mkdir(parents=True)
    channel = opened(root)
    dice = random.Random(seed)
    for _ in range(6):
        channel.commit(fact(similar_line(dice)), NOW)
    path = channel.folder / File.MEMORY
    acknowledged = root / "acknowledged"
    acknowledged.touch()
    hand = Hand(
        path, way, is_stale, deletes, dice, commits=lambda: acknowledged.read_bytes().count(b"\n")
    )
    bots = Bots(root, acknowledged, dice)
    bots.start()
    try:
        for _ in range(saves):
            time.sleep(dice.uniform(0, 0.02))
            if kills:
                bots.kill_when_due()
            hand.save()
    finally:
        bots.stop()
    for _ in range(2):  # the second finds what the first has put right
        last = opened(root)
        last.commit(fact(similar_line(dice)), NOW)
        last.close()
    changed = opened(root) if deletes else None
    return counted(
        path.read_text(encoding="utf-8"), hand, acknowledged, bots.killed, changed, trace
    )


def counted(
    text: str, hand: Hand, acknowledged: Path, killed: int, channel: ChannelStore | None = None,
    trace: Path | None = None,
) -> Count:  # fmt: skip
    """Every line against what was typed, deleted and acknowledged."""
    there = Counter(text.splitlines(keepends=True))
    deleted = set(hand.deleted)
    acks = (
        [line.split("\t") for line in acknowledged.read_text().splitlines()]
        if acknowledged.exists()
        else []
    )
    back = sorted(line for line in deleted if there[line])
    seen = list(looks(channel, hand.past)) if back and channel else []
    unsure = {line for line in back if is_ambiguous(line, hand.past, seen)}
    for line in back:
        _write_story(trace, line, story(line, hand.past, seen), is_ambiguous=line in unsure)
    spent = [float(ms) for _, ms in acks] or [0.0]
    return Count(
        saves=len(hand.typed) + len(hand.deleted),
        commits=len(acks),
        kills=killed,
        human_lost=sum(not there[line] for line in hand.typed if line not in deleted),
        acknowledged_lost=sum(
            not there[line] for said, _ in acks if (line := f"- {said}\n") not in deleted
        ),
        deletions_back=len(back) - len(unsure),
        ambiguous=len(unsure),
        doubled=sum(number > 1 for line, number in there.items() if line.startswith("- ")),
        slow_ms=quantile(spent, 0.99),
    )


def _write_story(folder: Path | None, line: str, told: str, *, is_ambiguous: bool) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{'ambiguous' if is_ambiguous else 'back'} {line[2:34].strip()}.txt").write_text(
            told
        )


@dataclass(slots=True)
class Bots:
    """Processes that commit facts until they are stopped."""

    root: Path
    acknowledged: Path
    dice: random.Random
    killed: int = 0
    _processes: list[BaseProcess] | None = None
    _due: float = 0.0

    def start(self) -> None:
        """All of them."""
        self._processes = [self._started() for _ in range(_BOTS)]
        self._due = time.monotonic() + self.dice.uniform(*_KILLS)

    def kill_when_due(self) -> None:
        """Kills one in the middle of whatever it does, and starts another."""
        if self._processes is None or time.monotonic() < self._due:
            return
        victim = self._processes.pop(self.dice.randrange(len(self._processes)))
        if victim.pid is not None:
            os.kill(victim.pid, signal.SIGKILL)
        victim.join()
        self.killed += 1
        self._processes.append(self._started())
        self._due = time.monotonic() + self.dice.uniform(*_KILLS)

    def stop(self) -> None:
        """Lets them end the commit they are in."""
        (self.root / "stop").touch()
        for process in self._processes or []:
            process.join()

    def _started(self) -> BaseProcess:
        process = multiprocessing.get_context("fork").Process(
            target=_commits, args=(self.root, self.acknowledged, self.dice.random())
        )
        process.start()
        return process


def _commits(root: Path, acknowledged: Path, seed: float) -> None:
    """Facts that are noted as acknowledged only after the commit has returned."""
    dice, channel = random.Random(seed), opened(root)
    while not (root / "stop").exists():
        said = similar_line(dice)
        start = time.perf_counter()
        try:
            channel.commit(fact(said), NOW)
        except StoreError:  # not acknowledged, so nothing is promised
            continue
        spent = (time.perf_counter() - start) * 1000
        with acknowledged.open("a", buffering=1) as file:
            file.write(f"{said}\t{spent:.1f}\n")
        channel.notes()
        time.sleep(dice.uniform(0, 0.03))


def opened(root: Path) -> ChannelStore:
    """The channel as a process of its own opens it."""
    return ChannelStore.open(WorkspaceStore.open(root), _CHANNEL, create=True)


def fact(text: str) -> Decision:
    """A decision that adds one fact."""
    return Decision(
        "consolidate", Author.MODEL, (Add(Kind.FACT, text, Trust.INFERRED, Evidence(("m1",), 1)),)
    )
