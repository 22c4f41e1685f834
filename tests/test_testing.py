"""`pipimem.testing`: what hosts test their bots with."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pipimem.testing import FixedClock

GUIDE = Path(__file__).parents[1] / "docs" / "guide" / "testing.md"
START = datetime.fromisoformat("2026-03-02T09:00:00+08:00")


def test_a_fixed_clock_moves_only_when_it_is_told() -> None:
    """All three of its hands move together."""
    clock = FixedClock(START)
    before = clock.monotonic()
    clock.advance(timedelta(hours=1))
    assert clock.now() == clock.wall() == START + timedelta(hours=1)
    assert clock.monotonic() - before == 3600


def test_a_fixed_clock_refuses_a_time_without_offset() -> None:
    """The sentence says how to write it."""
    with pytest.raises(ValueError, match="with an offset"):
        FixedClock(datetime(2026, 3, 2))  # noqa: DTZ001 that is the point


def test_a_fixed_clock_does_not_go_back() -> None:
    """Times of changes only grow."""
    with pytest.raises(ValueError, match="forward only"):
        FixedClock(START).advance(timedelta(seconds=-1))


@pytest.mark.anyio
async def test_the_example_of_the_guide(tmp_path: Path) -> None:
    """The test that docs/guide/testing.md shows passes as it stands there."""
    found = re.search(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert found
    scope: dict[str, object] = {}
    exec(found[1], scope)
    run = scope["test_the_bot_remembers"]
    await run(tmp_path)  # type: ignore[operator]
