"""Operations of this process, counted: how many ended how, and how long they took."""

from __future__ import annotations

import threading
from collections import Counter
from copy import deepcopy

from pipimem.observer import Operation
from pipimem.runtime.observability import metric_names as names
from pipimem.runtime.observability.exposition import Histogram, Labels, Metric, Samples

# Seconds: a recall takes milliseconds, a model minutes.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
# There from the beginning: Prometheus sees no increase in what comes to be with its first count.
_COUNTED = {
    "turn": ("ok", "silent", "error"),
    "compaction": ("consolidated", "deferred", "blocked", "failed", "error"),
    "commit": ("ok", "error"),
    "search": ("ok", "error"),
}
_JOBS = ("consolidate", "refresh", "history", "expire", "tidy", "fold")


class OperationMetrics:
    """`Observer` that counts; it may be told and asked in any thread."""

    wants_content = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended: Counter[Labels] = Counter()
        for kind, outcomes in _COUNTED.items():
            self._ended.update({(kind, outcome): 0 for outcome in outcomes})
        self._jobs: Counter[Labels] = Counter(
            {(task, outcome): 0 for task in _JOBS for outcome in ("ok", "failed")}
        )
        self._durations: dict[Labels, Histogram] = {}

    def begin(self, operation: Operation) -> None:
        """Nothing is counted before the end."""

    def end(self, operation: Operation, begun: object) -> None:  # noqa: ARG002 - the protocol's
        """Count it."""
        kind = operation.kind
        with self._lock:
            self._ended[kind, operation.outcome] += 1
            if kind == "job":
                self._jobs[operation.task, operation.outcome] += 1
            if (kind,) not in self._durations:
                self._durations[kind,] = Histogram(BOUNDS)
            self._durations[kind,].observe(operation.seconds)

    def families(self) -> list[tuple[Metric, Samples]]:
        """The metrics as they stand."""
        with self._lock:
            return [
                (names.OPERATIONS, dict(self._ended)),
                (names.DURATION, deepcopy(self._durations)),
                (names.JOBS, dict(self._jobs)),
            ]
