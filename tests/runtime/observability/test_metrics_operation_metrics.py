"""Operations are counted by how they ended, and timed."""

from __future__ import annotations

import threading

from pipimem.observer import Observers, Operation
from pipimem.runtime.observability import metric_names as names
from pipimem.runtime.observability.metric_names import Histogram, Samples
from pipimem.runtime.observability.metrics import OperationMetrics


def counted(samples: Samples) -> Samples:
    """What happened at all; the rest is there with a 0."""
    return {labels: value for labels, value in samples.items() if value}


def test_an_operation_is_counted_and_timed() -> None:
    """By kind and outcome; a job by its name too."""
    metrics = OperationMetrics()
    metrics.end(Operation("turn", "room", outcome="silent", seconds=0.3), None)
    metrics.end(Operation("job", "room", task="tidy", outcome="failed", seconds=2.0), None)
    found = dict(metrics.families())
    assert counted(found[names.OPERATIONS]) == {("turn", "silent"): 1, ("job", "failed"): 1}
    assert counted(found[names.JOBS]) == {("tidy", "failed"): 1}
    turns = found[names.DURATION]["turn",]
    assert isinstance(turns, Histogram)
    assert (turns.total, turns.sum) == (1, 0.3)
    assert dict(zip(turns.bounds, turns.counts, strict=True))[0.25] == 0
    assert dict(zip(turns.bounds, turns.counts, strict=True))[0.5] == 1


def test_threads_count_together() -> None:
    """Commits end in tasks, embeddings in threads: none is lost."""
    metrics = OperationMetrics()
    observers = Observers(metrics)

    def work() -> None:
        for _ in range(1_000):
            with observers.of("commit", "room"):
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted(dict(metrics.families())[names.OPERATIONS]) == {("commit", "ok"): 4_000}
