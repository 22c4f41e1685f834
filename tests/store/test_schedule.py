"""When each channel is next due, as the workspace keeps it."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pipimem.store.schedule import Schedule, ScheduledVisit, channel_stamp, channel_stamps

NOON = datetime.fromisoformat("2026-03-02T12:00:00+08:00")


def test_what_was_noted_is_there_after_a_restart(tmp_path: Path) -> None:
    """The newest line of a channel counts; a channel that is gone is gone."""
    schedule = Schedule(tmp_path / ".pipimem" / "idle.jsonl")
    schedule.note("room", ScheduledVisit(NOON, "a"))
    schedule.note("部门", ScheduledVisit(None, "b"))
    schedule.note("old", ScheduledVisit(None, "c"))
    schedule.note("room", ScheduledVisit(NOON + timedelta(hours=1), "d"))
    schedule.strike("old")
    assert Schedule.load(schedule.path).visits == {
        "room": ScheduledVisit(NOON + timedelta(hours=1), "d"),
        "部门": ScheduledVisit(None, "b"),
    }


def test_what_stands_already_is_not_written_again(tmp_path: Path) -> None:
    """No byte, and no new time of the file."""
    schedule = Schedule(tmp_path / "idle.jsonl")
    schedule.note("room", ScheduledVisit(NOON, "a"))
    before = schedule.path.read_bytes(), schedule.path.stat().st_mtime_ns
    schedule.note("room", ScheduledVisit(NOON, "a"))
    schedule.strike("nobody")
    assert (schedule.path.read_bytes(), schedule.path.stat().st_mtime_ns) == before


def test_the_file_does_not_grow_for_ever(tmp_path: Path) -> None:
    """Five thousand changes of two channels: what newer lines replaced is swept out now and
    then.
    """
    schedule = Schedule(tmp_path / "idle.jsonl")
    for number in range(5_000):
        schedule.note(f"c{number % 2}", ScheduledVisit(NOON, str(number)))
    assert len(schedule.path.read_bytes().splitlines()) < 1_100
    assert Schedule.load(schedule.path).visits == {
        "c0": ScheduledVisit(NOON, "4998"),
        "c1": ScheduledVisit(NOON, "4999"),
    }


@pytest.mark.parametrize(
    "damage", [b'{"folder": "x", "du', b"\xff\xfe\n", b"[]\n", b'{"folder": 3}\n']
)
def test_a_damaged_line_costs_one_look(damage: bytes, tmp_path: Path) -> None:
    """The others are understood; the channel it was about is simply not known."""
    schedule = Schedule(tmp_path / "idle.jsonl")
    schedule.note("room", ScheduledVisit(NOON, "a"))
    with schedule.path.open("ab") as file:
        file.write(damage)
    assert Schedule.load(schedule.path).visits == {"room": ScheduledVisit(NOON, "a")}


@pytest.mark.parametrize(
    "due", ["soon", "0001-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
)
def test_a_time_that_cannot_be_is_none(due: str, tmp_path: Path) -> None:
    """The file is a cache: what is damaged in it stops nobody."""
    schedule = Schedule(tmp_path / "idle.jsonl")
    schedule.note("room", ScheduledVisit(NOON, "a"))
    with schedule.path.open("a") as file:
        file.write(f'{{"folder": "x", "due": "{due}", "mark": "b"}}\n')
    assert Schedule.load(schedule.path).visits["room"] == ScheduledVisit(NOON, "a")


def test_another_format_is_no_schedule(tmp_path: Path) -> None:
    """It is written anew with the first change."""
    path = tmp_path / "idle.jsonl"
    path.write_text('{"format": 2}\n{"folder": "room", "due": "", "mark": "a"}\n')
    schedule = Schedule.load(path)
    assert schedule.visits == {}
    schedule.note("hall", ScheduledVisit(None, "b"))
    assert path.read_text().splitlines() == [
        '{"format": 1}',
        '{"folder": "hall", "due": "", "mark": "b"}',
    ]


@pytest.mark.parametrize("name", ["log.jsonl", "MEMORY.md", "HISTORY.md", ".pipimem/state.db"])
def test_the_mark_changes_with_every_file_that_can_make_a_channel_due(
    name: str, tmp_path: Path
) -> None:
    """And with nothing else."""
    folder = tmp_path / "room"
    (folder / ".pipimem").mkdir(parents=True)
    before = channel_stamp(folder)
    (folder / ".pipimem" / "lock").touch()
    (folder / "SESSION.md").write_text("- now")
    assert channel_stamp(folder) == before
    (folder / name).write_text("something")
    changed = channel_stamp(folder)
    assert changed.mark != before.mark
    assert changed.changed == pytest.approx((folder / name).stat().st_mtime)
    (tmp_path / "a file").touch()
    assert dict(channel_stamps(tmp_path)) == {"room": changed}


def test_no_channels_are_no_looks(tmp_path: Path) -> None:
    """A workspace that has never had a channel."""
    assert list(channel_stamps(tmp_path / "channels")) == []
