"""One save beside one journey, at a file call of the bot's or at an instant, and perhaps a kill."""

from __future__ import annotations

import math
import os
import random
import select
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pipimem.notes.files import File

from benchmarks.editors.styles import APPEND, STYLES
from benchmarks.faults.child import Ended, Say, in_child
from benchmarks.faults.injection import KILL, TORN, Fault, Injector
from benchmarks.faults.journeys import CHANNEL, SECRET, Journey
from benchmarks.faults.shim import Call, Shim
from benchmarks.races.hands import unlike

# Seconds between two steps of a save, and how often of a hundred. The store waits 2 s.
_PAUSES, _OFTEN = ((0.0, 0.02), (0.05, 0.3), (2.2, 2.8)), (80, 16, 4)
_LONGEST_FIRST_STEP = 0.05
_CHANGING_HANDS = frozenset({"exchange", "replace", "rename", "link", "unlink"})


@dataclass(frozen=True, slots=True)
class Plan:
    """When the save begins and when the bot is killed: numbers of file calls, else seconds.

    A kill of 0 is none. `stale` is a text loaded before the journey began, `deletes` takes a line
    out of it too.
    """

    by_call: bool
    save: float
    kill: float
    torn: bool
    pause: float
    stale: bool
    deletes: bool

    @classmethod
    def drawn(cls, dice: random.Random, calls: Sequence[str], seconds: float) -> Plan:
        """One by lot, for a journey of these calls and so many seconds."""
        by_call, killed = dice.random() < 0.7, dice.random() < 0.8
        if by_call:
            save: float = _near_a_change(dice, calls)
            kill: float = save + dice.choice((0, dice.randint(0, 4), dice.randint(0, 30)))
        else:
            save, kill = dice.uniform(0, seconds), dice.uniform(0, 1.2 * seconds)
        [pause] = dice.choices(_PAUSES, _OFTEN)
        return cls(by_call, save, kill if killed else 0, dice.random() < 0.2, dice.uniform(*pause),
                   stale=dice.random() < 0.5, deletes=dice.random() < 0.3)  # fmt: skip


def _near_a_change(dice: random.Random, calls: Sequence[str]) -> int:
    """The number of a call; every other time of one near a call that changes a name."""
    changes = [number for number, name in enumerate(calls, 1) if name in _CHANGING_HANDS]
    if changes and dice.random() < 0.5:
        return min(max(1, dice.choice(changes) + dice.randint(-8, 2)), len(calls))
    return dice.randint(1, len(calls))


@dataclass(slots=True)
class Editor:
    """A person at MEMORY.md who types a line that resembles no other, and perhaps deletes one."""

    path: Path
    style: str
    plan: Plan
    dice: random.Random
    typed: str = ""
    deleted: str = ""
    saved: str = ""
    _loaded: str = field(init=False)

    def __post_init__(self) -> None:
        self._loaded = self.path.read_text()

    def save(self) -> Iterator[None]:
        """The steps of one save; what was typed, deleted and saved counts once all are done."""
        text = self._loaded if self.plan.stale else self.path.read_text()
        lines = text.splitlines(keepends=True)
        line = f"- {unlike(self.dice)}\n"
        if self.style == APPEND:
            yield from STYLES[self.style](self.path, line)
            self.typed = line
            return
        bullets = [number for number, each in enumerate(lines) if each.startswith("- ")]
        at = self.dice.choice(bullets)
        gone = lines[at] if self.plan.deletes and SECRET not in lines[at] else ""
        lines[at : at + 1] = [line] if gone else [line, lines[at]]
        text = "".join(lines)
        yield from STYLES[self.style](self.path, text)
        self.typed, self.deleted, self.saved = line, gone, text


def met(journey: Journey, root: Path, editor: Editor) -> Ended:
    """Lets the journey happen beside the save; all of the save is done when this returns."""
    kind = _ByCall if editor.plan.by_call else _ByClock
    beside = kind(journey, root, editor)
    return in_child(beside.work, beside.meanwhile)


@dataclass(slots=True)
class _ByCall:
    """The save's first step happens before a file call, which waits for it."""

    journey: Journey
    root: Path
    editor: Editor
    _asks: tuple[int, int] = field(default_factory=os.pipe)
    _answers: tuple[int, int] = field(default_factory=os.pipe)

    def work(self, say: Say) -> None:
        """In the bot's process."""
        os.close(self._asks[0])
        plan, watch = self.editor.plan, _Beside(self, say)
        Shim(self.root, watch).install()
        self.journey.run(self.root, say)
        say("calls", watch.count, plan.save)

    def wait_for_the_first_step(self) -> None:
        """In the bot's process; not for ever: the step may have to wait for the bot's lease."""
        os.write(self._asks[1], b".")
        select.select([self._answers[0]], [], [], _LONGEST_FIRST_STEP)

    def meanwhile(self, child: int) -> float:  # noqa: ARG002 - it is told by its pipe
        """In the editor's process; a bot that ended before its call is saved after."""
        os.close(self._asks[1])
        os.read(self._asks[0], 1)
        steps = self.editor.save()
        next(steps)
        with suppress(BrokenPipeError):
            os.write(self._answers[1], b".")
        for _ in steps:
            time.sleep(self.editor.plan.pause)
        for descriptor in (self._asks[0], *self._answers):
            os.close(descriptor)
        return math.inf


class _Beside(Injector):
    """Lets the save begin at one call, and a kill happen at another."""

    def __init__(self, trial: _ByCall, say: Say) -> None:
        plan = trial.editor.plan
        super().__init__(Fault(int(plan.kill), TORN if plan.torn else KILL), say)
        self._trial, self._save_at = trial, int(plan.save)
        self.count = 0

    def before(self, call: Call) -> int:
        """The call happens, or the process ends."""
        self.count += 1
        if self.count == self._save_at:
            self._trial.wait_for_the_first_step()
        return super().before(call)


@dataclass(slots=True)
class _ByClock:
    """Save and kill at instants of their own, whatever the bot is doing."""

    journey: Journey
    root: Path
    editor: Editor

    def work(self, say: Say) -> None:
        """In the bot's process."""
        self.journey.run(self.root, say)

    def meanwhile(self, child: int) -> float:
        """In the editor's process."""
        plan = self.editor.plan
        killer = threading.Timer(plan.kill, os.kill, (child, signal.SIGKILL))
        if plan.kill:
            killer.start()
        time.sleep(plan.save)
        for _ in self.editor.save():
            time.sleep(plan.pause)
        if plan.kill:
            killer.join()
        return math.inf


def memory_of(root: Path) -> Path:
    """The file that is edited."""
    return root / "channels" / CHANNEL / File.MEMORY
