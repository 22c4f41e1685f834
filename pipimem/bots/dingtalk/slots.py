"""Slots for work that others need not wait for: few at a time, and after acknowledgements."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, suppress
from dataclasses import dataclass

# Work is put off no longer than this, however many messages come.
_LONGEST_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Slots:
    """To be entered for each piece of work; `is_free` is clear while an acknowledgement waits.

    Acknowledgements of a burst, as after a new connection, would share disk and processor with the
    storing and answering of its first messages.
    """

    places: asyncio.Semaphore
    is_free: asyncio.Event

    async def __aenter__(self) -> None:
        """Wait for a place, and then a while for acknowledgements."""
        await self.places.acquire()
        if self.is_free.is_set():
            return
        with ExitStack() as on_failure:
            on_failure.callback(self.places.release)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_SECONDS):
                    await self.is_free.wait()
            on_failure.pop_all()

    async def __aexit__(self, *_: object) -> None:
        """Leave the place to others."""
        self.places.release()
