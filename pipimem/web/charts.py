"""Plots as SVG that the server makes: no script, no style attribute, and a table beside each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# In the plot's own units; the page scales it.
_BAR_WIDTH = 300
_COLUMN, _GAP, _HEIGHT = 26, 8, 120
# A plot of more names is a list: the table has them.
_MOST_BARS = 8


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar: where it begins and how wide it is, what it is called, of which sort."""

    x: float
    width: float
    name: str
    value: float
    sort: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A score as segments side by side; parts that lower it are listed in the list alone."""

    segments: tuple[Segment, ...]
    parts: tuple[tuple[str, float, str], ...]
    width: int = _BAR_WIDTH


@dataclass(frozen=True, slots=True)
class NamedBar:
    """A value of something that has a name: a task, a model, a channel."""

    name: str
    value: float
    width: float


@dataclass(frozen=True, slots=True)
class NamedBars:
    """A plot of bars, the longest first; `left_out` counts those that are shorter than all."""

    bars: tuple[NamedBar, ...]
    left_out: int
    width: int = _BAR_WIDTH


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a plot: its label, its value, and the rectangle that stands for it."""

    label: str
    value: float
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Columns:
    """A plot of columns; `width` and `height` are those of the drawing."""

    columns: tuple[Column, ...]
    width: int
    height: int
    highest: float
    column_width: int = _COLUMN


def score_bar(parts: Iterable[tuple[str, float, str]], highest: float) -> Bar:
    """The parts of a score (name, value, sort) on a scale on which `highest` fills the bar."""
    listed = tuple(parts)
    segments: list[Segment] = []
    x = 0.0
    for name, value, sort in listed:
        width = max(0.0, value) / highest * _BAR_WIDTH
        width = min(width, _BAR_WIDTH - x)
        if width > 0:
            segments.append(Segment(round(x, 2), round(width, 2), name, value, sort))
            x += width
    return Bar(tuple(segments), listed)


def named_bars(values: Iterable[tuple[str, float]]) -> NamedBars:
    """A bar for each of the highest values; the highest of all fills the width."""
    above_zero = sorted(((value, name) for name, value in values if value > 0), reverse=True)
    bars = [
        NamedBar(name, value, round(value / above_zero[0][0] * _BAR_WIDTH, 2))
        for value, name in above_zero[:_MOST_BARS]
    ]
    return NamedBars(tuple(bars), len(above_zero) - len(bars))


def columns(values: Sequence[tuple[str, float]]) -> Columns:
    """A column for each label, in the order given; the highest fills the height."""
    highest = max((value for _, value in values), default=0.0)
    made = []
    for place, (label, value) in enumerate(values):
        height = value / highest * _HEIGHT if highest else 0.0
        x = place * (_COLUMN + _GAP)
        made.append(Column(label, value, x, round(_HEIGHT - height, 2), round(height, 2)))
    width = max(1, len(values)) * (_COLUMN + _GAP)
    return Columns(tuple(made), width, _HEIGHT, highest)
