"""The journal: what is in it is durable, what is torn is cut, what is damaged is told."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.errors import JournalError, StoreError
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone
from pipimem.notes.operations import Author, Bullet, Change, Hole, Job, Narrowed, Progress, Trust
from pipimem.store.journal import checkpoint
from pipimem.store.journal import journal as rooms
from pipimem.store.journal.checkpoint import Checkpoint
from pipimem.store.journal.journal import Journal, line, parsed
from pipimem.store.journal.records import NOWHERE, FileChange, JournalRecord, Place, RefusedLine
from pipimem.text.json_codec import encoded
from pipimem.text.json_lines import checked_line
from pipimem.text.markdown.line_edits import Splice

from tests.cases import each

TEXT = st.text(max_size=20)
LINES = st.lists(TEXT, max_size=3).map(tuple)
RECORDS = st.builds(
    Record,
    trust=st.sampled_from(Trust),
    kind=TEXT,
    sources=LINES,
    speaker=TEXT,
    when=TEXT,
    recalls=st.integers(0, 99),
    recalled=TEXT,
    probation_until=TEXT,
    predecessor=TEXT,
    confidence=st.sampled_from([0.0, 0.85, 1.0]),
)
STONES = st.builds(Tombstone, TEXT, st.integers(0, 99))
JOBS = st.builds(Job, TEXT, TEXT, st.integers(0, 9), TEXT)
BULLETS = st.lists(st.builds(Bullet, TEXT, LINES), max_size=2).map(tuple)
HOLES = st.lists(st.builds(Hole, st.integers(1, 9), st.integers(1, 9), TEXT), max_size=2).map(tuple)
NARROWED = st.builds(Narrowed, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
COUNT = st.none() | st.integers(0, 99)
PROGRESS = st.builds(
    Progress,
    COUNT,
    COUNT,
    COUNT,
    COUNT,
    COUNT,
    st.none() | BULLETS,
    st.none() | HOLES,
    st.none() | NARROWED,
)
FILES = st.dictionaries(
    st.sampled_from(File),
    st.builds(
        FileChange,
        TEXT,
        TEXT,
        st.lists(st.builds(Splice, st.integers(0, 9), LINES, LINES), max_size=2).map(tuple),
        TEXT,
    ),
    max_size=2,
)


@st.composite
def journal_records(draw: st.DrawFn) -> JournalRecord:
    """Any record; the delta's etags are those of its files."""
    files = draw(FILES)
    delta = Delta(
        draw(st.dictionaries(TEXT, st.none() | RECORDS, max_size=2)),
        draw(st.dictionaries(TEXT, st.none() | STONES, max_size=2)),
        draw(st.dictionaries(TEXT, JOBS, max_size=2)),
        draw(PROGRESS),
        {str(file): change.after for file, change in files.items()},
    )
    return JournalRecord(
        draw(st.integers(1, 99)),
        draw(TEXT),
        draw(TEXT),
        draw(st.sampled_from(Author)),
        *(draw(TEXT) for _ in range(3)),
        tuple(
            draw(
                st.lists(
                    st.builds(Change, TEXT, st.sampled_from(File), TEXT, TEXT, TEXT, TEXT, TEXT),
                    max_size=2,
                )
            )
        ),
        tuple(draw(st.lists(st.builds(RefusedLine, TEXT, TEXT, TEXT), max_size=2))),
        draw(LINES),
        files,
        draw(TEXT),
        draw(st.integers(0, 99)),
        delta,
    )


def record(sequence: int, text: str = "x") -> JournalRecord:
    """A record with something in it."""
    return JournalRecord(
        sequence, "2026-03-02T09:10:00+08:00", "consolidate", Author.MODEL, why=text
    )


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """An empty journal."""
    return Journal(tmp_path)


@pytest.mark.slow
@given(journal_records())
def test_any_record_survives_its_line(value: JournalRecord) -> None:
    """Nothing of a commit is lost on the way to the disk and back."""
    data = line(value)
    assert data.count(b"\n") == 1
    assert parsed(data) == value


@given(journal_records(), st.data())
def test_a_changed_byte_is_noticed(value: JournalRecord, data: st.DataObject) -> None:
    """The checksum at the end covers all before it."""
    whole = line(value)
    place = data.draw(st.integers(0, len(whole) - 2))
    changed = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    assert parsed(changed) is None


def test_records_come_back_in_their_order(journal: Journal) -> None:
    """From the beginning, or from where reading ended."""
    place = journal.append([record(1), record(2)], NOWHERE)
    journal.append([record(3, "决定")], place)
    assert [found.sequence for found in journal.records()] == [1, 2, 3]
    assert [found.why for found in journal.read(place)[0]] == ["决定"]


