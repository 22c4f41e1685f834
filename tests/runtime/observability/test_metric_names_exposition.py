"""Metrics are written as Prometheus reads them, whatever a label holds."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from pipimem.runtime.observability.metric_names import Histogram, Metric, rendered

CALLS = Metric("calls_total", "counter", "Calls\nand \\ more.", ("model",))
SECONDS = Metric("seconds", "histogram", "How long.", ("kind",))
_LINE = re.compile(r'calls_total\{model="((?:[^"\\\n]|\\["\\n])*)"\} 1')


def test_a_counter_and_a_histogram() -> None:
    """Help and type once, a line for each sample; the buckets of a histogram are cumulative."""
    seconds = Histogram((0.1, 1))
    for value in (0.05, 0.1, 0.7, 30):
        seconds.observe(value)
    text = rendered([(CALLS, {("m",): 2, ("n",): 0.5}), (SECONDS, {("turn",): seconds})])
    assert text == (
        "# HELP calls_total Calls\\nand \\\\ more.\n"
        "# TYPE calls_total counter\n"
        'calls_total{model="m"} 2\n'
        'calls_total{model="n"} 0.5\n'
        "# HELP seconds How long.\n"
        "# TYPE seconds histogram\n"
        'seconds_bucket{kind="turn",le="0.1"} 2\n'
        'seconds_bucket{kind="turn",le="1"} 3\n'
        'seconds_bucket{kind="turn",le="+Inf"} 4\n'
        'seconds_sum{kind="turn"} 30.85\n'
        'seconds_count{kind="turn"} 4\n'
    )


def test_numbers_that_are_none() -> None:
    """Not a number and no bound are words of the format."""
    gauge = Metric("g", "gauge", "G.", ("l",))
    text = rendered([(gauge, {("a",): float("nan"), ("b",): float("inf"), ("c",): -float("inf")})])
    assert text.splitlines()[2:] == ['g{l="a"} NaN', 'g{l="b"} +Inf', 'g{l="c"} -Inf']


def test_what_has_no_sample_has_no_line() -> None:
    """A metric that never happened is not there."""
    assert rendered([(CALLS, {})]) == "\n"


@given(st.text(st.characters(exclude_categories=())))
def test_a_label_is_read_back(value: str) -> None:
    """No value ends its line or its label; half characters become question marks."""
    head, kind, line, *rest = rendered([(CALLS, {(value,): 1})]).split("\n")
    assert (head[:6], kind, rest) == ("# HELP", "# TYPE calls_total counter", [""])
    found = _LINE.fullmatch(line)
    assert found
    read = re.sub(r'\\(["\\n])', lambda it: {"n": "\n"}.get(it[1], it[1]), found[1])
    assert read == value.encode("utf-8", "replace").decode("utf-8")
