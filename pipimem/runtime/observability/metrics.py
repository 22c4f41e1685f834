"""The metrics of one process on one workspace, as the text that Prometheus reads."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from pipimem import __version__
from pipimem.errors import PipimemError
from pipimem.runtime.observability import metric_names as names
from pipimem.runtime.observability import process_metrics
from pipimem.runtime.observability.channel_scan import ChannelScan
from pipimem.runtime.observability.exposition import Labels, Metric, Samples, rendered
from pipimem.runtime.observability.ledger_metrics import LedgerMetrics
from pipimem.runtime.observability.operation_metrics import OperationMetrics
from pipimem.runtime.observability.readiness import Readiness

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem

# Prometheus waits 10 s; channels that are left are read at the next scrape.
_SCAN_SECONDS = 2.0


class Metrics:
    """Counts what a `Pipimem` does from here on, and reads what the workspace keeps when asked."""

    def __init__(self, pipimem: Pipimem, readiness: Readiness | None = None) -> None:
        self._pipimem = pipimem
        self.readiness = readiness or Readiness(pipimem)
        channel_ids = pipimem.settings.observability.channel_ids
        self._operations = OperationMetrics()
        pipimem.add_observer(self._operations)
        self._ledger = LedgerMetrics(
            pipimem.store, pipimem.settings.budget, pipimem.clock.wall(), channel_ids=channel_ids
        )
        self._scan = ChannelScan(pipimem.store, channel_ids)
        self._reading = anyio.Lock()

    async def text(self) -> str:
        """All metrics in Prometheus' text format.

        What cannot be read is left out, and `pipimem_ready` is 0 then.
        """
        async with self._reading:
            return await to_thread.run_sync(self._text)

    def _text(self) -> str:
        began, pipimem = time.perf_counter(), self._pipimem
        families: list[tuple[Metric, Samples]] = [
            (names.INFO, {(__version__,): 1}),
            (names.READY, {(): 0 if self.readiness.problem() else 1}),
            (names.LEADER, {(): float(pipimem.does_idle_work)}),
            *self._operations.families(),
        ]
        try:
            families += self._ledger.families(pipimem.clock.wall())
            self._scan.advance(_SCAN_SECONDS)
            families += self._scan.families(time.time())
            families += self._of_files()
        except (PipimemError, OSError):
            pass  # the readiness has said so, and the others are worth having
        families += process_metrics.families()
        families.append((names.SCRAPE, {(): round(time.perf_counter() - began, 6)}))
        return rendered(families)

    def _of_files(self) -> list[tuple[Metric, Samples]]:
        store = self._pipimem.store
        failing: Counter[Labels] = Counter((problem.job,) for _, problem in store.failing())
        disk = os.statvfs(store.root)
        return [
            (names.PROBLEMS, failing),
            (names.DISK_FREE, {(): disk.f_bavail * disk.f_frsize}),
        ]
