"""Dates at the edges of the calendar, whatever the clock says."""

from __future__ import annotations

import datetime as calendar
from datetime import datetime
from pathlib import Path

import pytest

from tests.cli.conftest import Call

EDGES = [
    "0001-01-01T00:00:00+14:00",
    "0001-01-01T00:00:00-12:00",
    "2028-02-29T23:59:59+08:00",
    "9999-12-31T23:59:59+14:00",
    "9999-12-31T23:59:59-12:00",
]


def put(monkeypatch: pytest.MonkeyPatch, now: str) -> None:
    """Sets the clock that every command reads."""

    class Stopped(datetime):
        @classmethod
        def now(cls, tz: calendar.tzinfo | None = None) -> datetime:
            return cls.fromisoformat(now)

        def astimezone(self, tz: calendar.tzinfo | None = None) -> datetime:
            return datetime.fromisoformat(self.isoformat())

    monkeypatch.setattr("pipimem.clock.datetime", Stopped)


def test_until_the_last_day_of_the_calendar_is_for_ever(call: Call) -> None:
    """No command fails for it, and the entry stays."""
    assert (
        call("remember", "room", "the office is in Main Street", "--until", "9999-12-31").code == 0
    )
    for words in (
        ["status"],
        ["maintain"],
        ["maintain", "--dry-run"],
        ["diff", "room"],
        ["doctor"],
    ):
        assert call(*words).code == 0, words
    assert "Main Street" in call("show", "room").out


@pytest.mark.parametrize(
    "said", ["10000-01-01", "99999-12-31", "0000-01-01", "2026-02-30", "in 9000 years", "九千年后"]
)
def test_until_beyond_the_calendar_is_refused_in_a_sentence(
    call: Call, said: str, bot: Path
) -> None:
    """Nothing is written."""
    told = call("remember", "room", "the office is in Main Street", "--until", said)
    assert (told.code, "write it as 2026-03-02" in told.err) == (2, True)
    assert list((bot / "channels").iterdir()) == []


@pytest.mark.parametrize(
    "said",
    [
        "2026-12-01..2026-12-05",
        "December 1-5",
        "from 1 to 5 December",
        "12月1日到5日",
        "下周三到周五",
    ],
)
def test_until_one_day_or_another_is_refused(call: Call, said: str, bot: Path) -> None:
    """The first of them would end it too early."""
    told = call("remember", "room", "the office is in Main Street", "--until", said)
    assert (told.code, "give the last day alone" in told.err) == (2, True)
    assert list((bot / "channels").iterdir()) == []


@pytest.mark.parametrize("said", ["2096-W50", "2096W50", "2096-12-16", "12月16日", "until Dec 16"])
def test_until_a_week_or_a_day_is_until_its_end(
    call: Call, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A week by its number lasts until its Sunday."""
    put(monkeypatch, "2096-12-01T12:00:00+00:00")
    assert call("remember", "room", "the office is in Main Street", "--until", said).code == 0
    put(monkeypatch, "2096-12-16T12:00:00+00:00")
    assert "Main Street" in call("recall", "room", "where is the office").out
    put(monkeypatch, "2096-12-18T12:00:00+00:00")
    call("maintain")
    assert "Main Street" not in call("show", "room").out


@pytest.mark.parametrize("now", EDGES)
def test_commands_work_at_the_edges_of_the_calendar(
    call: Call, now: str, monkeypatch: pytest.MonkeyPatch, conversation: Path, bot: Path
) -> None:
    """With entries that end on the first and on the last day there is."""
    assert call("replay", "room", str(conversation)).code == 0
    put(monkeypatch, "0001-06-01T00:00:00+00:00")
    for number, until in enumerate(("0002-01-01", "2028-02-29", "9999-12-31")):
        assert call("remember", "room", f"gate {number} opens", "--until", until).code == 0
    history = bot / "channels" / "room" / "HISTORY.md"
    history.write_text(
        history.read_text() + "\n## 9999-12 · far\n\n- there\n\n## 0001-01-01T00:00:00Z\n\n- here\n"
    )
    put(monkeypatch, now)
    for words in (
        ["status"],
        ["maintain", "--dry-run"],
        ["maintain"],
        ["status", "--json"],
        ["diff", "room"],
        ["log", "room"],
        ["blame", "room"],
        ["doctor"],
        ["usage"],
        ["undo", "room", "--author", "model", "--since", "30d", "--yes"],
        ["recall", "room", "when did the lantern release go out yesterday?"],
        ["search", "room", "lantern last week"],
        ["remember", "room", "the pump is red", "--until", "2030-01-01"],
        ["consolidate", "room"],
        ["forget", "room", "the pump is red", "--yes"],
    ):
        told = call(*words)
        assert told.code in (0, 1, 2), (words, told.err)
        assert "Traceback" not in told.err, (words, told.err)
