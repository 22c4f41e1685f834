"""A command of the command line, run in this process: how it ended and what it printed."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import click
from pipimem.cli.commands import pipimem as command_line
from pipimem.errors import PipimemError


@dataclass(frozen=True, slots=True)
class Ran:
    """The exit code of a command, and all it printed on both streams."""

    code: int
    printed: str


def ran(root: Path, *arguments: str) -> Ran:
    """Runs `pipimem --workspace ROOT ARGUMENTS`; raises what a user would see as a traceback."""
    paper = io.BytesIO()
    screen = io.TextIOWrapper(paper, "utf-8", "backslashreplace", write_through=True)
    with redirect_stdout(screen), redirect_stderr(screen):
        try:
            words = ["--workspace", str(root), *arguments]
            answer = command_line.main(words, standalone_mode=False)
            code = answer if isinstance(answer, int) else 0
        except click.ClickException as refused:
            refused.show()
            code = refused.exit_code
    return Ran(code, paper.getvalue().decode())


# A sentence of ours names what is wrong; `KeyError('when')` and a bare number do not.
_LEAST_WORDS = 4


def complaint(error: BaseException) -> str:
    """What is wrong with an error from a public call, empty for one of ours with a sentence."""
    if not isinstance(error, PipimemError):
        return f"raised {type(error).__name__}: {error}"
    if is_sentence(str(error)):
        return ""
    return f"raised {type(error).__name__} without a sentence: {str(error)!r}"


def is_sentence(text: str) -> bool:
    """Whether a person could read it."""
    return len(text.split()) >= _LEAST_WORDS
