"""Times at the bounds of the calendar, and times without an offset."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pipimem.notes.headings import read_heading
from pipimem.text.dates.bounds import aware

SHANGHAI = timezone(timedelta(hours=8))


@pytest.fixture
def in_shanghai(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose clock shows +08:00."""
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_shanghai")
def test_a_time_without_offset_is_local_time() -> None:
    """In a call, in a heading typed by hand; one with an offset stays what it is."""
    nine = datetime(2026, 3, 5, 9)  # noqa: DTZ001 - as people write it
    assert aware(nine) == datetime(2026, 3, 5, 9, tzinfo=SHANGHAI)
    assert aware(nine.replace(tzinfo=UTC)) == datetime(2026, 3, 5, 17, tzinfo=SHANGHAI)
    assert read_heading("2026-03-05T09:00 what we did")[0] == datetime(
        2026, 3, 5, 9, tzinfo=SHANGHAI
    )


@pytest.mark.usefixtures("in_shanghai")
def test_the_first_moment_of_the_calendar_has_an_offset() -> None:
    """Where local time would lie before it, it is taken as UTC."""
    assert aware(datetime.min) == datetime.min.replace(tzinfo=UTC)  # noqa: DTZ901
