"""Tells the other hosts of a fleet that there was talk: idle work of its channel is put off."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio import to_thread

from pipimem.settings import MaintenanceSettings
from pipimem.store.fleet.fleet_lock import Fleet
from pipimem.store.fleet.usage import Visits

# One statement for all channels that were talked in within so many seconds. What a process that is
# killed had not told yet, the next comparison of all files finds.
_PAUSE = 1.0


@dataclass(slots=True, eq=False)
class DueTimes:
    """The due times of channels that this process talks in; on one event loop."""

    visits: Visits
    idle_seconds: float
    _talked: set[str] = field(default_factory=set)
    _event: anyio.Event = field(default_factory=anyio.Event)

    def message_received(self, folder: str) -> None:
        """There was talk in the channel of a folder."""
        self._talked.add(folder)
        self._event.set()

    async def run(self) -> None:
        """Writes due times until cancelled; raises `StoreError` with nothing forgotten."""
        while True:
            await self._event.wait()
            self._event = anyio.Event()
            await self._write()
            await anyio.sleep(_PAUSE)

    async def _write(self) -> None:
        talked, self._talked = self._talked, set()
        with ExitStack() as on_failure:
            on_failure.callback(self._add_again, talked)
            await to_thread.run_sync(partial(self.visits.put_off, talked, self.idle_seconds))
            on_failure.pop_all()

    def _add_again(self, talked: set[str]) -> None:
        self._talked |= talked
        self._event.set()


def due_times_of(fleet: Fleet, settings: MaintenanceSettings) -> DueTimes:
    """Those of a workspace in a fleet."""
    return DueTimes(Visits(fleet.database, fleet.name), settings.idle_seconds)
