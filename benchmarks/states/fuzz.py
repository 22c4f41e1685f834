"""A workspace that has lived, or was cut off in a forgetting, damaged anew in each of as many
states as wanted.
"""

from __future__ import annotations

import gc
import os
import random
import re
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipimem.notes.files import File

from benchmarks.faults.journeys import CHANNEL, SECRET
from benchmarks.faults.tree import Tree
from benchmarks.states.damage import KINDS, Copies, drawn
from benchmarks.states.enduring import (
    Lasting,
    endured,
    endured_while_running,
    lines_of,
    readers,
    warm,
)
from benchmarks.states.full_workspace import (
    BESIDE,
    PENDING,
    Lived,
    forgets_until_killed,
    full_workspace,
    saved_by_an_editor,
)

# Shares of the states: a forgetting was killed, a person edited MEMORY.md, a bot runs while it
# happens.
_CUT_OFF = 0.3
_EDITED = 0.3
_RUNNING = 0.25
# Of the killed forgettings, those that nothing else happens to.
_AS_KILLED = 0.4
_NO_DAMAGE = "a kill alone"
_NOBODY = 65534
_WHATEVER_IT_HOLDS = frozenset(
    {"deleted", "a folder", "a pipe", "a link", "wrong mode", "junk behind it"}
)


@dataclass(frozen=True, slots=True)
class State:
    """One damaged workspace: what was done to which file, and all that is wrong afterwards."""

    number: int
    kind: str
    file: str
    wrong: tuple[str, ...] = ()


@dataclass(slots=True)
class Fuzz:
    """A workspace that has lived, laid out and damaged anew for each state."""

    root: Path
    seed: int
    keep: Path | None
    lived: Lived = field(init=False)

    def __post_init__(self) -> None:
        self.lived = full_workspace(self.root)
        warm(self.lived.now.laid(self.root))
        gc.freeze()  # a child that collects garbage would copy all that its parent has in memory

    def state(self, number: int) -> State | None:
        """Damages one file and looks; `None` where the lot changed nothing."""
        dice = random.Random(f"{self.seed} {number}")
        is_cut_off = dice.random() < _CUT_OFF
        tree = self.lived.to_forget if is_cut_off else self.lived.now
        tree.laid(self.root)
        if is_cut_off:
            forgets_until_killed(self.root, dice)
            tree = Tree.of(self.root)
        elif dice.random() < _EDITED:
            saved_by_an_editor(self.root / "channels" / CHANNEL / File.MEMORY, dice)
        kind, name = drawn(dice, _by_sort(tree))
        if is_cut_off and dice.random() < _AS_KILLED:
            kind, name = _NO_DAMAGE, "forget"
        # What an unread mode means, root would not see.
        _given_away(self.root)
        pending = "" if is_cut_off or _holds_the_pending(name) else f"MEMORY.md: - {PENDING}"

        def damage() -> Lasting | None:
            """What must stand from now on; `None` where nothing changed."""
            must = lines_of(self.root / "channels" / CHANNEL, but=SECRET)
            is_changed = self._damaged(kind, name, dice)
            return Lasting(must, self._log(), pending) if is_changed else None

        return self._met(State(number, kind, name), damage, dice)

    def _met(
        self, state: State, damage: Callable[[], Lasting | None], dice: random.Random
    ) -> State | None:
        """The state with what is wrong over it: damaged before anybody looks, or while a bot
        runs.
        """
        fix_first, commands = dice.random() < 0.5, readers(dice)
        if dice.random() < _RUNNING:
            found = endured_while_running(self.root, damage, commands)
            return (
                None
                if found is None
                else replace(state, kind=f"{state.kind} *", wrong=tuple(found))
            )
        lasting = damage()
        if lasting is None:
            return None
        kept = self._set_aside(state.number)
        wrong = tuple(endured(self.root, lasting, commands, fix_first=fix_first))
        if kept is not None and not wrong:
            shutil.rmtree(kept)
        return replace(state, wrong=wrong)

    def _damaged(self, kind: str, name: str, dice: random.Random) -> bool:
        """Does it; whether anything is another now."""
        if kind == _NO_DAMAGE:
            return True
        path = self.root / name
        if not path.is_file():
            return False
        now = path.read_bytes()
        if not now and kind not in _WHATEVER_IT_HOLDS:
            return False
        beside = name.replace(f"channels/{CHANNEL}/", f"channels/{BESIDE}/")
        others = self._contents(beside) if beside != name else ()
        before = tuple(data for data in self._contents(name) if data != now)
        return KINDS[kind](path, Copies(now, before, others), dice)

    def _contents(self, name: str) -> tuple[bytes, ...]:
        """What a file had in it, over all that is known of its life."""
        trees = (self.lived.now, *self.lived.before)
        found = [data for tree in trees for path, _, data, _ in tree.files if path == name]
        return tuple(dict.fromkeys(found))

    def _log(self) -> frozenset[bytes]:
        """The whole lines that the log has now, after the damage."""
        path = self.root / "channels" / CHANNEL / "log.jsonl"
        if path.is_symlink() or not path.is_file() or not os.access(path, os.R_OK):
            return frozenset()
        lines = path.read_bytes().splitlines()[:-1]
        return frozenset(line for line in lines if SECRET.encode().lower() not in line.lower())

    def _set_aside(self, number: int) -> Path | None:
        if self.keep is None:
            return None
        to = self.keep / f"seed {self.seed} state {number}"
        shutil.rmtree(to, ignore_errors=True)
        # A pipe cannot be copied.
        shutil.copytree(self.root, to, symlinks=True, ignore=_pipes)
        return to


def _given_away(root: Path) -> None:
    """Gives all of it to a user without rights, if we are root: whom no mode would stop."""
    if os.geteuid() == 0:
        for path in (root, *root.rglob("*")):
            os.lchown(path, _NOBODY, _NOBODY)


def _by_sort(tree: Tree) -> dict[str, list[str]]:
    """The files of a workspace that are ours, by their sort."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    for name, *_ in tree.files:
        if is_ours(name):
            files[sort_of(name)].append(name)
    return files


def _pipes(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_fifo()]


def is_ours(name: str) -> bool:
    """Whether a file is one that people have no business in, or the transcript."""
    if name.startswith(f"channels/{BESIDE}/"):
        return False
    return ".pipimem/" in name or name.endswith(".pipimem-tmp") or Path(name).name.startswith("log")


def _holds_the_pending(name: str) -> bool:
    """Whether the fact that waits beside its file rests on this file alone."""
    return "journal" in name or name.endswith(".pipimem-tmp")


def sort_of(file: str) -> str:
    """The file without what is another in each workspace: random names, numbers of processes."""
    name = re.sub(r"(?<=versions/).*|[0-9a-f]{16}|\d+-\d+", "…", file)
    return name.removeprefix("channels/")
