"""A process with the shim that has imported pipimem once and forks a child for each trial.

`Zygote.run` calls a function of a module in a child and returns what it said and how it ended. The
function gets the keyword arguments of the caller, which are JSON, and `say`: what it says arrives
even if the process is killed right after. Thus nothing of pipimem runs in the process of pytest.
The zygote exists beside `processes.py` because its children have the shim, and pipes to the test.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.promises import libc_shim
from tests.promises.libc_shim import Action, Rule

_ROOM = 1 << 16
_SECONDS = 60
_REPOSITORY = Path(__file__).parents[2]

Say = Callable[..., None]
"""Tells the test a fact: a kind, and values that are JSON."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended (`done`, `killed`, `raised`, `hung` or `crashed`) and what it said."""

    how: str
    said: tuple[tuple[Any, ...], ...]

    def of(self, kind: str) -> list[tuple[Any, ...]]:
        """Return what it said of a kind, without the kind."""
        return [tuple(values) for said, *values in self.said if said == kind]

    def raise_unless_done(self) -> Ended:
        """Raise `AssertionError` with the trace of a child that did not come to its end."""
        if self.how != "done":
            raise AssertionError(f"the child ended {self.how}:\n{self.trace}")
        return self

    @property
    def trace(self) -> str:
        """The trace of what it raised."""
        return "\n".join(str(values[-1]) for values in self.of("raised"))


@dataclass(slots=True)
class Child:
    """A child under way; `wait` reads it to its end.

    At a pause `paused` returns, and `go_on` lets the child continue.
    """

    pid: int
    _zygote: Zygote
    _said: int
    _told: int
    _wait: int

    def paused(self) -> bool:
        """Wait until the child has come to a pause; False if it ended without."""
        return os.read(self._told, 1) != b""

    def go_on(self) -> None:
        """End the pause."""
        os.write(self._wait, b"x")

    def wait(self) -> Ended:
        """Return what the child said, after its end."""
        os.close(self._wait)
        with os.fdopen(self._said, "rb") as file:
            lines = file.read().splitlines()
        os.close(self._told)
        status = self._zygote.status_of(self.pid)
        said = tuple(tuple(json.loads(line)) for line in lines)
        return Ended(_how(status), said)


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        names = {signal.SIGALRM: "hung", signal.SIGKILL: "killed"}
        return names.get(signal.Signals(os.WTERMSIG(status)), "crashed")
    return "done" if os.WEXITSTATUS(status) == 0 else "raised"


class Zygote:
    """The process; one request at a time, any number of children."""

    def __init__(self, *modules: str) -> None:
        """Start it and have it import modules of tests, which import pipimem."""
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = os.environ | {
            "LD_PRELOAD": os.fspath(libc_shim.compiled()),
            "PYTHONHASHSEED": "0",
            "OPENBLAS_NUM_THREADS": "1",
        }
        with there:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(there.fileno()), *modules],
                pass_fds=[there.fileno()],
                env=environment,
                cwd=_REPOSITORY,
            )
        self._socket = here
        assert self._socket.recv(_ROOM) == b"ready", "the zygote did not start"

    def start(
        self,
        function: str,
        *,
        armed: Path | None = None,
        rules: Sequence[Rule] = (),
        log: Path | None = None,
        **arguments: Any,
    ) -> Child:
        """Fork a child that calls `MODULE:FUNCTION(say, **arguments)`.

        With `armed` the shim is, for that folder. `arguments` are JSON.
        """
        said, say = os.pipe()
        told, tell = os.pipe()
        wait, go_on = os.pipe()
        request = {
            "function": function,
            "arguments": arguments,
            "armed": os.fspath(armed) if armed else "",
            "rules": [rule.as_json() for rule in rules],
            "log": os.fspath(log) if log else "",
        }
        try:
            socket.send_fds(self._socket, [json.dumps(request).encode()], [say, tell, wait])
        finally:
            for descriptor in (say, tell, wait):
                os.close(descriptor)
        return Child(int(self._socket.recv(_ROOM)), self, said, told, go_on)

    def run(self, function: str, **options: Any) -> Ended:
        """Fork a child as `start` does, and wait for its end."""
        return self.start(function, **options).wait()

    def status_of(self, pid: int) -> int:
        """Return the status with which a child ended."""
        self._socket.send(json.dumps({"wait": pid}).encode())
        return int(self._socket.recv(_ROOM))

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.wait(timeout=_SECONDS)


@contextmanager
def zygote(*modules: str) -> Iterator[Zygote]:
    """A `Zygote` that ends with the block."""
    started = Zygote(*modules)
    try:
        yield started
    finally:
        started.close()


# ── inside ────────────────────────────────────────────────────────────────────────────────────────


def _serve(control: socket.socket) -> None:
    while True:
        message, descriptors, *_ = socket.recv_fds(control, _ROOM, 3)
        if not message:
            return
        request = json.loads(message)
        if "wait" in request:
            control.send(str(os.waitpid(request["wait"], 0)[1]).encode())
            continue
        child = os.fork()
        if child == 0:
            control.close()
            _work(request, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(str(child).encode())


def _work(request: dict[str, Any], said: int, tell: int, wait: int) -> None:
    """Never returns: a child must not run on in the loop of the zygote."""
    log = -1

    def say(kind: str, *values: object) -> None:
        line = json.dumps([kind, *values], ensure_ascii=False)
        if log >= 0:
            libc_shim.note(line)
        os.write(said, line.encode() + b"\n")

    code = 1
    gc.disable()  # a collection would copy the pages that it shares with the zygote
    try:
        signal.alarm(_SECONDS)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        module, _, name = request["function"].partition(":")
        work = getattr(import_module(module), name)
        if request["armed"]:
            if request["log"]:
                log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            rules = [Rule(**rule | {"action": Action(rule["action"])}) for rule in request["rules"]]
            libc_shim.arm(request["armed"], rules, log=log, tell=tell, wait=wait)
        work(say, **request["arguments"])
        code = 0
    except BaseException as error:  # noqa: BLE001 - the test judges what it is
        names = [kind.__name__ for kind in type(error).__mro__]
        say("raised", names, str(error), traceback.format_exc())
    finally:
        os._exit(code)


def _main(descriptor: str, *modules: str) -> None:
    for module in modules:
        import_module(module)
    control = socket.socket(fileno=int(descriptor))
    control.send(b"ready")
    _serve(control)


if __name__ == "__main__":
    _main(*sys.argv[1:])
