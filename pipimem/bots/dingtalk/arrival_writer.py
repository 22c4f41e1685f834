"""A thread that writes the arrival journal, so that an acknowledgement queues behind no turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread

from anyio import to_thread

from pipimem.errors import PipimemError
from pipimem.runtime.arrival_journal import Arrival, ArrivalJournal, ArrivalKey

# What is over is cut off the journal so long after the last message: a quiet bot keeps none, and
# one that is not quiet does not make the file anew each time, which takes three waits for the disk.
_REST_SECONDS = 0.5

_log = logging.getLogger("pipimem.dingtalk")


@dataclass(frozen=True, slots=True)
class _Added:
    """An arrival to be written; `written` is done when it is on the disk, or was refused."""

    arrival: Arrival
    written: asyncio.Future[bool]


@dataclass(frozen=True, slots=True)
class _Stop:
    """Asks the thread to write what waits, and to end."""


_Wanted = _Added | ArrivalKey | _Stop


@dataclass(slots=True)
class ArrivalWriter:
    """A group commit: all that arrived while the disk was busy is written with one wait for it.

    Used in one event loop, between `start` and `stop`.
    """

    journal: ArrivalJournal
    _wanted: SimpleQueue[_Wanted] = field(default_factory=SimpleQueue, repr=False)
    # Those that the transcript has, and that are to be cut off with the next write.
    _over: list[ArrivalKey] = field(default_factory=list, repr=False)
    # Set while no arrival waits to be written.
    is_idle: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    _waiting: int = 0
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: Thread | None = None

    def start(self) -> None:
        """Begin to write."""
        self._loop = asyncio.get_running_loop()
        self.is_idle.set()
        self._thread = Thread(target=self._run, name="arrivals", daemon=True)
        self._thread.start()

    def add(self, arrival: Arrival) -> asyncio.Future[bool]:
        """Have an arrival written; the result says whether it is on the disk."""
        written = asyncio.get_running_loop().create_future()
        self._waiting += 1
        self.is_idle.clear()
        self._wanted.put(_Added(arrival, written))
        return written

    def _settle(self, added: list[_Added], *, is_written: bool) -> None:
        for one in added:
            if not one.written.done():
                one.written.set_result(is_written)
        self._waiting -= len(added)
        if not self._waiting:
            self.is_idle.set()

    def end(self, key: ArrivalKey) -> None:
        """Have an arrival cut off: the transcript has it."""
        self._wanted.put(key)

    async def stop(self) -> None:
        """Write what waits, and end."""
        if self._thread is not None:
            self._wanted.put(_Stop())
            await to_thread.run_sync(self._thread.join)
            self._thread = None

    # ── in the thread ─────────────────────────────────────────────────────────────────────────────

    def _run(self) -> None:
        is_stopped = False
        while not is_stopped:
            wanted = list(self._next())
            is_stopped = any(isinstance(one, _Stop) for one in wanted)
            added = [one for one in wanted if isinstance(one, _Added)]
            self._over += [one for one in wanted if isinstance(one, tuple)]
            if added or is_stopped or not wanted:
                self._write(added)

    def _next(self) -> Iterator[_Wanted]:
        """All that waits; nothing where nothing came for a while, and something is over."""
        try:
            yield self._wanted.get(timeout=_REST_SECONDS if self._over else None)
            while True:
                yield self._wanted.get_nowait()
        except Empty:
            return

    def _write(self, added: list[_Added]) -> None:
        over, self._over = self._over, []
        # What the transcript has by now needs no journal.
        fresh = [one.arrival for one in added if one.arrival.key not in over]
        try:
            self.journal.commit(fresh, over)
            is_written = True
        except (PipimemError, OSError) as error:
            _log.error("%d messages are not in the journal: %s", len(fresh), error)
            is_written = False
        except Exception as error:  # noqa: BLE001 - what arrives next is written
            _log.error("%d messages are not in the journal", len(fresh), exc_info=error)
            is_written = False
        assert self._loop is not None
        if added:
            self._loop.call_soon_threadsafe(partial(self._settle, added, is_written=is_written))


# DingTalk waits a few seconds; what is not on the disk by then is to be delivered again.
_LONGEST_WAIT = 10.0


@dataclass(slots=True)
class Acknowledgements:
    """Holds each acknowledgement back until its message is durable."""

    writer: ArrivalWriter
    # Those that are in the journal, or on their way there.
    _written: dict[ArrivalKey, asyncio.Future[bool]] = field(default_factory=dict, repr=False)

    def waits(
        self, arrival: Arrival | None, stored: asyncio.Future[bool]
    ) -> set[asyncio.Future[bool]]:
        """What makes a message durable: the transcript, which `stored` is of, and the journal.

        Begins to write an arrival that is not written yet. Without one nothing of the message may
        be in the journal.
        """
        if arrival is None or stored.done():
            return {stored}
        written = self._written.get(arrival.key)
        if written is None:
            written = self._written[arrival.key] = self.writer.add(arrival)
        self.watch(arrival.key, stored)
        return {stored, written}

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
            self.writer.end(key)


async def is_durable(waits: set[asyncio.Future[bool]]) -> bool:
    """Whether a message is on the disk, or need not be; `False` where that took too long."""
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
