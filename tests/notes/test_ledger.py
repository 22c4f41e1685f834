"""What is known of a channel beside its texts."""

from __future__ import annotations

from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone
from pipimem.notes.operations import Bullet, Job, Progress, Trust

OLD = Ledger(
    sequence=3,
    cursor=10,
    boundary=5,
    pending=(Bullet("waits"),),
    records={"a": Record(Trust.HUMAN), "b": Record(Trust.INFERRED)},
    tombstones={"t": Tombstone("over", 4)},
    jobs={"tidy": Job(failures=1)},
)


def test_an_empty_change_changes_nothing() -> None:
    """Not even the sequence, unless it is given."""
    assert OLD.after(Delta()) == OLD
    assert OLD.after(Delta(), 4).sequence == 4


def test_counters_move_only_when_named() -> None:
    """`None` leaves a counter, nothing pending is a value of its own, and so is 0."""
    new = OLD.after(Delta(progress=Progress(cursor=12, pending=(), boundary=0)))
    assert (new.cursor, new.boundary, new.pending, new.refreshed) == (12, 0, (), 0)
    assert OLD.after(Delta(progress=Progress(refreshed=7))).pending == (Bullet("waits"),)


def test_records_are_merged_by_name_and_none_takes_one_out() -> None:
    """What the change does not name stays as it is; the old ledger is untouched."""
    new = OLD.after(
        Delta(
            records={"b": None, "c": Record(Trust.EXPLICIT), "never": None},
            tombstones={"t": None, "b": Tombstone("replaced", 12)},
            jobs={"fold": Job(failures=2)},
        )
    )
    assert new.records == {"a": Record(Trust.HUMAN), "c": Record(Trust.EXPLICIT)}
    assert new.tombstones == {"b": Tombstone("replaced", 12)}
    assert new.jobs == {"tidy": Job(failures=1), "fold": Job(failures=2)}
    assert sorted(OLD.records) == ["a", "b"]


def test_the_expected_cursor_is_no_state() -> None:
    """It guards a decision and is not folded in."""
    assert OLD.after(Delta(progress=Progress(expect_cursor=99))) == OLD


def test_a_forgotten_speaker_shifts_nobody() -> None:
    """The empty name keeps its place; a record of before it was counted tells nobody."""
    ledger = Ledger(speakers=("Dana", "", "Ines", "Tom"))
    assert ledger.heard_by(Record(Trust.INFERRED, heard=3)) == ("Dana", "Ines")
    assert ledger.heard_by(Record(Trust.INFERRED)) == ()
