"""What a person types, or a pipe delivers, line by line, without holding up the event loop."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator

import anyio

_CHUNK = 65_536


async def typed(prompt: str = "") -> AsyncIterator[str]:
    """The lines of standard input without their ends; the prompt goes to standard error on a terminal."""
    try:
        descriptor = sys.stdin.fileno()
    except (
        OSError,
        ValueError,
    ):  # a stand-in without a descriptor, as a host or a test puts in its place
        for line in sys.stdin:
            yield line.rstrip("\r\n")
        return
    asks = sys.stdin.isatty()
    left, ended = b"", False
    while not ended or left:
        if b"\n" in left or ended:
            line, _, left = left.partition(b"\n")
            yield line.decode("utf-8", "replace").rstrip("\r")
            continue
        if asks and prompt:
            sys.stderr.write(prompt)
            sys.stderr.flush()
        data = await _read(descriptor)
        left, ended = left + data, not data


async def _read(descriptor: int) -> bytes:
    """What is there, as soon as something is. A thread would still hang in its read after Ctrl-C."""
    try:
        await anyio.wait_readable(descriptor)
    except (
        OSError,
        NotImplementedError,
    ):  # a plain file never makes anyone wait; Windows waits for sockets only
        pass
    return os.read(descriptor, _CHUNK)
