"""What a channel's state keeps of the past, how long, and in how many writes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from pipimem.errors import LockLost, StoreError
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone
from pipimem.notes.operations import Author, LeftOut, Trust
from pipimem.state import channel_state
from pipimem.state.changes import ChangeRecord, FileChange
from pipimem.state.channel_state import SCHEMA, ChannelState
from pipimem.state.rows import Schema
from pipimem.state.sqlite import SqliteDatabase
from pipimem.state.texts import Texts

NOW = datetime(2026, 3, 2, 9, 10, tzinfo=timezone(timedelta(hours=8)))
KEY = b"k" * 32


def opened(folder: Path) -> ChannelState:
    """The state as another process reads it."""
    database = SqliteDatabase(folder / "state.db", SCHEMA, "room")
    state = ChannelState(database, Texts(KEY), lambda: (Ledger(), False))
    state.catch_up()
    return state


@pytest.fixture
def state(tmp_path: Path) -> ChannelState:
    return opened(tmp_path)


def change(state: ChannelState, text: str, when: datetime = NOW, delta: Delta | None = None) -> str:
    """Write a change of MEMORY.md to a text; returns its etag."""
    state.catch_up()
    before = state.known_text(File.MEMORY, "") or ""
    etag = state.etag(text)
    files = {File.MEMORY: FileChange(state.etag(before), etag, state.etag(before))}
    number, time = state.ledger.sequence + 1, when.isoformat(timespec="seconds")
    record = ChangeRecord(number, time, "note", Author.RULE, files=files, delta=delta or Delta())
    state.append([record], [before, text])
    return etag


def past(state: ChannelState, before: str = "") -> list[tuple[str, bool]]:
    """The past texts of MEMORY.md."""
    found = state.past_texts(File.MEMORY, before=before)
    return [("".join(map(state.line, ids)), is_saved) for ids, is_saved in found]


def days(count: int) -> Iterator[datetime]:
    """So many days up to today."""
    return (NOW - timedelta(days=count - 1 - number) for number in range(count))


def test_another_process_reads_what_was_written(state: ChannelState, tmp_path: Path) -> None:
    record = Record(Trust.EXPLICIT, "fact", ("m1",), "alice\udc80")
    delta = Delta({"abcd2345": record}, {"efgh2345": Tombstone("林晓 said so", 7)})
    etag = change(state, "- tea\n- 茶\udc80\0\n", delta=delta)
    other = opened(tmp_path)
    assert other.ledger == state.ledger
    assert other.heads == {File.MEMORY: etag}
    assert other.text(etag) == "- tea\n- 茶\udc80\0\n"
    assert other.changes() == state.changes()


def test_a_change_by_another_process_is_read_in_the_same_instant(
    state: ChannelState, tmp_path: Path
) -> None:
    """Two writes within a tick of the clock may leave the same time and size of the file."""
    other = opened(tmp_path)
    for number in range(100):
        change(state, f"- tea {number % 10}\n")
        other.catch_up()
        assert other.ledger.sequence == state.ledger.sequence


def test_a_writer_who_has_not_read_the_newest_change_is_refused(
    state: ChannelState, tmp_path: Path
) -> None:
    change(state, "- tea\n")
    other = opened(tmp_path)
    change(state, "- milk\n")
    record = ChangeRecord(2, "2026-03-02T09:10:00+08:00", "note", Author.RULE)
    with pytest.raises(LockLost):
        other.append([record], ())
    assert [each.sequence for each in opened(tmp_path).changes()] == [1, 2]


def test_a_line_is_stored_once(state: ChannelState) -> None:
    lines = [f"- line {number}\n" for number in range(300)]
    for number in range(50):
        lines[number] = f"- changed {number}\n"
        change(state, "".join(lines))
    with state.database.reading() as rows:
        assert rows is not None
        assert rows.all("select count(*) from line") == [(349,)]
    assert state.database.path.stat().st_size < 200_000  # type: ignore[attr-defined]


def test_past_texts_come_newest_first_with_what_editors_saved(state: ChannelState) -> None:
    change(state, "- a\n")
    change(state, "- a\n- b\n")
    saved, merged = state.etag("- a\n- c\n"), "- a\n- c\n- b\n"
    before = state.heads[File.MEMORY]
    files = {File.MEMORY: FileChange(before, state.etag(merged), saved, saved)}
    record = ChangeRecord(3, "2026-03-02T09:10:00+08:00", "edit", Author.EDITOR, files=files)
    state.append([record], [merged, "- a\n- c\n"])
    found = past(state)
    assert found == [
        (merged, False),
        ("- a\n- c\n", True),
        ("- a\n- b\n", False),
        ("- a\n", False),
        ("", False),
    ]
    assert [text for text, _ in past(state, before)] == ["- a\n", ""]


def test_changes_are_kept_for_thirty_days(
    state: ChannelState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the newest one for ever; where the past is small, all of them."""
    change(state, "- day before\n", NOW - timedelta(days=400))
    state.prune(NOW - timedelta(days=100))
    assert len(state.changes()) == 1
    monkeypatch.setattr(channel_state, "_SMALL", 0)
    for number, day in enumerate(days(40)):
        change(state, f"- day {number}\n", day)
        state.prune(day)
    assert [each.sequence for each in opened(tmp_path).changes()] == list(range(11, 42))
    texts = [text for text, _ in past(opened(tmp_path))]
    assert texts == [f"- day {number}\n" for number in reversed(range(8, 40))]
    state.prune(NOW + timedelta(days=400))
    assert opened(tmp_path).known_text(File.MEMORY, "") == "- day 39\n"
    with state.database.reading() as rows:
        assert rows is not None
        assert rows.all("select body from line") == [(b"- day 38\n",), (b"- day 39\n",)]


