"""Lets all that pipimem does beside its host raise, one function at a time: does the host live?

Run: `python -m benchmarks.background [--minutes M] [--seed N] [--entry NAME] [--loop asyncio|trio]
[DIR]`. What runs in the background is found by a run that is watched, so names are nobody's to
keep up. Wrong is a host that ends or hangs, a call of the host's that fails afterwards, and an
error that nobody is told of.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from tests.servers.openai import OpenAIServer

from benchmarks.background.planting import planted, watched
from benchmarks.background.scenario import bot
from benchmarks.faults.child import Ended, Say, in_child
from benchmarks.faults.injection import prepared
from benchmarks.faults.journeys import Journey, lived, silent
from benchmarks.faults.tree import Tree
from benchmarks.http_replay import respond
from benchmarks.machine import heading

_ROW = "{:<60}{:<9}{:<12}{}"
_LOOPS = ("asyncio", "trio")
LIVES, DIED, HUNG, SILENT, LAME, UNMET = "lives", "died", "hung", "silent", "lame", "not met"
_SECONDS = 40


@dataclass(frozen=True, slots=True)
class Met:
    """What became of the host when one function raised; `told` is what its operator reads."""

    entry: str
    loop: str
    how: str
    told: str

    @property
    def is_wrong(self) -> bool:
        """All but a host that lives and is told; what was not met says nothing."""
        return self.how not in (LIVES, UNMET)


@dataclass(frozen=True, slots=True)
class Host:
    """A bot's process, made anew for each exception."""

    root: Path
    address: str

    def entries(self, tree: Tree, loop: str) -> list[str]:
        """The functions that run in its background when nothing is wrong."""
        tree.laid(self.root)
        ended = in_child(partial(self._watched, loop), seconds=2 * _SECONDS)
        assert ended.of("alive"), ended
        return [str(name) for (name,) in ended.of("began")]

    def met(self, tree: Tree, loop: str, entry: str) -> Met:
        """Lets one function raise."""
        tree.laid(self.root)
        ended = in_child(partial(self._planted, loop, entry), seconds=_SECONDS)
        return judged(entry, loop, ended)

    def warm(self, tree: Tree) -> None:
        """Loads once what each process would have to: litellm takes seconds."""
        tree.laid(self.root)
        self._lived(_LOOPS[0], silent, lambda: None, lambda: True)

    def _watched(self, loop: str, say: Say) -> None:
        self._lived(loop, say, lambda: watched(lambda name: say("began", name)), lambda: False)

    def _planted(self, loop: str, entry: str, say: Say) -> None:
        raised = list[str]()

        def done() -> None:
            raised.append(entry)
            say("planted")

        self._lived(loop, say, lambda: planted(entry, done), lambda: bool(raised))

    def _lived(self, loop: str, say: Say, watch: object, has_raised: object) -> None:
        anyio.run(bot, self.root, self.address, say, watch, has_raised, backend=loop)


def judged(entry: str, loop: str, ended: Ended) -> Met:
    """What a process said, in a word."""
    kinds = [line[0] for line in ended.said]
    since = ended.said[kinds.index("planted") :] if "planted" in kinds else ()
    told = [str(line[1]) for line in since if line[0] == "logged"]
    lame = [str(line[1]) for line in since if line[0] == "wrong"]
    if ended.how == "hung":
        return Met(entry, loop, HUNG, f"after {_SECONDS} s")
    if not ended.of("alive"):
        return Met(entry, loop, DIED, "; ".join(str(line[1]) for line in ended.of("raised")))
    if not ended.of("planted"):
        return Met(entry, loop, UNMET, "")
    if lame:
        return Met(entry, loop, LAME, lame[0])
    return Met(entry, loop, LIVES if told else SILENT, "; ".join(told))


def main() -> int:
    """Prints the table; the exit code is 1 where a host did not live well."""
    asked = _asked()
    print(heading(f"Exceptions in the background, seed {asked.seed}", "anyio", "trio"), flush=True)
    found = list[Met]()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name, OpenAIServer(respond) as server:
        host = Host(Path(name) / "w", server.url)
        tree = prepared(Journey("a bot", lived, lambda *_: None), host.root)
        host.warm(tree)
        pairs = []
        for loop in asked.loop or _LOOPS:
            pairs += [(loop, entry) for entry in asked.entry or host.entries(tree, loop)]
        random.Random(asked.seed).shuffle(pairs)
        start = time.perf_counter()
        for number, (loop, entry) in enumerate(pairs, 1):
            if time.perf_counter() - start > asked.minutes * 60:
                break
            found.append(host.met(tree, loop, entry))
            if found[-1].is_wrong:
                print(_row(found[-1]), flush=True)
            if number % 10 == 0:
                told, spent = dict(Counter(each.how for each in found)), time.perf_counter() - start
                print(f"… {number} of {len(pairs)}, {told}, {spent:.0f} s", flush=True)
    return _print(found, len(pairs))


def _print(found: list[Met], asked: int) -> int:
    print(_ROW.format("raised in", "loop", "the host", "told"))
    found.sort(key=lambda each: (not each.is_wrong, each.how, each.entry, each.loop))
    for each in found:
        print(_row(each))
    counts = Counter(each.how for each in found)
    told = ", ".join(f"{how} {count}" for how, count in counts.items())
    print(f"\n{len(found)} of {asked} exceptions: {told}")
    return 1 if any(each.is_wrong for each in found) else 0


def _row(met: Met) -> str:
    """Where it was raised, on which loop, what became of the host, and what was told."""
    return _ROW.format(met.entry, met.loop, met.how, met.told.replace("\n", " ")[:160])


def _asked() -> argparse.Namespace:
    about = "Exceptions in the background, and whether the host lives."
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("folder", nargs="?", help="where to work; a temporary folder if not said")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="then no more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--entry", action="append", help="such as runtime/idle:Idle.run")
    parser.add_argument("--loop", action="append", choices=_LOOPS)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
