"""Lines over two logarithmic axes as a small SVG, without a drawing library."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

Point = tuple[float, float]

_WIDTH, _HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 190, 48, 52
# Okabe and Ito's colours: told apart by those who see fewer of them.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Names at the ends of lines stand at least so far apart.
_LINE = 15


@dataclass(frozen=True, slots=True)
class Series:
    """One line by its points, and a fainter one above it."""

    points: tuple[Point, ...]
    upper: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis: values from `low` to `high`, shown from `start` to `end` of the
    picture.
    """

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> Axis:
        """Around the values, out to the next 1, 2 or 5 times a power of ten."""
        low, high = _below(min(values)), _above(max(values))
        return cls(low, high if high > low else 2 * low, start, end)

    def place(self, value: float) -> float:
        """Where a value is shown."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """The powers of ten."""
        first, last = (
            math.ceil(math.log10(self.low) - 1e-9),
            math.floor(math.log10(self.high) + 1e-9),
        )
        return [10.0**power for power in range(first, last + 1)]


def drawn(title: str, x_name: str, y_name: str, series: Mapping[str, Series]) -> str:
    """The picture.

    Raises `ValueError` where there is nothing to draw, or a value is not above 0.
    """
    points = [point for one in series.values() for point in (*one.points, *one.upper)]
    if not points or min(map(min, points)) <= 0:
        raise ValueError("only numbers above 0 have a place on a logarithmic axis")
    x = Axis.over([point[0] for point in points], _LEFT, _WIDTH - _RIGHT)
    y = Axis.over([point[1] for point in points], _HEIGHT - _BOTTOM, _TOP)
    body = (*_frame(x, y), *_lines(series, x, y), *_names(series, x, y))
    heads = (
        _text(_LEFT, 24, title, "font-weight='bold' font-size='15'"),
        _text((x.start + x.end) / 2, _HEIGHT - 12, x_name, "text-anchor='middle'"),
        _text(
            18,
            (y.start + y.end) / 2,
            y_name,
            f"text-anchor='middle' transform='rotate(-90 18 {(y.start + y.end) / 2})'",
        ),
    )
    size = f"viewBox='0 0 {_WIDTH} {_HEIGHT}' width='{_WIDTH}' height='{_HEIGHT}'"
    rows = (
        f"<svg xmlns='http://www.w3.org/2000/svg' {size} font-family='sans-serif' font-size='12'>",
        f"<rect width='{_WIDTH}' height='{_HEIGHT}' fill='white'/>",
        *heads,
        *body,
        "</svg>",
    )
    return "\n".join(rows) + "\n"


def _frame(x: Axis, y: Axis) -> Iterator[str]:
    for tick in x.ticks():
        place = x.place(tick)
        yield f"<path d='M{place} {y.start}V{y.end}' stroke='#ddd'/>"
        yield _text(place, y.start + 18, f"{tick:,.0f}", "text-anchor='middle'")
    for tick in y.ticks():
        place = y.place(tick)
        yield f"<path d='M{x.start} {place}H{x.end}' stroke='#ddd'/>"
        yield _text(x.start - 8, place + 4, f"{tick:g}", "text-anchor='end'")
    yield f"<path d='M{x.start} {y.end}V{y.start}H{x.end}' stroke='#444' fill='none'/>"


def _lines(series: Mapping[str, Series], x: Axis, y: Axis) -> Iterator[str]:
    for place, one in enumerate(series.values()):
        colour = _COLOURS[place % len(_COLOURS)]
        for points, style in (
            (one.upper, "stroke-dasharray='3 4' opacity='.6'"),
            (one.points, "stroke-width='2'"),
        ):
            path = " ".join(f"{x.place(left)},{y.place(up)}" for left, up in points)
            if path:
                yield f"<polyline points='{path}' stroke='{colour}' fill='none' {style}/>"
        for left, up in one.points:
            yield f"<circle cx='{x.place(left)}' cy='{y.place(up)}' r='3' fill='{colour}'/>"


def _names(series: Mapping[str, Series], x: Axis, y: Axis) -> Iterator[str]:
    """The name of each line at its end, moved down where two would meet."""
    ends = sorted(
        (y.place(max(one.points)[1]), place, name)
        for place, (name, one) in enumerate(series.items())
    )
    last = -math.inf
    for end, place, name in ends:
        last = max(end + 4, last + _LINE)
        yield _text(x.end + 10, last, name, f"fill='{_COLOURS[place % len(_COLOURS)]}'")


def _text(x: float, y: float, text: str, style: str) -> str:
    return f"<text x='{x:g}' y='{y:g}' {style}>{escape(text)}</text>"


def _below(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten, downwards."""
    return max(step for step in _steps(value) if step <= value * (1 + 1e-9))


def _above(value: float) -> float:
    return min(step for step in _steps(value) if step >= value * (1 - 1e-9))


def _steps(value: float) -> list[float]:
    power = 10.0 ** math.floor(math.log10(value))
    return [power * step for step in (1, 2, 5, 10, 20)]
