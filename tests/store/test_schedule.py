"""When each channel is next due, as the workspace keeps it."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pipimem.errors import StoreError
from pipimem.state.schedule import ScheduledVisit
from pipimem.store.schedule import Schedule, channel_stamp, channel_stamps
from pipimem.store.workspace_state import WorkspaceState

NOON = datetime.fromisoformat("2026-03-02T12:00:00+08:00")


@pytest.fixture
def state(tmp_path: Path) -> WorkspaceState:
    return WorkspaceState(tmp_path / ".pipimem")


def note(schedule: Schedule, **visits: ScheduledVisit | None) -> None:
    for folder, visit in visits.items():
        schedule.note(folder, visit)
    schedule.write()


def test_what_the_disk_refused_is_written_later(state: WorkspaceState) -> None:
    """With what was noted since."""
    schedule, path = Schedule(state), state.database.path
    path.mkdir(parents=True)
    with pytest.raises(StoreError):
        note(schedule, room=ScheduledVisit(NOON, "a"))
    path.rmdir()
    note(schedule, hall=ScheduledVisit(None, "b"))
    assert Schedule.load(state).visits == schedule.visits
    assert list(schedule.visits) == ["room", "hall"]


def test_what_was_noted_is_there_after_a_restart(state: WorkspaceState) -> None:
    """The newest visit of a channel counts; a channel that is gone is gone."""
    schedule, later = Schedule(state), NOON + timedelta(hours=1)
    note(schedule, room=ScheduledVisit(NOON, "a"), old=ScheduledVisit(None, "c"))
    note(schedule, 部门=ScheduledVisit(None, "b"))
    note(schedule, room=ScheduledVisit(later, "d"), old=None)
    known = {"room": ScheduledVisit(later, "d"), "部门": ScheduledVisit(None, "b")}
    assert schedule.visits == known
    assert Schedule.load(state).visits == known


def test_what_stands_already_is_not_written_again(state: WorkspaceState) -> None:
    """No byte, and no new time of the file."""
    schedule = Schedule(state)
    note(schedule, room=ScheduledVisit(NOON, "a"))
    before = state.database.stamp()
    note(schedule, room=ScheduledVisit(NOON, "a"), nobody=None)
    assert state.database.stamp() == before


def test_a_damaged_database_costs_one_look_at_every_channel(state: WorkspaceState) -> None:
    """It is set aside with the first change."""
    note(Schedule(state), room=ScheduledVisit(NOON, "a"))
    state.database.path.write_bytes(b"no database " * 500)
    schedule = Schedule.load(state)
    assert schedule.visits == {}
    note(schedule, hall=ScheduledVisit(None, "b"))
    assert Schedule.load(state).visits == {"hall": ScheduledVisit(None, "b")}
    assert (state.folder / "state.db.damaged").exists()


@pytest.mark.parametrize("name", ["log.jsonl", "MEMORY.md", "HISTORY.md"])
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
