"""A kill or an error at one file call of a journey, at each in turn."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.faults.child import KILLED, Ended, Say, in_child
from benchmarks.faults.journeys import JOURNEYS, Journey, silent
from benchmarks.faults.shim import ERRNOS, SYNCS, Call, Shim
from benchmarks.faults.tree import Tree

KILL, TORN = -1, -2
"""Faults beside the numbers of errors: killed before the call, or with half of a write done."""
# What a disk that has no room, no right or no quota refuses is writing; reading goes on.
_OF_WRITING = frozenset(
    number for number, name in ERRNOS.items() if name in ("ENOSPC", "EROFS", "EDQUOT")
)


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at the call of this number (from 1): once, or from then on at every call."""

    at: int
    what: int
    lasts: bool = False

    def __str__(self) -> str:
        name = {KILL: "killed", TORN: "killed in a write"}.get(self.what) or ERRNOS[self.what]
        return f"{name}{' from' if self.lasts else ' at'} call {self.at}"


class Injector:
    """Lets a fault happen, and looks whether a sync that failed is tried again on the same
    descriptor.
    """

    def __init__(self, fault: Fault, say: Say) -> None:
        self._fault, self._say = fault, say
        self._count = 0
        self._failed: set[int] = set()

    def before(self, call: Call) -> int:
        """The error the call ends with, 0 for none."""
        self._count += 1
        if call.name in SYNCS and call.instance in self._failed:
            self._say(
                "wrong", f"a failed sync of {call.path} is tried again on the same descriptor"
            )
        number = self._number(call)
        if number and call.name in SYNCS:
            self._failed.add(call.instance)
        if self._count == self._fault.at:
            self._say("met", call.name, call.path)
        return number

    def after(self, call: Call, result: Any) -> None:
        """Nothing to do."""

    def failed(self, call: Call) -> None:
        """Nothing to do."""

    def _number(self, call: Call) -> int:
        fault = self._fault
        if self._count < fault.at or (self._count > fault.at and not fault.lasts):
            return 0
        if fault.what in (KILL, TORN):
            if fault.what == TORN and call.name == "write":
                _half(call)
            self._say("met", call.name, call.path)
            os._exit(KILLED)
        if self._count > fault.at and fault.what in _OF_WRITING and not call.changes:
            return 0
        if call.name == "write":
            _half(call)
        return fault.what


def _half(call: Call) -> None:
    descriptor, data = call.arguments[:2]
    # Through C, past the shim.
    with os.fdopen(os.dup(descriptor), "wb", 0) as file:
        file.write(bytes(data)[: len(bytes(data)) // 2])


class _Counter:
    """Lets everything happen, and counts."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def before(self, call: Call) -> int:
        """The call happens."""
        self.calls.append(call)
        return 0

    def after(self, call: Call, result: Any) -> None:
        """Nothing to do."""

    def failed(self, call: Call) -> None:
        """Nothing to do."""


def calls_of(journey: Journey, tree: Tree, root: Path) -> list[str]:
    """The names of a journey's file calls, in their order."""

    def work(say: Say) -> None:
        counter = _Counter()
        Shim(root, counter).install()
        journey.run(root, lambda *_: None)
        say("calls", *(call.name for call in counter.calls))

    tree.laid(root)
    ended = in_child(work)
    assert ended.how == "done", ended
    return [str(name) for name in ended.of("calls")[0]]


def met(journey: Journey, fault: Fault, root: Path) -> Ended:
    """Lets the journey meet the fault."""

    def work(say: Say) -> None:
        Shim(root, Injector(fault, say)).install()
        journey.run(root, say)

    return in_child(work)


@cache
def _warm() -> None:
    """What every child would have to load anew, loaded once: modules, and the dictionary of
    Chinese.
    """
    for journey in JOURNEYS:
        if journey.goes_on:
            with tempfile.TemporaryDirectory() as name:
                journey.prepare(Path(name))
                journey.run(Path(name), silent)


def prepared(journey: Journey, root: Path) -> Tree:
    """The workspace a journey begins with."""
    _warm()
    Tree((), ()).laid(root)
    ended = in_child(lambda _: journey.prepare(root))
    assert ended.how == "done", ended
    return Tree.of(root)
