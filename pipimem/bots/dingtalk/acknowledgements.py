"""When a message may be acknowledged: as soon as the transcript or the arrival journal has it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from anyio import to_thread

from pipimem.errors import PipimemError
from pipimem.runtime.arrival_journal import Arrival, ArrivalJournal, ArrivalKey

# DingTalk waits a few seconds; what is not on the disk by then is to be delivered again.
_LONGEST_WAIT = 10.0
# What the transcript has by then needs no journal: one wait for the disk less.
_HEAD_START = 0.004
# What is over is cut off the journal so long after the last message: a quiet bot keeps none.
_REST_SECONDS = 0.05

_log = logging.getLogger("pipimem.dingtalk")


@dataclass(slots=True)
class Acknowledgements:
    """A group commit: all that arrived while the disk was busy is written with one wait for it."""

    journal: ArrivalJournal
    # Those that wait for the next write, those that are in the journal, and those that may leave.
    _added: list[Arrival] = field(default_factory=list, repr=False)
    _written: dict[ArrivalKey, asyncio.Future[bool]] = field(default_factory=dict, repr=False)
    _over: list[ArrivalKey] = field(default_factory=list, repr=False)
    # Set where something is to be written, and where somebody waits for it.
    _work: asyncio.Event = field(default_factory=asyncio.Event)
    _urgent: asyncio.Event = field(default_factory=asyncio.Event)

    async def durable(self, arrival: Arrival | None, stored: asyncio.Future[bool]) -> bool:
        """Whether a message is on the disk, or need not be; `False` where that took too long.

        `stored` says so of the transcript. Without an arrival nothing of it may be in the journal.
        """
        await asyncio.wait({stored}, timeout=_HEAD_START)
        if arrival is None or stored.done():
            return await _any({stored})
        written = self._written.get(arrival.key)
        if written is None:
            written = self._written[arrival.key] = asyncio.get_running_loop().create_future()
            self._added.append(arrival)
            self._work.set()
            self._urgent.set()
        self.watch(arrival.key, stored)
        return await _any({stored, written})

    def watch(self, key: ArrivalKey, stored: asyncio.Future[bool]) -> None:
        """Cut an arrival off the journal as soon as it is stored."""
        stored.add_done_callback(partial(self._end, key))

    def has(self, key: ArrivalKey) -> bool:
        """Whether an arrival is in the journal, or on its way there."""
        return key in self._written

    def _end(self, key: ArrivalKey, stored: asyncio.Future[bool]) -> None:
        """The transcript has it: now it may leave the journal."""
        is_stored = not stored.cancelled() and stored.result()
        if is_stored and self._written.pop(key, None) is not None:
            self._over.append(key)
            self._work.set()

    async def run(self) -> None:
        """Write what arrives, until cancelled."""
        while True:
            await self._work.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(_REST_SECONDS):
                    await self._urgent.wait()
            self._work.clear()
            self._urgent.clear()
            await self.write()

    async def write(self) -> None:
        """Write what waits now."""
        added, self._added = self._added, []
        over, self._over = self._over, []
        fresh = [one for one in added if one.key in self._written]
        waiting = [self._written[one.key] for one in fresh]
        try:
            await to_thread.run_sync(self.journal.commit, fresh, over)
            is_written = True
        except (PipimemError, OSError) as error:
            _log.error("%d messages are not in the journal: %s", len(fresh), error)
            is_written = False
        for written in waiting:
            written.set_result(is_written)


async def _any(waits: set[asyncio.Future[bool]]) -> bool:
    """Whether one of them comes true in time."""
    pending, ends = waits, asyncio.get_running_loop().time() + _LONGEST_WAIT
    while pending:
        left = ends - asyncio.get_running_loop().time()
        done, pending = await asyncio.wait(
            pending, timeout=left, return_when=asyncio.FIRST_COMPLETED
        )
        if any(not one.cancelled() and one.result() for one in done):
            return True
        if not done:
            return False
    return False
