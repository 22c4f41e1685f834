"""Several processes at one workspace: mixed operations, and whether an entry or message is lost or
there twice.

Run: `python -m benchmarks.crowd [--processes 8] [--operations 500] [--kills] [FOLDER]`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.notes.files import File
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Add, Author, Decision, Evidence, Invalidate, SetSection, Trust
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import heading, quantile

NOW = datetime.fromisoformat("2026-03-02T09:10:00+08:00")
_CHANNELS = ("team", "cid6KeBBLoveM/AZ==")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it; all but `operations` should be 0."""

    operations: int
    lost: int
    doubled: int
    back: int
    gave_up: int
    slow_ms: float

    @property
    def losses(self) -> int:
        """The sum of all that must not be."""
        return self.lost + self.doubled + self.back + self.gave_up


def crowd(
    root: Path, processes: int, operations: int, *, kills: bool = False, seed: int = 1
) -> Outcome:
    """Lets processes work on two channels at once; with `kills`, one of them dies every now and
    then.
    """
    (root / "channels").mkdir(parents=True)
    for name in _CHANNELS:
        opened(root, name)
    context = multiprocessing.get_context("fork")
    dice = random.Random(seed)
    crew = [
        context.Process(target=_works, args=(root, part, operations, seed))
        for part in range(processes)
    ]
    for member in crew:
        member.start()
    while any(member.is_alive() for member in crew):
        time.sleep(dice.uniform(0.15, 0.5) if kills else 0.05)
        living = [number for number, member in enumerate(crew) if member.is_alive()]
        if kills and living:
            number = dice.choice(living)
            os.kill(crew[number].pid or 0, signal.SIGKILL)
            crew[number].join()
            crew[number] = context.Process(target=_works, args=(root, number, operations, seed))
            crew[number].start()
    return _counted(root, processes)


def _works(root: Path, part: int, operations: int, seed: int) -> None:
    """One process: a log of what was acknowledged says, after a kill, where it goes on."""
    path = root / f"done-{part}"
    done = path.read_text().splitlines() if path.exists() else []
    dice = random.Random(f"{seed} {part} {len(done)}")
    stores = {name: opened(root, name) for name in _CHANNELS}
    with path.open("a", buffering=1) as log:
        for number in range(len(done), operations):
            name = dice.choice(_CHANNELS)
            start = time.perf_counter()
            try:
                said = _operation(
                    stores[name], dice, f"{part}x{number}x{dice.randrange(10**9)}", path
                )
            except StoreError:
                said = "gave up"
            spent = (time.perf_counter() - start) * 1000
            log.write(f"{spent:.1f}\t{name}\t{said}\n")
    for store in stores.values():
        store.close()


def _operation(store: ChannelStore, dice: random.Random, mark: str, log: Path) -> str:
    """One of what bots, watchers, commands and editors do; the answer is what must be true from now
    on.
    """
    match dice.choices(
        ("add", "take out", "say", "session", "read", "append", "checkpoint"), (8, 2, 4, 1, 3, 2, 1)
    )[0]:
        case "add":
            store.commit(
                _decision(Add(Kind.FACT, f"fact {mark}", Trust.INFERRED, Evidence(("m1",), 1))), NOW
            )
            return f"there\tfact {mark}"
        case "take out":
            ours = [
                entry for entry in store.notes().memory.entries if entry.text.startswith("fact ")
            ]
            if not ours:
                return "nothing"
            entry = dice.choice(ours)
            with log.with_suffix(".may").open(
                "a"
            ) as file:  # killed in the middle, it may be gone or not
                file.write(f"{store.channel_id}\t{entry.text}\n")
            done = store.commit(
                Decision("forget", Author.PERSON, (Invalidate(entry.target, "over"),)), NOW
            )
            return f"gone\t{entry.text}" if done.outcome.changes else "nothing"
        case "say":
            store.append([Message.user(f"said {mark}", id=mark)])
            return f"said\t{mark}"
        case "session":
            store.commit(_decision(SetSection("Current State", (f"state {mark}",))), NOW)
            return "nothing"
        case "read":
            store.notes()
            return "nothing"
        case "append":
            with (store.folder / File.MEMORY).open("a") as file:
                file.write(f"- typed {mark}\n")
            return f"there\ttyped {mark}"
        case _:
            store.checkpoint()
            return "nothing"


def _counted(root: Path, processes: int) -> Outcome:
    lines = [
        line.split("\t")
        for part in range(processes)
        for line in (root / f"done-{part}").read_text().splitlines()
    ]
    there = {name: Counter[str]() for name in _CHANNELS}
    said = {name: Counter[str]() for name in _CHANNELS}
    for name in _CHANNELS:
        last = opened(root, name)
        last.commit(_decision(Add(Kind.FACT, "the last fact", Trust.INFERRED, Evidence())), NOW)
        last.close()
        there[name].update(entry.text for entry in last.notes().memory.entries)
        said[name].update(message.id for message in last.transcript.messages())
    gone = {(name, text) for _, name, verb, *rest in lines if verb == "gone" for text in rest}
    stay = [(name, text) for _, name, verb, *rest in lines if verb == "there" for text in rest]
    may = {
        tuple(line.split("\t"))
        for path in root.glob("done-*.may")
        for line in path.read_text().splitlines()
    }
    spoken = [(name, mark) for _, name, verb, *rest in lines if verb == "said" for mark in rest]
    return Outcome(
        operations=len(lines),
        lost=sum(not there[name][text] for name, text in stay if (name, text) not in may)
        + sum(not said[name][mark] for name, mark in spoken),
        doubled=sum(
            count > 1
            for names in (there, said)
            for each in names.values()
            for count in each.values()
        ),
        back=sum(bool(there[name][text]) for name, text in gone),
        gave_up=sum(line[2] == "gave up" for line in lines),
        slow_ms=quantile([float(line[0]) for line in lines], 0.99),
    )


def _decision(operation: Add | SetSection) -> Decision:
    return Decision("consolidate", Author.RULE, (operation,))


def opened(root: Path, name: str) -> ChannelStore:
    """A channel as a process of its own opens it."""
    return ChannelStore.open(WorkspaceStore.open(root), name, create=True)


def main() -> int:
    """Prints one line; the exit code is 1 where anything was lost."""
    parser = argparse.ArgumentParser(description="Several processes at one workspace.")
    parser.add_argument("folder", nargs="?", help="where to work; a temporary folder if not said")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--operations", type=int, default=500, help="for each process")
    parser.add_argument("--kills", action="store_true", help="kill a process every 0.15 to 0.5 s")
    asked = parser.parse_args()
    print(heading("Several processes at one workspace"))
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        try:
            found = crowd(Path(name) / "bot", asked.processes, asked.operations, kills=asked.kills)
        except StoreError as error:
            print(error)
            return 1
    print(
        f"{asked.processes} processes, {found.operations} operations in "
        f"{time.perf_counter() - start:.0f} s: lost "
        f"{found.lost}, doubled {found.doubled}, back {found.back}, gave up {found.gave_up}, "
        f"p99 {found.slow_ms:.0f} ms"
    )
    return 1 if found.losses else 0


if __name__ == "__main__":
    raise SystemExit(main())
