"""What being observed costs: an operation, a turn, and a scrape of many channels.

usage: python -m benchmarks.observability [CHANNELS]

An operation is begun and ended 20,000 times in batches, by nobody, by counting, by a log line, and
by OpenTelemetry without and with an SDK where those are installed. Turns on a channel of 300 entries
are taken in turns by workspaces that differ in who observes them. Scrapes read a workspace of
CHANNELS channels (1,000 by default), of which each has 20 messages that wait.
"""

from __future__ import annotations

import io
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import anyio
from pipimem import (
    Channel,
    JsonLogFormatter,
    Message,
    ObservabilitySettings,
    Observer,
    OperationLog,
    Pipimem,
)
from pipimem.observer import Observers
from pipimem.runtime.observability.metrics import Metrics
from pipimem.runtime.observability.operation_metrics import OperationMetrics
from pipimem.settings import MaintenanceSettings, Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import heading, quantile

_BATCHES, _IN_A_BATCH = 100, 200
_TURNS, _WARMING = 400, 30
_ENTRIES, _WAITING = 300, 20
_CHANNELS = 1_000
_SPAN_TARGET = 10.0
_NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
_SETTINGS = Settings(
    maintenance=MaintenanceSettings(enabled=False), observability=ObservabilitySettings("never")
)
_ROW = "{:<44}{:>10}{:>10}"
_LIBRARIES = [
    name for name in ("opentelemetry-api", "opentelemetry-sdk") if find_spec("opentelemetry")
]


def main() -> None:
    """Print the three tables."""
    channels = int(sys.argv[1]) if len(sys.argv) > 1 else _CHANNELS
    print(heading("What being observed costs", *_LIBRARIES))
    anyio.run(_print_turns)
    _print_operations()
    anyio.run(_print_scrapes, channels)


# ── an operation ──────────────────────────────────────────────────────────────────────────────────


def _observers() -> dict[str, Callable[[], list[Observer]]]:
    """Who may observe, each made when it is measured."""
    known: dict[str, Callable[[], list[Observer]]] = {
        "nobody (off)": list,
        "metrics": lambda: [OperationMetrics()],
        "a log line of JSON": lambda: [_logging()],
    }
    if find_spec("opentelemetry"):
        known["OpenTelemetry without an SDK"] = lambda: [_spans()]
    return known


def _has_sdk() -> bool:
    return find_spec("opentelemetry") is not None and find_spec("opentelemetry.sdk") is not None


def _logging() -> Observer:
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(JsonLogFormatter())
    logger = logging.getLogger("pipimem.operations")
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    return OperationLog()


def _spans() -> Observer:
    from pipimem.runtime.observability.opentelemetry_spans import OpenTelemetryObserver

    return OpenTelemetryObserver()


def _spans_of_sdk() -> Observer:
    from opentelemetry import metrics, trace
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    tracers = TracerProvider()
    tracers.add_span_processor(BatchSpanProcessor(InMemorySpanExporter()))
    trace.set_tracer_provider(tracers)
    metrics.set_meter_provider(MeterProvider([InMemoryMetricReader()]))
    return _spans()


def _print_operations() -> None:
    print(_ROW.format("an operation, observed by", "p50 µs", "p95 µs"))
    known = _observers()
    if _has_sdk():  # last: a process keeps the one that it was given
        known["OpenTelemetry with an SDK, kept in memory"] = lambda: [_spans_of_sdk()]
    for name, make in known.items():
        observers = Observers(*make())
        took = [_batch(observers) for _ in range(_BATCHES)]
        print(_ROW.format(name, f"{quantile(took, 0.5):.2f}", f"{quantile(took, 0.95):.2f}"))
    print(f"target: {_SPAN_TARGET:g} µs without an SDK\n")


def _batch(observers: Observers) -> float:
    """Microseconds for one operation."""
    began = time.perf_counter()
    for _ in range(_IN_A_BATCH):
        with observers.of("commit", "room", task="consolidate") as operation:
            operation.records = 3
    return (time.perf_counter() - began) / _IN_A_BATCH * 1e6


# ── a turn ────────────────────────────────────────────────────────────────────────────────────────


async def _print_turns() -> None:
    print(_ROW.format("before_turn, observed by", "p50 µs", "p95 µs"))
    took: dict[str, list[float]] = {}
    async with AsyncExitStack() as stack:
        channels: dict[str, Channel] = {}
        for name, make in _observers().items():
            root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            WorkspaceStore.init(root)
            pipimem = await stack.enter_async_context(Pipimem(root, "offline", settings=_SETTINGS))
            for observer in make():
                pipimem.add_observer(observer)
            channels[name], took[name] = await pipimem.channel("room"), []
            _write_entries(root)
        for number in range(_WARMING + _TURNS):
            for name, channel in channels.items():
                began = time.perf_counter()
                await channel.before_turn(f"What is the port of service {number % _ENTRIES}?")
                if number >= _WARMING:
                    took[name].append((time.perf_counter() - began) * 1e6)
    for name, values in took.items():
        print(_ROW.format(name, f"{quantile(values, 0.5):.0f}", f"{quantile(values, 0.95):.0f}"))
    print()


def _write_entries(root: Path) -> None:
    lines = [f"- service {number} listens on port {8000 + number}" for number in range(_ENTRIES)]
    folder = root / "channels" / "room"
    (folder / "MEMORY.md").write_text("# Memory\n\n## Facts\n\n" + "\n".join(lines) + "\n", "utf-8")


# ── a scrape ──────────────────────────────────────────────────────────────────────────────────────


async def _print_scrapes(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        WorkspaceStore.init(root)
        store = WorkspaceStore.open(root)
        for number in range(count):
            said = [
                Message.user(f"message {each}", time=_NOON + timedelta(minutes=each))
                for each in range(_WAITING)
            ]
            ChannelStore.open(store, f"room{number}", create=True).append(said)
        async with Pipimem(root, "offline", settings=_SETTINGS) as pipimem:
            metrics = Metrics(pipimem)
            began, scrapes = time.perf_counter(), 1
            while "pipimem_channels_unread 0\n" not in await metrics.text():
                scrapes += 1
            first = time.perf_counter() - began
            took, text = [], ""
            for _ in range(20):
                began = time.perf_counter()
                text = await metrics.text()
                took.append((time.perf_counter() - began) * 1e3)
    print(f"a workspace of {count:,} channels, {count * _WAITING:,} messages that wait")
    print(f"  read for the first time, in {scrapes} scrape(s): {first:.2f} s")
    print(f"  a scrape after that: {quantile(took, 0.5):.1f} ms (p95 {quantile(took, 0.95):.1f})")
    print(f"  its text: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
