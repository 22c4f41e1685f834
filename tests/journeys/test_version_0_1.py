"""A workspace of pipimem 0.1 goes on with this version: nothing is lost, whatever is killed on
the way.
"""

from __future__ import annotations

import copy
import json
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pipimem import Clock, Message, Pipimem
from pipimem.errors import ChannelError
from pipimem.store.history.undo import undo
from pipimem.store.upgrade.old_state import CLOSED
from pipimem.store.workspace import WorkspaceStore

from tests.journeys.old_workspaces import (
    copied,
    expected_by,
    expected_of,
    files_in,
    has_ended,
    opened,
    taken_over,
    told,
)

EXPECTED = expected_by("0.1")
GROUP, DM, ODD = EXPECTED["channels"]
NOW = datetime(2026, 4, 2, 9, 20, tzinfo=timezone(timedelta(hours=8)))


def _expected(name: str) -> dict[str, Any]:
    """What 0.1.0 makes of a channel.

    In `ODD` a line was reworded together with another change: both wordings stay.
    """
    channel = EXPECTED["channels"][name]
    if name != ODD:
        return expected_of(channel)
    channel = copy.deepcopy(channel)
    _keep_both_wordings(channel)
    return expected_of(channel)


@pytest.fixture
def old(tmp_path: Path) -> WorkspaceStore:
    """A copy of the workspace."""
    return copied("0.1", tmp_path / "bot")


def _keep_both_wordings(told: dict[str, Any]) -> None:
    """Adds the line that a person reworded while a commit waited, with its record."""
    text = told["texts"]["MEMORY.md"].replace("- 服务器", "- 评审会每周三下午三点\n- 服务器")
    told["texts"]["MEMORY.md"] = text
    told["entries"].insert(3, "评审会每周三下午三点")
    records = told["ledger"]["records"]
    records["pdqoakod"] = records["5w5r3p5k"]
    records["x6sjjajc"] = {"trust": "human", "kind": "fact"}


@pytest.mark.parametrize("name", [GROUP, DM, ODD])
def test_all_that_0_1_kept_is_there(old: WorkspaceStore, name: str) -> None:
    """Messages, entries, records, tombstones, key, hand edits, and the text that waited when it
    was killed.
    """
    store = taken_over(old, name, NOW)
    assert told(store) == _expected(name)
    assert not list(store.folder.glob(".*.pipimem-tmp"))


@pytest.mark.parametrize("name", [GROUP, DM, ODD])
def test_reading_shows_it_and_writes_nothing(old: WorkspaceStore, name: str) -> None:
    """Somebody may look first, and go back to 0.1 then."""
    before = files_in(old.root)
    found = told(opened(old, name))
    assert found["entries"] == _expected(name)["entries"]
    assert found["messages"] == _expected(name)["messages"]
    assert files_in(old.root) == before


@pytest.mark.parametrize("name", [GROUP, DM, ODD])
def test_opened_twice_it_is_the_same(old: WorkspaceStore, name: str) -> None:
    """The second start finds nothing to do."""
    taken_over(old, name, NOW)
    before = files_in(old.root)
    assert told(taken_over(old, name, NOW)) == _expected(name)
    assert files_in(old.root) == before


@pytest.mark.parametrize("name", [GROUP, DM, ODD])
def test_it_has_the_new_number_and_no_old_file(old: WorkspaceStore, name: str) -> None:
    """An older pipimem refuses the channel by its `channel.json`."""
    own = taken_over(old, name, NOW).folder / ".pipimem"
    assert json.loads((own / "channel.json").read_bytes())["format"] == 3
    assert (own / "journal.jsonl").read_bytes() == CLOSED
    left = {path.name for path in own.iterdir() if "lock" not in path.name}
    assert left - {"recall.json"} == {"channel.json", "journal.jsonl", "state.db"}


def test_what_was_done_before_can_be_looked_at_and_undone(old: WorkspaceStore) -> None:
    """The changes of the old journal, in both of its parts."""
    store = taken_over(old, DM, NOW)
    tasks = {record.sequence: record.task for record in store.changes()}
    assert list(tasks) == list(range(1, 13))
    assert (tasks[11], tasks[12]) == ("upgrade", "edit")
    undo(store, 8, NOW, "alice")
    assert "plant number 8" not in store.notes().memory.text


def test_the_usage_ledger_goes_on(old: WorkspaceStore) -> None:
    """Old lines count, the damaged one stays in a file, reservations are seen; what is added
    stands behind them.
    """
    expected = [correlation for correlation in EXPECTED["usage"] if correlation]
    assert [usage.correlation for usage in old.usages()] == expected
    assert len(list((old.root / ".pipimem").glob("usage-*.damaged"))) == 1
    assert {name: hold.correlation for name, hold in old.usage_store.held().items()} == EXPECTED[
        "holds"
    ]
    usage = old.usages()[0]
    old.usage_store.append(usage)
    assert [each.correlation for each in old.usages()].count(usage.correlation) == 2


def test_a_newer_format_is_refused_with_a_sentence(old: WorkspaceStore) -> None:
    """As 0.1 refuses this one."""
    path = old.folder_of(DM) / ".pipimem" / "channel.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 4'))
    with pytest.raises(ChannelError, match=r"newer pipimem \(format 4\). Update pipimem"):
        opened(old, DM)


@pytest.mark.parametrize("name", [GROUP, ODD])
def test_killed_at_any_call_the_next_start_completes_it(tmp_path: Path, name: str) -> None:
    """At each write, sync, rename and unlink in turn."""
    for at in range(1, 200):
        workspace = copied("0.1", tmp_path / str(at))
        is_done = has_ended(partial(taken_over, workspace, name, NOW), at)
        assert told(taken_over(workspace, name, NOW)) == _expected(name), at
        if is_done:
            assert at > 10
            return
    raise AssertionError("it never came to its end")


@pytest.mark.anyio
async def test_who_was_there_is_unknown_and_nothing_else_is(old: WorkspaceStore) -> None:
    """Its ledgers name no speakers; turns recall, and what is learnt now knows who was there."""
    clock = Clock(now=lambda: NOW, wall=lambda: NOW)
    async with Pipimem(old.root, "offline", clock=clock) as pipimem:
        room = await pipimem.channel("release-room", kind="group", create=False)
        entries = await room.notes.entries()
        assert [entry.text for entry in entries] == EXPECTED["channels"]["release-room"]["entries"]
        assert {entry.heard_by for entry in entries} == {()}
        turn = await room.before_turn("Who keeps the release checklist?", speaker="Dana")
        assert (turn.problem, "green binder" in turn.context) == ("", True)
        said = Message.user("Please remember that the piano is tuned in May.", speaker="Dana")
        await room.after_turn(turn, [said, Message.assistant("ok")])
        assert (await room.before_compaction()).state == "consolidated"
        (piano,) = [entry for entry in await room.notes.entries() if "piano" in entry.text]
        assert "Dana" in piano.heard_by
