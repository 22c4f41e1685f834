"""A bot for some seconds: turns, hand edits, idle work, an embedder, a model over HTTP."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import anyio
from pipimem import Channel, Clock, Message, Pipimem
from pipimem.notes.files import File
from pipimem.settings import MaintenanceSettings, Settings

from benchmarks.background.planting import the_hosts_own_call
from benchmarks.background.plugs import Letters
from benchmarks.faults.child import Say
from benchmarks.faults.journeys import CHANNEL, NOW

MODEL = "openai/plain"
_IDLE = 0.1
# An hour of the bot's clock in so many seconds: pauses between jobs are over with the next round.
_HOUR = 1.5
_ROUNDS = 4


class Records(logging.Handler):
    """What pipimem says to its operator."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        """A warning or an error."""
        cause = record.exc_info[1] if record.exc_info else None
        self._say("logged", f"{record.levelname}: {record.getMessage()} {cause or ''}")


def fast_clock() -> Clock:
    """Hours go by in seconds; intervals of the event loop are real."""
    start = time.monotonic()

    def now() -> datetime:
        return NOW + timedelta(hours=(time.monotonic() - start) / _HOUR)

    return Clock(now=now, wall=now)


async def bot(
    root: Path,
    address: str,
    say: Say,
    watch: Callable[[], None],
    has_raised: Callable[[], bool],
) -> None:
    """The host's task group, and pipimem beside it; says `alive` where it ends well.

    `watch` is called once pipimem has begun; the bot ends one round after `has_raised`.
    """
    os.environ |= {"OPENAI_API_BASE": f"{address}/v1", "OPENAI_API_KEY": "sk-none"}
    logging.getLogger("pipimem").addHandler(Records(say))
    settings = Settings(maintenance=MaintenanceSettings(idle_seconds=_IDLE))
    async with anyio.create_task_group() as host:
        host.start_soon(_heartbeat)
        pipimem = Pipimem(root, MODEL, settings=settings, clock=fast_clock(), embedder=Letters())
        await pipimem.__aenter__()
        watch()
        try:
            await _live(pipimem, say, has_raised)
        finally:
            with the_hosts_own_call():
                await pipimem.__aexit__(*sys.exc_info())
        host.cancel_scope.cancel()
    say("alive")


async def _live(pipimem: Pipimem, say: Say, has_raised: Callable[[], bool]) -> None:
    with the_hosts_own_call():
        channel = await pipimem.channel(CHANNEL)
    for number in range(_ROUNDS):
        is_last = has_raised()
        await _round(channel, number, say)
        if is_last:
            break


async def _heartbeat() -> None:
    while True:
        await anyio.sleep(0.05)


async def _round(channel: Channel, number: int, say: Say) -> None:
    """A turn, a pause in which the bot is idle, an edit by hand, another pause."""
    said = [Message.user(f"remember that tree {number} needs water", id=f"u{number}"),
            Message.assistant("I will", id=f"a{number}"),
            Message.user("fine", id=f"v{number}")]  # fmt: skip
    with the_hosts_own_call():
        turn = await channel.before_turn(said[0].content, speaker="alice")
        if turn.problem:
            say("wrong", f"before_turn said {turn.problem}")
        await channel.after_turn(turn, said)
        if number:
            await channel.remember(f"the tree of day {number} is an oak")
        path = channel.store.folder / File.MEMORY
    await anyio.sleep(_HOUR / 2)
    path.write_bytes(path.read_bytes() + f"- typed on day {number}\n".encode())
    await anyio.sleep(_HOUR / 3)