def test_of_much_text_one_a_day_is_kept(
    state: ChannelState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel_state, "_LARGEST", 100)
    monkeypatch.setattr(channel_state, "_SMALL", 0)
    for day in days(3):
        for number in range(4):
            change(state, f"- {day:%d}, text {number}\n", day + timedelta(minutes=number))
    state.prune(NOW)
    texts = [text for text, _ in past(opened(tmp_path))]
    assert texts == [
        *(f"- 02, text {number}\n" for number in (3, 2, 1, 0)),
        "- 01, text 3\n",
        "- 28, text 3\n",
    ]
    assert len(opened(tmp_path).changes()) == 12


def test_a_bit_that_flips_gives_no_wrong_text(state: ChannelState, tmp_path: Path) -> None:
    """The text of an etag is that text, or none; what is no database is set aside."""
    texts = [f"- tea {number}\n" * 40 + f"- milk {number}\n" for number in range(30)]
    etags = {change(state, text): text for text in texts}
    whole = state.database.path.read_bytes()  # type: ignore[attr-defined]
    dice, right = random.Random(3), 0
    for number in range(100):
        folder = tmp_path / str(number)
        folder.mkdir()
        data = bytearray(whole)
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        (folder / "state.db").write_bytes(data)
        other = opened(folder)
        for etag, text in etags.items():
            with suppress(StoreError):
                found = other.text(etag)
                assert found in (None, text)
                right += found == text
        last = other.ledger.sequence
        with suppress(StoreError):
            change(other, "- after it\n")
            assert opened(folder).ledger.sequence in (last + 1, 1)
    assert right > 2000


_NEW = ("left_out", "settled")
OLDER = Schema(
    SCHEMA.application,
    1,
    tuple(one for one in SCHEMA.tables if not any(name in one for name in _NEW)),
)


def consolidated(
    state: ChannelState, *items: LeftOut, when: datetime = NOW, taken_in: tuple[int, ...] = ()
) -> None:
    """Write a change of a consolidation that left these items out."""
    state.catch_up()
    number, time = state.ledger.sequence + 1, when.isoformat(timespec="seconds")
    record = ChangeRecord(
        number, time, "consolidate", Author.MODEL, left_out=items, taken_in=taken_in
    )
    state.append([record], [])


def test_what_is_left_out_is_kept_with_its_reason(state: ChannelState, tmp_path: Path) -> None:
    """Another process reads all of it; what the newest consolidation left out is at hand."""
    heron = LeftOut("over a bound", "鹭 heron", sources=("m1",), newest=4, speaker="Ines", when=NOW)
    line = LeftOut("its day is in no source", "a walk", File.HISTORY)
    consolidated(state, heron)
    consolidated(state, line)
    change(state, "- tea\n")
    other = opened(tmp_path)
    assert [(one.number, one.change, one.item) for one in other.all_left_out()] == [
        (1, 1, heron),
        (2, 2, line),
    ]
    assert (state.left_out, other.left_out) == ((line,), (line,))
    consolidated(state, taken_in=(1,))
    assert [one.item for one in state.all_left_out()] == [line]
    assert state.left_out == ()
    assert "鹭 heron" not in "".join(opened(tmp_path).strings())


