"""Work done in a process of its own, and what it said before it ended."""

from __future__ import annotations

import json
import math
import os
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

KILLED = 9
_RAISED = 1
# Longer than anybody's patience in the store (10 s for a lock).
_SECONDS = 40

Say = Callable[..., None]
"""Tells the parent a fact, as a kind and its values; told means told, whatever happens next."""
Said = tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended (`done`, `killed`, `raised` or `hung`) and what it said."""

    how: str
    said: Said

    def of(self, kind: str) -> list[tuple[object, ...]]:
        """What it said of one kind, without the kind."""
        return [line[1:] for line in self.said if line[0] == kind]


def in_child(
    work: Callable[[Say], None],
    meanwhile: Callable[[int], float] = lambda _: math.inf,
    seconds: int = _SECONDS,
) -> Ended:
    """Forks, works for so many seconds at most, and listens to the end.

    `meanwhile` gets the number of the process that works; what that says after the answered
    instant does not count.
    """
    listen, speak = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(listen)
        _work(work, speak, seconds)
    os.close(speak)
    until = meanwhile(child)
    with os.fdopen(listen, "rb") as file:
        lines = file.read().splitlines()
    status = os.waitpid(child, 0)[1]
    said = tuple(tuple(line) for when, *line in map(json.loads, lines) if when <= until)
    if os.WIFSIGNALED(status):
        return Ended(
            {signal.SIGALRM: "hung", signal.SIGKILL: "killed"}.get(os.WTERMSIG(status), "crashed"),
            said,
        )
    return Ended({0: "done", KILLED: "killed", _RAISED: "raised"}[os.WEXITSTATUS(status)], said)


def _work(work: Callable[[Say], None], speak: int, seconds: int) -> None:
    """Never returns: nothing of the child may run on in the parent's code."""
    write, leave = os.write, os._exit

    def say(kind: str, *values: object) -> None:
        write(speak, json.dumps([time.monotonic(), kind, *values]).encode() + b"\n")

    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)
    try:
        work(say)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent judges it
        names = [kind.__name__ for kind in type(error).__mro__]
        say("raised", names, str(error), traceback.format_exc()[-3000:])
        leave(_RAISED)
    leave(0)
