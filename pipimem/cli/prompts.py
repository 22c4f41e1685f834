"""What people are asked and what they type: a yes or no, numbers of a list, lines of a chat."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator

import click

from pipimem.cli.output import Failed

_CHUNK = 65_536
_ALL = ("all", "全部", "都")


def agreed(question: str) -> bool | None:
    """Whether a person says yes; `None` where nobody can answer."""
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        return None


def confirmed(question: str, otherwise: str) -> None:
    """Go on where a person says yes.

    Raises `Failed` for a no and where nobody can answer; `otherwise` says what was not done.
    """
    answer = agreed(question)
    if answer is None:
        raise Failed(f"{otherwise}: nobody answered. Say --yes to go on without being asked")
    if not answer:
        raise Failed(otherwise)


def numbers(most: int) -> list[int]:
    """The numbers from 1 to `most` that a person picks.

    Raises `Failed` for none, and for one that is not there.
    """
    question = "Which? (numbers, or all)"
    try:
        answer = click.prompt(question, err=True, default="", show_default=False)
    except click.Abort:
        answer = ""
    if answer.strip().casefold() in _ALL:
        return list(range(1, most + 1))
    picked = sorted(set(map(int, re.findall(r"\d+", answer))))
    if not picked or picked[0] < 1 or picked[-1] > most:
        raise Failed("nothing was forgotten: no number of the list was given")
    return picked


async def typed(prompt: str = "") -> AsyncIterator[str]:
    """The lines of standard input without their ends.

    The prompt goes to standard error, on a terminal only.
    """
    try:
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError):  # a stand-in without a descriptor, by a host or a test
        for line in sys.stdin:
            yield line.rstrip("\r\n")
        return
    shown = prompt if sys.stdin.isatty() else ""
    rest = b""
    while True:
        click.echo(shown, err=True, nl=False)
        data = await _read(descriptor)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield _decoded(line)
        if not data:
            break
    if rest:
        yield _decoded(rest)


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")


async def _read(descriptor: int) -> bytes:
    """What is there, as soon as something is; empty at the end.

    A thread would still hang in its read after Ctrl-C.
    """
    import anyio  # 25 ms with its event loop, which those who only confirm save

    try:
        await anyio.wait_readable(descriptor)
    except (OSError, NotImplementedError):  # a file is always ready; Windows waits for sockets
        pass
    return os.read(descriptor, _CHUNK)
