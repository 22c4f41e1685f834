"""Figures of several trees as rows: a Markdown table with ratios, and JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TypeVar

from benchmarks.machine import quantile

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Figure:
    """A value, with the spread of the samples that it is the median of."""

    value: float
    p95: float | None = None
    lowest: float | None = None
    highest: float | None = None
    samples: int = 1
    note: str = ""

    @classmethod
    def of_samples(cls, samples: Sequence[float]) -> Figure:
        """Return median, p95, minimum and maximum; raises `StatisticsError` without samples."""
        middle, p95 = median(samples), quantile(list(samples), 0.95)
        return cls(middle, p95, min(samples), max(samples), len(samples))

    @classmethod
    def share(cls, part: float, whole: float) -> Figure:
        """Return `part / whole` with both numbers as its note."""
        return cls(part / whole if whole else 0.0, note=f"{part:,.0f} of {whole:,.0f}")

    def text(self, unit: str) -> str:
        """Return the value, its spread if it has one, and its note."""
        if isinstance(self.value, int):
            shown = f"{self.value:,}"
        elif not unit:
            shown = f"{self.value:.3f}"
        else:
            shown = f"{self.value:,.0f}" if self.value >= 1000 else f"{self.value:,.2f}"
        if self.samples > 1:
            shown += f" (p95 {self.p95:,.2f}; {self.lowest:,.2f}–{self.highest:,.2f})"
        return f"{shown} ({self.note})" if self.note else shown


@dataclass(frozen=True, slots=True)
class Row:
    """A measure: its figure by tree, and by rival; or the reason why it was not measured."""

    group: str
    name: str
    unit: str
    figures: Mapping[str, Figure]
    problem: str = ""

    def cells(self, trees: Sequence[str]) -> list[str]:
        """Return the name, a cell for each tree and the ratio of the first to the second."""
        rivals = [(name, figure) for name, figure in self.figures.items() if name not in trees]
        name = f"{self.name}, {self.unit}" if self.unit else self.name
        if rivals:
            said = ", ".join(f"{rival} {figure.value:.3f}" for rival, figure in rivals)
            name += f" [{said}]"
        if self.problem:
            return [name, f"not measured: {self.problem}", *[""] * (len(trees) - 1)]
        known = [self.figures[tree] for tree in trees if tree in self.figures]
        cells = [name, *(figure.text(self.unit) for figure in known)]
        return cells if len(known) < 2 else [*cells, _ratio(*known[:2])]


@dataclass
class Table:
    """The rows measured so far, for the labels of the trees; progress goes to standard error."""

    trees: Sequence[str]
    rows: list[Row] = field(default_factory=list)

    def add(self, group: str, name: str, unit: str, figures: Mapping[str, Figure]) -> None:
        """Add a row."""
        self._append(Row(group, name, unit, dict(figures)))

    def compare(
        self,
        group: str,
        name: str,
        unit: str,
        results: Mapping[str, T],
        figure: Callable[[T], Figure],
    ) -> None:
        """Add a row with the figure of each tree's results."""
        self.add(group, name, unit, {label: figure(found) for label, found in results.items()})

    def leave_out(self, group: str, name: str, reason: str) -> None:
        """Add a row that was not measured."""
        self._append(Row(group, name, "", {}, reason))

    def _append(self, row: Row) -> None:
        self.rows.append(row)
        self.say(f"{row.group}: {' | '.join(row.cells(self.trees))}")

    def say(self, text: str) -> None:
        """Print progress."""
        print(text, file=sys.stderr, flush=True)

    def markdown(self) -> Iterator[str]:
        """Yield the lines of a table for each group."""
        heads = ["measure", *self.trees, *(["ratio"] if len(self.trees) > 1 else [])]
        for group in dict.fromkeys(row.group for row in self.rows):
            yield from ("", f"### {group}", "", f"| {' | '.join(heads)} |")
            yield f"|{' --- |' * len(heads)}"
            for row in self.rows:
                if row.group == group:
                    cells = row.cells(self.trees)
                    yield f"| {' | '.join(cells + [''] * (len(heads) - len(cells)))} |"

    def json_lines(self) -> Iterator[str]:
        """Yield a JSON object for each figure."""
        for row in self.rows:
            head = {"group": row.group, "measure": row.name, "unit": row.unit}
            if row.problem:
                yield json.dumps({**head, "problem": row.problem}, ensure_ascii=False)
            for tree, figure in row.figures.items():
                yield json.dumps({**head, "tree": tree, **asdict(figure)}, ensure_ascii=False)


def _ratio(first: Figure, second: Figure) -> str:
    if not second.value:
        return ""
    ratio = f"{first.value / second.value:.2f}"
    if first.p95 and second.p95:
        ratio += f" (p95 {first.p95 / second.p95:.2f})"
    return ratio
