"""Figures of several trees as rows: a Markdown table with ratios, and JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median

from benchmarks.machine import quantile


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
    def of_samples(cls, samples: Sequence[float], note: str = "") -> Figure:
        """Return median, p95, minimum and maximum; raises `ValueError` without samples."""
        if not samples:
            raise ValueError("A figure needs at least one sample.")
        p95 = quantile(list(samples), 0.95)
        return cls(median(samples), p95, min(samples), max(samples), len(samples), note)

    @classmethod
    def share(cls, part: float, whole: float) -> Figure:
        """Return `part / whole` with both numbers as its note."""
        return cls(part / whole if whole else 0.0, note=f"{part:,.0f} of {whole:,.0f}")


@dataclass(frozen=True, slots=True)
class Row:
    """A measure: its figure by tree, or the reason why it was not measured."""

    group: str
    name: str
    unit: str
    figures: Mapping[str, Figure]
    problem: str = ""


@dataclass
class Table:
    """The rows measured so far; `say` reports progress on standard error."""

    trees: Sequence[str]
    rows: list[Row] = field(default_factory=list)

    def add(self, group: str, name: str, unit: str, figures: Mapping[str, Figure]) -> None:
        """Add a row and print it to standard error."""
        self.rows.append(Row(group, name, unit, dict(figures)))
        said = ", ".join(f"{tree} {_plain(figure, unit)}" for tree, figure in figures.items())
        self.say(f"{group}: {name}: {said}")

    def leave_out(self, group: str, name: str, reason: str) -> None:
        """Add a row that was not measured."""
        self.rows.append(Row(group, name, "", {}, reason))
        self.say(f"{group}: {name}: not measured: {reason}")

    def say(self, text: str) -> None:
        """Print progress."""
        print(text, file=sys.stderr, flush=True)

    def markdown(self) -> Iterator[str]:
        """Yield the lines of the table; the ratio is that of the first tree to the second."""
        heads = ["measure", *self.trees]
        heads += ["ratio"] if len(self.trees) > 1 else []
        group = ""
        for row in self.rows:
            if row.group != group:
                group = row.group
                yield from ("", f"### {group}", "", f"| {' | '.join(heads)} |")
                yield f"|{' --- |' * len(heads)}"
            yield f"| {' | '.join(self._cells(row, len(heads)))} |"

    def _cells(self, row: Row, width: int) -> list[str]:
        name = f"{row.name}, {row.unit}" if row.unit else row.name
        if row.problem:
            return [name, f"not measured: {row.problem}", *[""] * (width - 2)]
        known = [row.figures.get(tree) for tree in self.trees]
        cells = [name, *(_cell(figure, row.unit) for figure in known)]
        return cells if len(known) < 2 else [*cells, _ratio(known[0], known[1])]

    def json_lines(self) -> Iterator[str]:
        """Yield a JSON object for each figure."""
        for row in self.rows:
            head = {"group": row.group, "measure": row.name, "unit": row.unit}
            if row.problem:
                yield json.dumps({**head, "problem": row.problem}, ensure_ascii=False)
            for tree, figure in row.figures.items():
                line = {**head, "tree": tree, **asdict(figure)}
                yield json.dumps(line, ensure_ascii=False)


def _plain(figure: Figure, unit: str) -> str:
    if isinstance(figure.value, int):
        return f"{figure.value:,}"
    if not unit:
        return f"{figure.value:.3f}"
    return f"{figure.value:,.0f}" if figure.value >= 1000 else f"{figure.value:,.2f}"


def _cell(figure: Figure | None, unit: str) -> str:
    if figure is None:
        return ""
    text = _plain(figure, unit)
    if figure.p95 is not None and figure.samples > 2:
        text += f" (p95 {figure.p95:,.2f}; {figure.lowest:,.2f}–{figure.highest:,.2f})"
    return f"{text} ({figure.note})" if figure.note else text


def _ratio(first: Figure | None, second: Figure | None) -> str:
    if first is None or second is None or not second.value:
        return ""
    ratio = f"{first.value / second.value:.2f}"
    if first.p95 and second.p95 and first.samples > 2:
        ratio += f" (p95 {first.p95 / second.p95:.2f})"
    return ratio
