"""Workspaces and channels for the promises: opened, spoken in, and searched byte by byte."""

from __future__ import annotations

import base64
import binascii
import gzip
import re
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import anyio
import pytest

from tests.promises.front_door import (
    Channel,
    FixedClock,
    MaintenanceSettings,
    Message,
    Pipimem,
    RecallSettings,
    Settings,
    before_turn,
)

MORNING = datetime.fromisoformat("2026-03-02T09:00:00+08:00")
# Nothing here depends on the event loop.
ASYNCIO = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]
_HUMAN_FILES = {
    "SOUL.md": "# Soul\r\n\r\nYou are pipi. \n",
    "AGENTS.md": "# Agents\n\n- answer briefly",
    "MEMORY.md": "\ufeff# Memory\n\n* the office is on Kaistraße 5\n\n\n",
}


def write_human_files(workspace: Path) -> None:
    """Write SOUL.md, AGENTS.md and MEMORY.md with bytes that a careless writer would normalize."""
    for name, text in _HUMAN_FILES.items():
        (workspace / name).write_bytes(text.encode())


def require_human_files(workspace: Path) -> None:
    """Fail unless SOUL.md, AGENTS.md and MEMORY.md are byte-identical."""
    for name, text in _HUMAN_FILES.items():
        assert (workspace / name).read_bytes() == text.encode(), name


def quiet_settings(**changes: Any) -> Settings:
    """Return settings without idle jobs and without a rerank, with `changes`."""
    quiet = {
        "maintenance": MaintenanceSettings(enabled=False),
        "recall": RecallSettings(rerank="never"),
    }
    return Settings(**{**quiet, **changes})


@asynccontextmanager
async def opened(
    workspace: Path,
    id: str = "room",  # noqa: A002 - the field's own name
    *,
    model: str = "offline",
    assistant: Any = None,
    clock: FixedClock | None = None,
    kind: str = "group",
    settings: Settings | None = None,
) -> AsyncIterator[Channel]:
    """Open a workspace and a channel in it; both are closed at the end."""
    async with Pipimem(
        workspace,
        model,
        assistant=assistant,
        settings=settings or quiet_settings(),
        clock=clock or FixedClock(MORNING),
    ) as pipimem:
        yield await pipimem.channel(id, kind=kind)


async def say(
    channel: Channel, text: str, reply: str = "ok", *, speaker: str = "Dana", **options: Any
) -> str:
    """Take one whole turn; returns what was injected."""
    turn = await before_turn(channel, text, speaker=speaker, **options)
    said = [Message.user(text, speaker=speaker), Message.assistant(reply)]
    await channel.after_turn(turn, said)
    return turn.context


async def context(channel: Channel, text: str, *, speaker: str = "Dana") -> str:
    """Return what a turn of a new session would inject; nothing is stored."""
    return (await before_turn(channel, text, speaker=speaker, sees_nothing=True)).context


async def context_with(channel: Channel, text: str, wanted: str) -> str:
    """Ask for a turn's context until it has some words; the index may be read meanwhile."""
    for _ in range(100):
        if wanted in (shown := await context(channel, text)):
            return shown
        await anyio.sleep(0.05)
    raise AssertionError(f"{wanted!r} is not shown:\n{shown}")


# ── what is on disk, byte by byte


def traces(workspace: Path, words: Iterable[str]) -> dict[str, list[str]]:
    """Return the files below a folder whose bytes or name hold one of some words, in any case.

    The bytes are read as they are, as JSON and percent escapes, as UTF-16, and where they are
    Base64, gzip or zlib, what they decode to.
    """
    wanted = [word.casefold() for word in words]
    found: dict[str, list[str]] = {}
    for path in sorted(workspace.rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        name = str(path.relative_to(workspace))
        text = "\n".join([name, *_readings(data)]).casefold()
        if held := [word for word in wanted if word in text]:
            found[name] = held
    return found


def _readings(data: bytes) -> Iterator[str]:
    yield from _plain_readings(data)
    for stretch in set(re.findall(rb"[A-Za-z0-9+/_-]{12,}={0,2}", data)):
        with suppress(binascii.Error, ValueError):
            padded = stretch.rstrip(b"=") + b"=" * (-len(stretch.rstrip(b"=")) % 4)
            yield base64.b64decode(padded, altchars=b"-_").decode(errors="replace")
    for unpack, magic in ((gzip.decompress, b"\x1f\x8b"), (zlib.decompress, b"x")):
        at = data.find(magic)
        while at >= 0 and data[at + 1 : at + 2] in b"\x8b\x01\x9c\xda":
            with suppress(OSError, EOFError, zlib.error):
                yield from _plain_readings(unpack(data[at:]))
            at = data.find(magic, at + 1)


def _plain_readings(data: bytes) -> Iterator[str]:
    text = data.decode(errors="replace")
    yield text
    if "\\u" in text:
        yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    if b"%" in data:
        yield unquote_to_bytes(data).decode(errors="replace")
    if b"\0" in data:
        yield data.decode("utf-16-le", errors="replace")
        yield data.decode("utf-16-be", errors="replace")
