"""Who does the idle work of a workspace: one process on one host, or the workers of a fleet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipimem.errors import SettingsError, WorkspaceError
from pipimem.runtime.maintenance.changed_files import JOB

if TYPE_CHECKING:
    from pipimem.runtime.fleet.due_times import DueTimes
    from pipimem.runtime.maintenance.worker import MaintenanceWorker, Visit

Report = Callable[["Visit"], None]
# The job, as the operator reads of it.
DUE_TIMES = "telling the fleet of talk"


@dataclass(slots=True, eq=False)
class IdleWork:
    """The idle work of a workspace; `worker` does it on one host."""

    worker: MaintenanceWorker
    # `None` on one host.
    _due_times: DueTimes | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        fleet = self.worker.store.fleet
        if fleet is not None:
            from pipimem.runtime.fleet.due_times import due_times_of  # of a fleet alone

            self._due_times = due_times_of(fleet, self.worker.settings.maintenance)

    def message_received(self, folder: str) -> None:
        """Puts off the idle work of a channel in which a message came."""
        self.worker.message_received(folder)
        if self._due_times is not None:
            self._due_times.message_received(folder)

    async def run_beside(self) -> None:
        """What runs beside the turns of a bot, until cancelled.

        In a fleet other hosts are told of the talk, and `pipimem watch --fleet` does the work.
        """
        keep = self.worker.background.keep
        if self._due_times is not None:
            await keep(DUE_TIMES, self._due_times.run)
        elif self.worker.settings.maintenance.enabled:
            await keep(JOB, self.worker.run_beside)

    async def watch(self, report: Report | None, began: Callable[[], None]) -> None:
        """Does the idle work of every channel until cancelled, on one host.

        Raises `WorkspaceError` where another process does it already, and in a fleet.
        """
        if self._due_times is not None:
            raise WorkspaceError(
                "[fleet] database is set: several hosts share this workspace. "
                "`pipimem watch --fleet` does the idle work on each."
            )
        if not await self.worker.take_leadership():
            raise WorkspaceError(
                f"{self.worker.holder()} does the idle work of {self.worker.store.root} already. "
                "Stop it first; a bot leaves "
                "it to others with `enabled = false` under [maintenance] in pipimem.toml."
            )
        began()
        await self.worker.run_reporting(report)

    async def watch_for_fleet(self, report: Report | None, began: Callable[[], None]) -> None:
        """Does the idle work of channels that are due, beside the workers of other hosts.

        Raises `WorkspaceError` outside a fleet, `SettingsError` without `pipimem[fleet]`.
        """
        fleet = self.worker.store.fleet
        if fleet is None:
            raise WorkspaceError(
                "There is no fleet: set database under [fleet] in pipimem.toml, or leave --fleet "
                "out."
            )
        try:
            from pipimem.runtime.fleet.fleet_worker import FleetWorker
        except ImportError as error:
            raise SettingsError(
                "`pipimem watch --fleet` needs Procrastinate: pip install 'pipimem[fleet]'"
            ) from error
        worker = FleetWorker.of(self.worker, fleet, report)
        began()
        await worker.run()
