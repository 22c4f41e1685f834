"""Hosts that talk and learn in one channel without pause, while one fault after the other hits them.

A host is a process with a way of its own to the database, so that it can be cut off while the
others go on.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from pipimem import Message
from pipimem.errors import PipimemError
from pipimem.store.workspace import WorkspaceStore

from benchmarks.faults.child import Ended
from benchmarks.faults.journeys import NOW, adding, opened
from benchmarks.fleet.freezes import Judge
from benchmarks.fleet.postgres import Server
from benchmarks.fleet.ways import Ways

LEASE = 1.0
HOSTS = 3
# What a host is told to make of the wall clock: minutes apart, as hosts without a time server are.
_SKEWS = (0.0, -420.0, 780.0)
_PAUSES = (0.05, 0.4)
# Longer than a lease, so that another host takes over.
_FROZEN = 1.5 * LEASE
_KINDS = ("kill",) * 5 + ("freeze",) * 3 + ("cut off",) * 3 + ("restart",)


def host(root: Path, name: str, skew: float) -> None:
    """Talks and learns until killed; each line it prints says what was acknowledged."""
    store, number = opened(root), 0
    said_at = NOW + timedelta(seconds=skew)
    while True:
        number += 1
        text = f"{name} told number {number}"
        try:
            store.append([Message.user(text, id=text.replace(" ", "-"), time=said_at)])
            _say("message", text.replace(" ", "-"), text)
            store.append([Message.assistant(f"heard: {text}")])
            _say("said", f"heard: {text}")
            if number % 3 == 0:
                store.commit(adding(text), said_at)
                _say("entry", text)
        except PipimemError as error:
            _say("refused", type(error).__name__)
            time.sleep(0.1)


def _say(*what: str) -> None:
    print(json.dumps(what), flush=True)


@dataclass(slots=True)
class _Running:
    """One host that runs; `said` is the file of what it acknowledged."""

    name: str
    said: Path
    process: subprocess.Popen[bytes]


@dataclass(slots=True)
class Storm:
    """A workspace in `root`, hosts on it, and faults drawn by `seed`."""

    root: Path
    server: Server
    seed: int
    ways: Ways
    faults: Counter[str] = field(default_factory=Counter)
    _hosts: list[_Running] = field(default_factory=list)
    _files: list[Path] = field(default_factory=list)

    def run(self, count: int) -> list[str]:
        """What went wrong after so many faults; nothing, if all is well."""
        drawn = random.Random(self.seed)
        self._prepare()
        for place in range(HOSTS):
            self._hosts.append(self._started(place))
        try:
            for _ in range(count):
                time.sleep(drawn.uniform(*_PAUSES))
                self._fault(drawn)
        finally:
            for each in self._hosts:
                each.process.send_signal(signal.SIGCONT)
                each.process.kill()
                each.process.wait()
        return list(self._wrong())

    def acknowledged(self) -> Counter[str]:
        """How much of each kind the hosts were told was kept."""
        return Counter(str(line[0]) for ended in self._ends() for line in ended.said)

    def _prepare(self) -> None:
        WorkspaceStore.init(self.root)
        address = f"postgresql:///postgres?port={self.server.port}&user=postgres"
        text = f'[fleet]\ndatabase = "{address}"\nlease_seconds = {LEASE:g}\n'
        (self.root / "pipimem.toml").write_text(text)
        os.environ["PGHOST"] = str(self.server.folder)
        opened(self.root).commit(adding("the first of all"), NOW)

    def _started(self, place: int) -> _Running:
        name = f"host {place} life {len(self._files)}"
        said = self.root.parent / f"said-{len(self._files)}"
        self._files.append(said)
        with said.open("wb") as output:
            command = [sys.executable, "-m", "benchmarks.fleet.storm"]
            process = subprocess.Popen(
                [*self.ways.command(place), *command, str(self.root), name, str(_SKEWS[place])],
                stdout=output,
                env={**os.environ, "PGHOST": self.ways.host(place)},
            )
        return _Running(name, said, process)

    def _fault(self, drawn: random.Random) -> None:
        kind, place = drawn.choice(_KINDS), drawn.randrange(HOSTS)
        self.faults[kind] += 1
        hit = self._hosts[place]
        if kind == "kill":
            hit.process.kill()
            hit.process.wait()
            self._hosts[place] = self._started(place)
        elif kind == "freeze":
            hit.process.send_signal(signal.SIGSTOP)
            time.sleep(_FROZEN)
            hit.process.send_signal(signal.SIGCONT)
        elif kind == "cut off":
            self.ways.cut(place)
            time.sleep(_FROZEN)
            self.ways.mend(place)
        else:
            self.server.stop()
            time.sleep(drawn.uniform(*_PAUSES))
            self.server.start()

    def _ends(self) -> list[Ended]:
        return [Ended("killed", tuple(_lines(path))) for path in self._files]

    def _wrong(self) -> Iterator[str]:
        # A lease that a killed host held is over by then; what waits is taken in.
        time.sleep(2 * LEASE)
        opened(self.root).append([Message.user("the last host of all", id="last")])
        yield from Judge(self.root, self._ends()).wrong(hand=False)
        waiting = [message.content for message in opened(self.root).transcript.spooled()]
        if waiting:
            yield f"never taken in: {waiting[:3]}"


def _lines(path: Path) -> Iterator[tuple[object, ...]]:
    """What a host said; the last line of one that was killed may be half."""
    for line in path.read_text().split("\n")[:-1]:
        yield tuple(json.loads(line))


if __name__ == "__main__":
    host(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