def test_a_place_is_one_of_the_same_journal_only(tmp_path: Path) -> None:
    """Neither inode nor size tells: a journal written in the place of another has another name."""
    journal, other = Journal(tmp_path), Journal(tmp_path / "other")
    other.folder.mkdir()
    place = journal.append([record(1), record(2)], NOWHERE)
    other.append([record(1), record(2), record(3)], NOWHERE)
    assert journal.holds(place)
    journal.path.write_bytes(other.path.read_bytes())
    assert not journal.holds(place)
    with pytest.raises(JournalError, match="no longer the journal"):
        journal.append([record(3)], place)
    assert [each.sequence for each in journal.records()] == [1, 2, 3]


def test_a_record_taken_out_is_noticed(journal: Journal) -> None:
    """Each checksum goes over the one before: whole lines that follow each other wrongly are
    damage.
    """
    end = NOWHERE
    for number in (1, 2, 3):
        end = journal.append([record(number)], end)
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(lines[0] + lines[1] + lines[3] + lines[2])
    with pytest.raises(JournalError, match="line 3"):
        journal.read()


def test_a_torn_end_is_cut_by_the_next_append(journal: Journal) -> None:
    """A crash in the middle of a write costs only what was never acknowledged."""
    journal.append([record(1)], NOWHERE)
    with journal.path.open("ab") as file:
        file.write(line(record(2))[:-20])
    found, place = journal.read()
    assert [each.sequence for each in found] == [1]
    journal.append([record(2, "again")], place)
    assert [each.why for each in journal.records()] == ["x", "again"]


def test_records_written_as_one_count_together(journal: Journal) -> None:
    """Torn in the second, an append leaves nothing: half of it would be a hand edit whose merge
    lies nowhere.
    """
    place = journal.append([record(1)], NOWHERE)
    journal.append([record(2), record(3)], place)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-20])
    assert [each.sequence for each in journal.records()] == [1]
    found, end = journal.read()
    assert [each.sequence for each in found] == [1]
    assert end == place
    journal.append([record(2, "again")], end)
    assert [each.why for each in journal.records()] == ["x", "again"]


@pytest.mark.parametrize(
    "first", [slice(0, 30), slice(30, 60), slice(-30, -1), slice(0, -1), slice(-30, None)]
)
@pytest.mark.parametrize("second", [slice(0, 0), slice(0, 30), slice(-30, None)])
def test_a_power_cut_may_tear_any_line_of_what_was_written_as_one(
    journal: Journal, first: slice, second: slice
) -> None:
    """The disk writes blocks in any order: a whole second line says nothing of the first. None
    was acknowledged.
    """
    place = journal.append([record(1)], NOWHERE)
    journal.append([record(2), record(3)], place)
    lines = [bytearray(data) for data in journal.path.read_bytes().splitlines(keepends=True)]
    for data, part in zip(lines[2:], (first, second), strict=True):
        data[part] = b"\0" * len(data[part])
    # Where the marks of both are gone, nothing tells them from an acknowledged record and the one
    # after it.
    is_told = b"goes_on" in lines[2] or b"follows" in lines[3] or not lines[2].endswith(b"\n")
    journal.path.write_bytes(b"".join(lines))
    if not is_told:
        with pytest.raises(JournalError, match="line 3"):
            journal.read()
        return
    found, end = journal.read()
    assert ([each.sequence for each in found], end) == ([1], place)
    journal.append([record(2, "again")], end)
    assert [each.why for each in journal.records()] == ["x", "again"]


def test_a_damaged_record_before_a_group_is_damage(journal: Journal) -> None:
    """It was acknowledged before the group was written; the first line of the group itself was
    not.
    """
    place = journal.append([record(1)], NOWHERE)
    journal.append([record(2), record(3)], journal.append([record(4)], place))
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(b"".join((*lines[:3], b"{}\n", lines[4])))
    assert [each.sequence for each in journal.read()[0]] == [1, 4]
    journal.path.write_bytes(b"".join((*lines[:2], b"{}\n", *lines[3:])))
    with pytest.raises(JournalError, match="line 3"):
        journal.read()


