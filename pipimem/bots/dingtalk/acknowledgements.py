"""When a message may be acknowledged: as soon as the transcript or the arrival journal has it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial

from pipimem.bots.dingtalk.arrival_writer import ArrivalWriter
from pipimem.runtime.arrival_journal import Arrival, ArrivalKey

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
