"""A workspace that has lived, damaged anew in each of as many states as wanted."""

from __future__ import annotations

import random
import re
import shutil
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.faults.journeys import CHANNEL
from benchmarks.states.damage import KINDS, Copies, drawn
from benchmarks.states.enduring import Lasting, endured, lines_of, warm
from benchmarks.states.full_workspace import PENDING, Lived, full_workspace


@dataclass(frozen=True, slots=True)
class State:
    """One damaged workspace: what was done to which file, and all that is wrong afterwards."""

    number: int
    kind: str
    file: str
    wrong: tuple[str, ...]


@dataclass(slots=True)
class Fuzz:
    """A workspace that has lived, laid out and damaged anew for each state."""

    root: Path
    seed: int
    keep: Path | None
    lived: Lived = field(init=False)
    _files: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.lived = full_workspace(self.root)
        warm(self.lived.now.laid(self.root))
        self._files = defaultdict(list)
        for name, *_ in self.lived.now.files:
            if is_ours(name):
                self._files[sort_of(name)].append(name)

    def state(self, number: int) -> State | None:
        """Damages one file and looks; `None` where the lot changed nothing."""
        dice = random.Random(f"{self.seed} {number}")
        kind, name = drawn(dice, self._files)
        self.lived.now.laid(self.root)
        copies = self._copies(name)
        if not copies.now and kind not in ("deleted", "a folder", "a pipe", "a link"):
            return None
        must = lines_of(self.root / "channels" / CHANNEL)
        if not KINDS[kind](self.root / name, copies, dice):
            return None
        pending = "" if _holds_the_pending(name) else f"MEMORY.md: - {PENDING}"
        kept = self._set_aside(number)
        lasting = Lasting(must, self._log(), pending)
        wrong = tuple(endured(self.root, lasting, fix_first=dice.random() < 0.5))
        if kept is not None and not wrong:
            shutil.rmtree(kept)
        return State(number, kind, name, wrong)

    def _copies(self, name: str) -> Copies:
        trees = (self.lived.now, *self.lived.before)
        files = (file for tree in trees for file in tree.files)
        now, *earlier = dict.fromkeys(data for path, _, data, _ in files if path == name)
        return Copies(now, tuple(earlier))

    def _log(self) -> frozenset[bytes]:
        """The whole lines that the log has now, after the damage."""
        path = self.root / "channels" / CHANNEL / "log.jsonl"
        if path.is_symlink() or not path.is_file():
            return frozenset()
        return frozenset(path.read_bytes().splitlines()[:-1])

    def _set_aside(self, number: int) -> Path | None:
        if self.keep is None:
            return None
        to = self.keep / f"seed {self.seed} state {number}"
        shutil.rmtree(to, ignore_errors=True)
        # A pipe cannot be copied.
        shutil.copytree(self.root, to, symlinks=True, ignore=_pipes)
        return to


def _pipes(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_fifo()]


def is_ours(name: str) -> bool:
    """Whether a file is one that people have no business in, or the transcript."""
    return ".pipimem/" in name or name.endswith(".pipimem-tmp") or Path(name).name.startswith("log")


def _holds_the_pending(name: str) -> bool:
    """Whether the fact that waits beside its file rests on this file alone."""
    return "journal" in name or name.endswith(".pipimem-tmp")


def sort_of(file: str) -> str:
    """The file without what is another in each workspace: random names, numbers of processes."""
    name = re.sub(r"(?<=versions/).*|[0-9a-f]{16}|\d+-\d+", "…", file)
    return name.removeprefix("channels/")
