"""A workspace of format 2, as 0.2 left it, goes on with this version."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pipimem.notes.entry import content_id
from pipimem.notes.kinds import etag
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.store.history.undo import undo
from pipimem.store.upgrade.old_journal import read_journal
from pipimem.store.upgrade.old_state import CLOSED
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.json_lines import checked_line, checked_value, checksum_of
from pipimem.text.markdown.line_edits import splices_between

from tests.journeys.old_workspaces import (
    copied,
    expected_by,
    expected_of,
    fact,
    files_in,
    has_ended,
    opened,
    taken_over,
    told,
)

EXPECTED = expected_by("0.2")
GROUP, DM, CUT = EXPECTED["channels"]
NOW = datetime(2026, 11, 20, 9, 20, tzinfo=timezone(timedelta(hours=8)))
EVERY = pytest.mark.parametrize("name", [GROUP, DM, CUT])


def _expected(name: str) -> dict[str, Any]:
    found = expected_of(EXPECTED["channels"][name])
    if name == CUT:  # the takeover is a change before the forgetting ends
        found["ledger"]["forgotten"] += 1
    return found


@pytest.fixture
def old(tmp_path: Path) -> WorkspaceStore:
    """A copy of the workspace."""
    return copied("0.2", tmp_path / "bot")


@EVERY
def test_all_that_0_2_kept_is_there(old: WorkspaceStore, name: str) -> None:
    """Messages, entries, records, tombstones, key, hand edits, and the text that waited."""
    store = taken_over(old, name, NOW)
    assert told(store) == _expected(name)
    assert not list(store.folder.glob(".*.pipimem-tmp"))
    own = store.folder / ".pipimem"
    left = {path.name for path in own.iterdir() if "lock" not in path.name}
    assert left == {"channel.json", "journal.jsonl", "state.db"}


@EVERY
def test_reading_shows_it_and_writes_nothing(old: WorkspaceStore, name: str) -> None:
    """The texts, also one that waits for its file, the changes and the ledger; 0.2 can go on."""
    before = files_in(old.root)
    store = opened(old, name)
    notes = store.notes()
    assert store.ledger.cursor == EXPECTED["channels"][name]["ledger"].get("cursor", 0)
    if name != CUT:
        assert [entry.text for entry in notes.memory.entries] == _expected(name)["entries"]
        tasks = [[change.sequence, change.task] for change in store.changes()]
        wanted = EXPECTED["channels"][name]["changes"]
        assert tasks == [each for each in wanted if each[1] != "edit" or each[0] == 6]
    assert files_in(old.root) == before


def test_what_0_2_writes_meanwhile_is_read(old: WorkspaceStore) -> None:
    """A reader of this version sees the next change of an older bot."""
    store = opened(old, DM)
    assert "orchid" not in store.notes().memory.text
    OldProgram(store.folder).remember("Plant 4 is an orchid")
    assert "orchid" in store.notes().memory.text
    assert store.ledger.sequence == 7


def test_undo_reaches_back_to_changes_of_0_2(old: WorkspaceStore) -> None:
    """Each with its texts, but for what came before a forgetting."""
    store = taken_over(old, GROUP, NOW)
    assert [(each.sequence, each.task) for each in store.changes()] == [
        (4, "forget"),
        (5, "consolidate"),
        (6, "edit"),
        (7, "consolidate"),
        (8, "undo"),
        (9, "consolidate"),
        (10, "upgrade"),
        (11, "edit"),
    ]
    assert store.changes(9)[0].why == (
        "Taken over from an older format. Undo reaches back to change 4."
    )
    undo(store, 6, NOW, "王")
    assert "小李负责测试" not in store.notes().memory.text
    assert "服务器在三楼" in store.notes().memory.text


def test_an_editor_goes_on_with_a_text_from_before(old: WorkspaceStore) -> None:
    """Its save is merged from there: what came since stays, what it took out goes."""
    memory = opened(old, GROUP).folder / "MEMORY.md"
    buffer = memory.read_text(encoding="utf-8")
    store = taken_over(old, GROUP, NOW)
    store.commit(fact("发布在周五", NOW), NOW)
    memory.write_text(buffer.replace("- 小李负责测试\n", "") + "- 小周写文档\n", encoding="utf-8")
    entries = [entry.text for entry in taken_over(old, GROUP, NOW).notes().memory.entries]
    assert {"小周写文档", "发布在周五", "服务器在三楼"} <= {*entries}
    assert "小李负责测试" not in entries


def test_a_line_that_was_forgotten_does_not_come_back(old: WorkspaceStore) -> None:
    """An editor that loaded the text before the forgetting saves it right after the takeover."""
    store = taken_over(old, GROUP, NOW)
    memory = store.folder / "MEMORY.md"
    memory.write_text(
        memory.read_text(encoding="utf-8") + "- 王的电话是 555-0188\n", encoding="utf-8"
    )
    os.utime(memory, (NOW.timestamp(), NOW.timestamp()))
    assert "555-0188" not in taken_over(old, GROUP, NOW).notes().memory.text


def test_a_forgetting_that_was_cut_off_is_finished(old: WorkspaceStore) -> None:
    """No file has a trace of it, and its plan is gone."""
    store = taken_over(old, CUT, NOW)
    assert [each.task for each in store.changes()] == ["forget"]
    assert b"tangerine" not in b"".join(files_in(store.folder).values())


def test_what_it_removes_does_not_come_back_either(old: WorkspaceStore) -> None:
    """An editor has the text from before open, and saves it."""
    memory = opened(old, CUT).folder / "MEMORY.md"
    buffer = memory.read_text(encoding="utf-8")
    taken_over(old, CUT, NOW)
    memory.write_text(buffer, encoding="utf-8")
    os.utime(memory, (NOW.timestamp(), NOW.timestamp()))
    entries = [entry.text for entry in taken_over(old, CUT, NOW).notes().memory.entries]
    assert entries == ["Dana keeps the binder"]


def test_a_damaged_plan_is_told_and_not_carried_out(old: WorkspaceStore) -> None:
    """With one wrong byte it would remove what nobody named."""
    path = opened(old, CUT).folder / ".pipimem" / "forget.json"
    path.write_bytes(path.read_bytes().replace(b"tangerine-47", b"binderbinder"))
    store = taken_over(old, CUT, NOW)
    assert "Dana keeps the binder" in store.notes().memory.text
    assert store.changes()[-1].notes == (
        "A forgetting that was cut off cannot be read: forget again what is to go.",
    )


@pytest.mark.parametrize("damage", ["journal.jsonl", "ledger.json", "both"])
def test_a_damaged_state_costs_no_line(old: WorkspaceStore, damage: str) -> None:
    """The files count as they stand, and a text that waited adds its lines."""
    own = opened(old, GROUP).folder / ".pipimem"
    for name in ("journal.jsonl", "ledger.json"):
        if damage in (name, "both"):
            data = (own / name).read_bytes()
            (own / name).write_bytes(data[:200] + b"#" + data[201:])
    store = taken_over(old, GROUP, NOW)
    assert {entry.text for entry in store.notes().memory.entries} >= {*_expected(GROUP)["entries"]}
    assert store.ledger.sequence > 0
    assert (own / "journal.jsonl").read_bytes() == CLOSED


def test_without_anything_readable_no_older_talk_is_learnt_again(old: WorkspaceStore) -> None:
    """Nobody knows then what was taken out of the notes."""
    own = opened(old, DM).folder / ".pipimem"
    for path in (*own.glob("journal*"), own / "ledger.json"):
        path.write_bytes(b"damaged\n\n")
    assert taken_over(old, DM, NOW).ledger.cursor == 5


@EVERY
def test_killed_at_any_call_the_next_start_completes_it(tmp_path: Path, name: str) -> None:
    """At each write, sync, rename, unlink and transaction in turn."""
    for at in range(1, 200):
        workspace = copied("0.2", tmp_path / str(at))
        is_done = has_ended(partial(taken_over, workspace, name, NOW), at)
        entries = [entry.text for entry in opened(workspace, name).notes().memory.entries]
        if name != CUT:
            assert entries == _expected(name)["entries"], at
        found, wanted = told(taken_over(workspace, name, NOW)), _expected(name)
        if name == CUT:  # a forgetting that is begun again is a change more
            del found["ledger"]["forgotten"], wanted["ledger"]["forgotten"]
        assert found == wanted, at
        shutil.rmtree(workspace.root)
        if is_done:
            assert at > 20
            return
    raise AssertionError("it never came to its end")


class RefusedError(Exception):
    """The channel is of a newer format, or its journal is damaged."""


class OldProgram:
    """What 0.2 does on the disk: it looks at `channel.json`, takes the lock, reads, and appends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.own = folder / ".pipimem"

    def look(self) -> None:
        """Look whether the channel is of its format, before it asks for the lock."""
        if json.loads((self.own / "channel.json").read_bytes())["format"] > 2:
            raise RefusedError("written by a newer pipimem")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock as 0.2 does."""
        with (self.own / "lock").open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def remember(self, text: str) -> None:
        """Add a line to MEMORY.md, as a commit of a model."""
        self.look()
        with self.lock():
            self.commit(text)

    def commit(self, text: str) -> None:
        """Append to the journal, then put the new text in place. The lock is held."""
        path = self.own / "journal.jsonl"
        found = read_journal([path])
        if found.damage is not None:
            raise RefusedError("the journal is damaged")
        memory = self.folder / "MEMORY.md"
        before = memory.read_text(encoding="utf-8")
        after = f"{before}- {text}\n"
        key = bytes.fromhex(json.loads((self.own / "channel.json").read_bytes())["key"])
        record = {"trust": "inferred", "kind": "fact", "speaker": "Alice"}
        change = {
            "before": etag(before),
            "after": etag(after),
            "splices": splices_between(before, after),
        }
        rows = path.read_bytes().splitlines(keepends=True)
        newest = checked_value(self.own.joinpath("ledger.json").read_bytes()) or {}
        known = newest["ledger"]["sequence"] if newest else 0  # type: ignore[index]
        last = found.changes[-1].record.sequence if found.changes else known
        fields = {
            "seq": last + 1,
            "ts": NOW.isoformat(),
            "task": "consolidate",
            "author": "model",
            "files": {"MEMORY.md": change},
            "delta": {"records": {content_id(key, text): record}},
        }
        with path.open("ab") as file:
            file.write(checked_line(fields, checksum_of(rows[-1])))
        draft = memory.with_name(f".MEMORY.md.{etag(after)[:16]}.pipimem-tmp")
        draft.write_text(after, encoding="utf-8")
        draft.replace(memory)


def test_an_old_program_that_holds_the_channel_is_waited_for(old: WorkspaceStore) -> None:
    """What it commits is taken over like all that came before."""
    store = opened(old, DM)
    program = OldProgram(store.folder)
    with program.lock():
        writer = threading.Thread(target=store.commit, args=(fact("Plant 5 is a fern", NOW), NOW))
        writer.start()
        program.commit("Plant 4 is an orchid")
        assert writer.is_alive()
    writer.join()
    notes = opened(old, DM).notes()
    assert [entry.text for entry in notes.memory.entries][3:] == [
        "Plant 4 is an orchid",
        "Plant 5 is a fern",
    ]
    orchid = next(entry for entry in notes.memory.entries if "orchid" in entry.text)
    record = notes.record(orchid.record_name)
    assert record is not None
    assert (record.trust, record.speaker) == (Trust.INFERRED, "Alice")


def test_an_old_program_refuses_afterwards(old: WorkspaceStore) -> None:
    """By the number in `channel.json`; nothing is written."""
    store = taken_over(old, DM, NOW)
    before = files_in(old.root)
    with pytest.raises(RefusedError, match="newer pipimem"):
        OldProgram(store.folder).remember("too late")
    assert files_in(old.root) == before


def test_an_old_program_that_looked_before_refuses_too(old: WorkspaceStore) -> None:
    """It looks at `channel.json` before it waits for the lock, and not again behind it."""
    program = OldProgram(opened(old, DM).folder)
    program.look()
    taken_over(old, DM, NOW)
    with program.lock(), pytest.raises(RefusedError, match="damaged"):
        program.commit("too late")
    assert "too late" not in taken_over(old, DM, NOW).notes().memory.text


def test_old_and_new_at_once_lose_nothing(old: WorkspaceStore) -> None:
    """The old one writes without pause until it is refused; all that it wrote has its record."""
    program = OldProgram(opened(old, DM).folder)
    written: list[str] = []

    def write() -> None:
        for number in range(200):
            try:
                program.remember(f"Old fact {number}")
            except RefusedError:
                return
            written.append(f"Old fact {number}")

    writer = threading.Thread(target=write)
    writer.start()
    while not written:
        pass
    store = opened(old, DM)
    store.commit(fact("The new one writes", NOW), NOW)
    writer.join()
    notes = taken_over(old, DM, NOW).notes()
    entries = {entry.text: entry for entry in notes.memory.entries}
    assert {*written, "The new one writes"} <= entries.keys()
    records = [notes.record(entries[text].record_name) for text in written]
    assert {record.trust for record in records if record} == {Trust.INFERRED}
    assert None not in records


def test_talk_of_an_old_program_that_looked_before_has_its_own_numbers(
    old: WorkspaceStore,
) -> None:
    """It adds a message under the lock, for which talk waits until the channel is taken over."""
    store = opened(old, DM)
    store.make_channel()
    log = store.folder / "log.jsonl"
    said = [Message.user("from the new one", id="new", time=NOW, speaker="Alice")]
    with OldProgram(store.folder).lock():
        number = len(log.read_bytes().splitlines()) + 1
        writer = threading.Thread(target=store.append, args=(said,))
        writer.start()
        writer.join(0.2)
        late = {"id": "late", "n": number, "ts": NOW.isoformat(), "role": "user", "content": "x"}
        with log.open("ab") as file:
            file.write(json.dumps(late).encode() + b"\n")
    writer.join()
    numbers = {message.id: message.number for message in store.transcript.messages()}
    assert (numbers["late"], numbers["new"]) == (6, 7)
