"""The lines that people type into a chat, or that a pipe brings."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator

import anyio
import click

_CHUNK = 65_536


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
    try:
        await anyio.wait_readable(descriptor)
    except (OSError, NotImplementedError):  # a file is always ready; Windows waits for sockets
        pass
    return os.read(descriptor, _CHUNK)