def test_a_journal_that_cannot_be_reached_is_not_taken_for_empty(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next append would cut everything off at the end it was told."""
    journal.append([record(1)], NOWHERE)

    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "stat", broken)
    with pytest.raises(StoreError, match="Check the disk"):
        journal.stamp()


def test_damage_in_the_middle_is_told_with_its_line(journal: Journal) -> None:
    """Nobody goes on as if half of the history had never been."""
    end = NOWHERE
    for number in (1, 2, 3):
        end = journal.append([record(number)], end)
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(lines[0] + lines[1].replace(b"x", b"y") + lines[2])
    with pytest.raises(JournalError, match=r"journal\.jsonl, line 2"):
        journal.read()
    with pytest.raises(JournalError, match="line 2"):
        list(journal.records())


@pytest.mark.parametrize("call", ["write", "fdatasync"])
def test_a_failed_append_leaves_nothing(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Raised means: not there, and not half there."""
    place = journal.append([record(1)], NOWHERE)
    real = os.write

    def refuse(descriptor: int, data: bytes = b"") -> int:
        if call == "write":
            real(descriptor, bytes(data)[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(StoreError, match="disk is full"):
        journal.append([record(2)], place)
    monkeypatch.undo()
    assert journal.read()[1] == place


def test_a_large_journal_is_set_aside_and_dropped_after_a_month(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, now: datetime
) -> None:
    """Undo reaches back 30 days; older parts go."""
    monkeypatch.setattr(rooms, "_ROTATE_AT", 100)
    journal.rotate(journal.append([record(1)], NOWHERE), now)
    end = journal.append([record(2)], NOWHERE)
    assert [part.name for part in journal.parts()] == ["journal-0001.jsonl", "journal.jsonl"]
    assert [found.sequence for found in journal.records()] == [1, 2]
    old = (now - timedelta(days=31)).timestamp()
    os.utime(journal.parts()[0], (old, old))
    monkeypatch.setattr(rooms, "_ROTATE_AT", 10**6)
    journal.rotate(end, now)
    assert [found.sequence for found in journal.records()] == [2]


@given(
    st.builds(
        Ledger,
        *(st.integers(0, 99) for _ in range(6)),
        BULLETS,
        HOLES,
        NARROWED,
        st.dictionaries(TEXT, RECORDS, max_size=3),
        st.dictionaries(TEXT, STONES, max_size=3),
        st.dictionaries(TEXT, JOBS, max_size=3),
        st.dictionaries(TEXT, TEXT, max_size=3),
        speakers=st.lists(TEXT, max_size=3).map(tuple),
    )
)
def test_a_checkpoint_keeps_the_whole_ledger(
    tmp_path_factory: pytest.TempPathFactory, ledger: Ledger
) -> None:
    """Loaded, it is equal to what was saved."""
    path = tmp_path_factory.mktemp("own") / "ledger.json"
    checkpoint.save(path, Checkpoint(ledger, Place("ab", 7, "cd")))
    assert checkpoint.load(path) == Checkpoint(ledger, Place("ab", 7, "cd"))


def test_a_changed_byte_of_a_checkpoint_is_noticed(tmp_path: Path) -> None:
    """The journal has it all again; half a date would go on to count."""
    path = tmp_path / "ledger.json"
    checkpoint.save(
        path, Checkpoint(Ledger(sequence=3, records={"a": Record(Trust.HUMAN, when="2026-03-02")}))
    )
    path.write_bytes(path.read_bytes().replace(b"2026", b"202="))
    assert checkpoint.load(path) is None


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"format": 2}', b'{"format": 1, "offset": 0}', b"\xff"]
)
def test_a_damaged_checkpoint_is_none(tmp_path: Path, data: bytes) -> None:
    """The journal has it all again."""
    (tmp_path / "ledger.json").write_bytes(data)
    assert checkpoint.load(tmp_path / "ledger.json") is None


def with_value(record: JournalRecord, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The line of a record in whose JSON something was changed, with a true checksum."""
    value: dict[str, Any] = encoded(record)
    change(value)
    return checked_line(value)


SPLICED = JournalRecord(
    1,
    "",
    "refresh",
    Author.MODEL,
    files={File.MEMORY: FileChange("a", "b", (Splice(0, (), ("tea\n",)),))},
    delta=Delta(progress=Progress(holes=(Hole(1, 2, "why"),))),
)


def test_keys_of_a_newer_version_are_passed_over() -> None:
    """New keys may come without a new number of the format."""
    newer = with_value(SPLICED, lambda value: value.update(mood="fine"))
    newer_change = with_value(
        SPLICED, lambda value: value["files"][str(File.MEMORY)].update(mood="fine")
    )
    assert parsed(newer) == parsed(newer_change) == parsed(checked_line(encoded(SPLICED)))


@each("thing", ["splice", "hole"])
def test_further_items_of_an_array_are_refused(thing: str) -> None:
    """They take a new number of the format: passed over, one may be a part of a text."""

    def longer(value: dict[str, Any]) -> None:
        rows = value["files"][str(File.MEMORY)]["splices"]
        if thing == "hole":
            rows = value["delta"]["progress"]["holes"]
        rows[0].append("more")

    assert parsed(with_value(SPLICED, longer)) is None
