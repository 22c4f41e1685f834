"""Processes beside the test: commands as a user runs them, and functions of test modules."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from multiprocessing.process import BaseProcess
from pathlib import Path

# A server that has imported pipimem forks each process: 20 ms instead of the 300 ms of a start.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.promises.preloaded"])
# Longer than our lock timeout of 10 s on a busy machine.
_LONGEST = 120.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    output: str
    errors: str

    @property
    def printed(self) -> str:
        """Standard output and standard error."""
        return self.output + self.errors

    @property
    def has_traceback(self) -> bool:
        """Whether a user would see a traceback."""
        return "Traceback (most recent call last)" in self.printed


def start(function: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a module's function in a process of its own."""
    process = _CONTEXT.Process(target=function, args=arguments, daemon=True)
    process.start()
    return process


def finish(process: BaseProcess) -> int:
    """Wait for a process; returns its exit code, negative after a signal."""
    process.join(_LONGEST)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f"{process.name} still ran after {_LONGEST:.0f} s")
    return process.exitcode


def command(workspace: Path, *arguments: str) -> Ended:
    """Run `pipimem --workspace WORKSPACE …` in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return finish_command(*start_command(workspace, Path(folder), *arguments))


def start_command(workspace: Path, folder: Path, *arguments: str) -> tuple[BaseProcess, Path]:
    """Start a command that prints into a folder; `finish_command` takes what is returned."""
    return start(_run_command, str(workspace), str(folder), arguments), folder


def finish_command(process: BaseProcess, folder: Path) -> Ended:
    """Wait for a command."""
    code = finish(process)
    texts = [(folder / name).read_text("utf-8", errors="replace") for name in ("out", "err")]
    return Ended(code, *texts)


def _run_command(workspace: str, folder: str, arguments: tuple[str, ...]) -> None:
    for number, name in ((1, "out"), (2, "err")):
        descriptor = os.open(Path(folder) / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.argv = ["pipimem", "--workspace", workspace, *arguments]
    with contextlib.suppress(KeyError):
        del os.environ["PIPIMEM_WORKSPACE"]
    entry_points(group="console_scripts", name="pipimem")["pipimem"].load()()
