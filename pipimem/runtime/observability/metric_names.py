"""Every metric that is exported: its name, type, labels, and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, isnan
from typing import Literal

from msgspec import Struct

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[str, ...]


class Metric(Struct, frozen=True):
    """A name, what it counts, and the names of its labels; `kind` is Prometheus' type."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: Labels = ()


@dataclass(slots=True)
class Histogram:
    """How many values were at most each of the `bounds`, how many there were, and their sum."""

    bounds: tuple[float, ...]
    counts: list[int] = field(init=False)
    total: int = 0
    sum: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * len(self.bounds)

    def observe(self, value: float) -> None:
        """Take in one more value."""
        self.total += 1
        self.sum += value
        for index, bound in enumerate(self.bounds):
            if value <= bound:
                self.counts[index] += 1


Value = float | Histogram
Samples = Mapping[Labels, Value]
"""The values of a metric by those of its labels, in the order of their names."""


def rendered(families: Iterable[tuple[Metric, Samples]]) -> str:
    """The text of metrics with their samples; a metric without a sample has no line."""
    lines: list[str] = []
    for metric, samples in families:
        if samples:
            lines.append(f"# HELP {metric.name} {_escaped_help(metric.help)}")
            lines.append(f"# TYPE {metric.name} {metric.kind}")
            for values, value in samples.items():
                lines.extend(_lines(metric, values, value))
    return "\n".join(lines) + "\n"


def _lines(metric: Metric, values: Labels, value: Value) -> Iterator[str]:
    pairs = list(zip(metric.labels, values, strict=True))
    if not isinstance(value, Histogram):
        yield f"{metric.name}{_labels(pairs)} {_number(value)}"
        return
    for bound, count in zip((*value.bounds, inf), (*value.counts, value.total), strict=True):
        yield f"{metric.name}_bucket{_labels([*pairs, ('le', _number(bound))])} {count}"
    yield f"{metric.name}_sum{_labels(pairs)} {_number(value.sum)}"
    yield f"{metric.name}_count{_labels(pairs)} {value.total}"


def _labels(pairs: list[tuple[str, str]]) -> str:
    if not pairs:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs) + "}"


def _number(value: float) -> str:
    if isnan(value):
        return "NaN"
    if value in (inf, -inf):
        return "+Inf" if value > 0 else "-Inf"
    return repr(int(value)) if value == int(value) else repr(float(value))


def _escaped(value: str) -> str:
    """A label's value; half characters, which UTF-8 has not, become question marks."""
    whole = value.encode("utf-8", "replace").decode("utf-8")
    return whole.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _escaped_help(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


INFO = Metric("pipimem_info", "gauge", "The version, as a label.", ("version",))
READY = Metric("pipimem_ready", "gauge", "1 where /readyz says so, else 0.")

# No label is called `job`: Prometheus has its own of that name.

# Of this process.
OPERATIONS = Metric(
    "pipimem_operations_total",
    "counter",
    "Turns, recalls, gates, jobs, commits and calls of models of this process, by how they ended.",
    ("operation", "outcome"),
)
DURATION = Metric(
    "pipimem_operation_duration_seconds",
    "histogram",
    "How long operations of this process took.",
    ("operation",),
)
JOBS = Metric(
    "pipimem_jobs_total",
    "counter",
    "Idle jobs of this process that had something to do, by how they ended.",
    ("task", "outcome"),
)
LEADER = Metric(
    "pipimem_maintenance_leader",
    "gauge",
    "1 where this process does the idle work of the workspace, else 0.",
)

# Of the workspace's usage ledger, which all processes write, since this process began.
CALLS = Metric(
    "pipimem_model_calls_total",
    "counter",
    "Attempts at calls of models by all processes, failed ones too.",
    ("model", "task", "outcome"),
)
CALL_DURATION = Metric(
    "pipimem_model_call_duration_seconds",
    "histogram",
    "How long attempts at calls of models took.",
    ("model",),
)
TOKENS = Metric(
    "pipimem_model_tokens_total",
    "counter",
    "Tokens of calls of models; cached ones are part of those in.",
    ("model", "type"),
)
COST = Metric(
    "pipimem_model_cost_dollars_total",
    "counter",
    "US dollars of calls of models, estimated where no bill came.",
    ("model",),
)
UNPRICED = Metric(
    "pipimem_model_calls_unpriced_total",
    "counter",
    "Calls of models that no price is known for.",
    ("model",),
)
IN_PROGRESS = Metric(
    "pipimem_model_calls_in_progress", "gauge", "Calls of models under way in all processes."
)
BUDGET = Metric(
    "pipimem_budget_used_ratio",
    "gauge",
    "What today's budget of the workspace has used, from 0 to 1; nothing without a limit.",
    ("unit",),
)
BREAKER = Metric(
    "pipimem_circuit_breaker_open",
    "gauge",
    "1 while a model is left alone because it failed too often, else 0.",
    ("model",),
)

# Of the workspace's files.
CHANNELS = Metric("pipimem_channels", "gauge", "Channels of the workspace.")
UNREAD = Metric(
    "pipimem_channels_unread",
    "gauge",
    "Channels whose files changed and were not looked at again yet; the figures lack them.",
)
UNREADABLE = Metric("pipimem_channels_unreadable", "gauge", "Channels whose files cannot be read.")
MESSAGES = Metric("pipimem_messages", "gauge", "Messages of all transcripts.")
BACKLOG = Metric("pipimem_backlog_messages", "gauge", "Messages that are not learnt from yet.")
BACKLOG_CHANNELS = Metric("pipimem_backlog_channels", "gauge", "Channels with such messages.")
BACKLOG_QUIET = Metric(
    "pipimem_backlog_quiet_seconds",
    "gauge",
    "How long the quietest channel with such messages has been quiet: idle work is due after 20 "
    "minutes.",
)
SET_ASIDE = Metric(
    "pipimem_set_aside_windows",
    "gauge",
    "Stretches of talk that no model could make sense of, recallable as they were said.",
)
FAILING = Metric(
    "pipimem_channel_jobs_failing",
    "gauge",
    "Channels in which a job failed the last time it ran.",
    ("task",),
)
PROBLEMS = Metric(
    "pipimem_background_problems",
    "gauge",
    "Background jobs that fail, as `pipimem status` shows them.",
    ("task",),
)
DISK_FREE = Metric(
    "pipimem_disk_free_bytes", "gauge", "Bytes that the workspace's disk has left for us."
)

# Only with [observability] channel_ids = true.
CHANNEL_BACKLOG = Metric(
    "pipimem_channel_backlog_messages",
    "gauge",
    "Messages of a channel that are not learnt from yet.",
    ("channel",),
)
CHANNEL_BUDGET = Metric(
    "pipimem_channel_budget_used_ratio",
    "gauge",
    "What a channel has used of its budget of today.",
    ("channel",),
)

# Prometheus' usual ones of a process; Linux tells them.
PROCESS_START = Metric(
    "process_start_time_seconds", "gauge", "When the process began, in Unix seconds."
)
PROCESS_CPU = Metric("process_cpu_seconds_total", "counter", "Processor time of the process.")
PROCESS_MEMORY = Metric("process_resident_memory_bytes", "gauge", "Memory that the process holds.")
PROCESS_FILES = Metric("process_open_fds", "gauge", "Open files of the process.")
SCRAPE = Metric("pipimem_scrape_duration_seconds", "gauge", "How long these figures took.")

METRICS = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
