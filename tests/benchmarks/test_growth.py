"""The judge of growth: it notices what is quadratic, holds the loop, never ends, or raises."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import anyio
import pytest
from benchmarks.growth.__main__ import why_wrong
from benchmarks.growth.calls import CALLS, Call, Situation
from benchmarks.growth.measuring import Bench, Growth, Took, warmed
from benchmarks.growth.shapes import SHAPES

from tests.cases import each

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the harness forks")


def busy(seconds: float) -> None:
    """Works for so long, by the thread's own time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


async def quadratic(at: Situation) -> None:
    """2.1 s for 10,000 letters, 21 ms for 1,000, never long at a time."""
    for _ in range(300):
        busy(0.7 * (len(at.text) / 100_000) ** 2)
        await anyio.sleep(0)


async def holding(at: Situation) -> None:
    """The loop gets no chance for 50 ms."""
    busy(0.05 if len(at.text) > 200 else 0)


async def endless(at: Situation) -> None:
    """A text of 10,000 letters is too much."""
    await asyncio.sleep(60 if len(at.text) > 5_000 else 0)


async def raising(at: Situation) -> None:
    """No error of ours."""
    raise RecursionError(len(at.text))


def growth(act: object, root: Path, bound: int = 60) -> Growth:
    """Of a planted call, over letters."""
    call = Call(act)  # type: ignore[arg-type]
    tree = warmed(root, {})
    bench, letters = Bench(tree, root, bound), SHAPES["one line of letters"]
    return bench.grown(Growth("planted", "letters"), call, letters, [1_000, 10_000])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (quadratic, "grows too fast"),
        (holding, "holds the loop"),
        (raising, "raised RecursionError: 100"),
    ],
)
def test_what_must_not_be_is_noticed(tmp_path: Path, act: object, reason: str) -> None:
    """Each fault by its own words."""
    assert reason in why_wrong(growth(act, tmp_path / "w"))


@pytest.mark.slow
def test_what_does_not_end_is_ended(tmp_path: Path) -> None:
    """At the bound, with the size and the step."""
    assert why_wrong(growth(endless, tmp_path / "w", bound=2)) == "10 KB, the call: hung after 2 s"


def test_a_call_that_does_little_is_well(tmp_path: Path) -> None:
    """A turn over 10 KB."""
    found = growth(CALLS["after_turn"].act, tmp_path / "w")
    assert [each.size for each in found.took] == [1_000, 10_000]
    assert (found.hung, found.wrong) == ("", "")


def test_the_slope_is_that_of_the_largest_sizes() -> None:
    """Without what the call costs anyway: 0.1 s here."""
    points = (100, 0.1), (10_000, 0.2), (100_000, 1.1)
    base, small, large = (Took(size, 1.0, cpu, 0.0) for size, cpu in points)
    assert Growth("a", "b", base, [small, large]).exponent == pytest.approx(1.0)
    assert Growth("a", "b", base, [small]).exponent is None


@each("shape", SHAPES)
def test_a_shape_is_about_as_large_as_asked(shape: str) -> None:
    """In bytes, within a line."""
    assert 9_900 <= len(SHAPES[shape](10_000).encode()) <= 10_050
