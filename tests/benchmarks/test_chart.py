"""Charts: points where they belong, and a picture any reader of XML takes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from benchmarks.chart import Axis, Series, drawn
from benchmarks.recall.plots import series_of

from tests.cases import each


def test_an_axis_gives_each_power_of_ten_the_same_room() -> None:
    """It ends at the next 1, 2 or 5 times a power of ten."""
    axis = Axis.over([0.13, 1, 80], 100, 0)
    assert (axis.low, axis.high) == (0.1, 100)
    assert [axis.place(value) for value in (0.1, 1, 10, 100)] == [100, 66.7, 33.3, 0]
    assert axis.ticks() == [0.1, 1, 10, 100]
    assert (Axis.over([3, 3], 0, 1).low, Axis.over([3, 3], 0, 1).high) == (2, 5)
    assert (Axis.over([2, 2], 0, 1).low, Axis.over([2, 2], 0, 1).high) == (2, 4)


def test_every_series_is_a_line_with_its_points_and_its_name() -> None:
    """Names are escaped; a fainter line goes beside."""
    series = {
        "a < b": Series(((10, 1), (100, 2)), ((10, 2), (100, 4))),
        "other": Series(((10, 1), (100, 2.1))),
    }
    picture = ElementTree.fromstring(drawn("Cost", "messages", "ms", series))
    tags = [element.tag.rpartition("}")[2] for element in picture.iter()]
    assert (tags.count("polyline"), tags.count("circle")) == (3, 4)
    texts = {
        element.text: float(element.get("y", "0"))
        for element in picture.iter()
        if element.text and "text" in element.tag
    }
    assert {"a < b", "other", "Cost", "messages", "ms", "10", "100"} <= texts.keys()
    assert abs(texts["a < b"] - texts["other"]) >= 15


@each("series", [{}, {"a": Series(((1, 0.0),))}])
def test_what_has_no_place_on_the_axes_is_refused(series: dict[str, Series]) -> None:
    """Nothing at all, and 0."""
    with pytest.raises(ValueError, match="above 0"):
        drawn("Cost", "messages", "ms", series)


def test_rows_become_lines_by_their_series() -> None:
    """In the order of n; other figures, and what was measured at one or two lengths, are no
    lines.
    """
    rows = [
        {"series": "a", "n": 20, "p50_ms": 2, "p95_ms": 3},
        {"series": "b", "n": 10, "p50_ms": 5, "p95_ms": 6},
        {"series": "b", "n": 20, "p50_ms": 5, "p95_ms": 6},
        {"series": "a", "n": 30, "p50_ms": 3, "p95_ms": 4},
        {"series": "a", "n": 10, "p50_ms": 1, "p95_ms": 2, "build_s": 1},
        {"series": "a, cold", "n": 10, "best_ms": 300},
    ]
    assert series_of(rows) == {
        "a": Series(((10, 1), (20, 2), (30, 3)), ((10, 2), (20, 3), (30, 4)))
    }
