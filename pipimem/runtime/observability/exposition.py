"""Prometheus' text format, version 0.0.4: metrics with their samples as lines.

Of https://prometheus.io/docs/instrumenting/exposition_formats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, isnan
from typing import Literal

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Metric:
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