def test_the_number_of_a_left_out_item_is_never_given_again(
    state: ChannelState, tmp_path: Path
) -> None:
    """Whether the newest item was taken in or pruned, and who asks."""
    tea = LeftOut("over a bound", "tea")
    consolidated(state, tea, tea, when=NOW - timedelta(days=31))
    consolidated(state, taken_in=(2,))
    consolidated(state, tea, when=NOW - timedelta(days=31))
    state.prune(NOW)
    assert state.all_left_out() == []
    consolidated(opened(tmp_path), tea)
    assert [one.number for one in opened(tmp_path).all_left_out()] == [4]


def test_what_is_left_out_is_dropped_after_30_days(state: ChannelState) -> None:
    """Also where the past is small, which is kept whatever its age."""
    for ago in (31, 30, 0):
        consolidated(state, LeftOut(f"{ago}", "tea"), when=NOW - timedelta(days=ago))
    state.prune(NOW)
    assert [one.item.reason for one in state.all_left_out()] == ["30", "0"]
    assert len(state.changes()) == 3


def test_a_state_of_the_layout_before_gets_the_table_with_its_next_change(tmp_path: Path) -> None:
    """Until then a reader finds nothing left out."""
    database = SqliteDatabase(tmp_path / "state.db", OLDER, "room")
    with database.writing():
        pass
    state = opened(tmp_path)
    assert state.all_left_out() == []
    consolidated(state, LeftOut("over a bound", "tea"))
    assert [one.item.text for one in opened(tmp_path).all_left_out()] == ["tea"]


def test_an_empty_file_is_no_state(state: ChannelState) -> None:
    """It is made anew by the next change."""
    change(state, "- tea\n")
    state.database.path.write_bytes(b"")  # type: ignore[attr-defined]
    state.catch_up()
    assert (state.ledger.sequence, state.heads) == (0, {})
    change(state, "- milk\n")
    assert [each.sequence for each in state.changes()] == [1]


def test_a_newer_layout_that_comes_in_between_is_refused(
    state: ChannelState, tmp_path: Path
) -> None:
    """Another program may bring the file up while this one has it in use."""
    change(state, "- tea\n")
    newer = SqliteDatabase(
        tmp_path / "state.db",
        Schema(SCHEMA.application, SCHEMA.version + 1, (), {SCHEMA.version: ()}),
        "room",
    )
    with newer.writing():
        pass
    with pytest.raises(StoreError, match="newer pipimem"):
        change(state, "- milk\n")


def test_settled_pairs_are_rows(state: ChannelState, tmp_path: Path) -> None:
    """Written and taken out with a change, and read by another process."""
    change(state, "- tea\n", delta=Delta(settled={"aaaa bbbb": "2026-03-02", "a b": "2026-03-01"}))
    assert opened(tmp_path).ledger.settled == {"aaaa bbbb": "2026-03-02", "a b": "2026-03-01"}
    change(state, "- milk\n", delta=Delta(settled={"a b": None}))
    assert opened(tmp_path).ledger.settled == {"aaaa bbbb": "2026-03-02"}


def test_a_database_of_the_first_layout_is_read_and_brought_up(tmp_path: Path) -> None:
    """It has no settled pairs; the next change adds the table."""
    tables = tuple(each for each in SCHEMA.tables if each not in SCHEMA.steps[1])
    database = SqliteDatabase(tmp_path / "state.db", Schema(SCHEMA.application, 1, tables), "room")
    with database.writing() as rows:
        rows.run(
            "insert into change (number, id, time, task, author, detail) values (?, ?, ?, ?, ?, ?)",
            *(1, "x", NOW.isoformat(), "note", "rule", b"{}"),
        )
    state = opened(tmp_path)
    assert (state.ledger.sequence, state.ledger.settled) == (1, {})
    change(state, "- tea\n", delta=Delta(settled={"a b": "2026-03-01"}))
    assert opened(tmp_path).ledger.settled == {"a b": "2026-03-01"}
