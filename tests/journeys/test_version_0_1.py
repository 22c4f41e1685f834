"""A workspace of pipimem 0.1 goes on with this version: nothing is lost, whatever is killed on
the way.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pipimem import Clock, Message, Pipimem
from pipimem.errors import ChannelError
from pipimem.notes.kinds import File, Kind, etag
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
from pipimem.store.channel import ChannelStore
from pipimem.store.disk import exchange
from pipimem.store.history.undo import undo
from pipimem.store.transcript.message_line import line
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.json_codec import encoded

FIXTURE = Path(__file__).parents[1] / "fixtures" / "workspace-0.1"
EXPECTED: dict[str, Any] = json.loads((FIXTURE / "expected.json").read_text(encoding="utf-8"))
GROUP, DM, ODD = EXPECTED["channels"]
NOW = datetime(2026, 4, 2, 9, 20, tzinfo=timezone(timedelta(hours=8)))
CALLS = ("write", "fsync", "fdatasync", "replace", "unlink", "ftruncate", "rename")


@pytest.fixture
def old(tmp_path: Path) -> WorkspaceStore:
    """A copy of the workspace, with the modes that git does not keep."""
    return _copy(tmp_path / "bot")


def _copy(root: Path) -> WorkspaceStore:
    shutil.copytree(FIXTURE / "workspace", root)
    for path in root.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return WorkspaceStore.open(root)


def _opened(workspace: WorkspaceStore, name: str) -> ChannelStore:
    return ChannelStore.open(workspace, name, create=False)


def _brought_over(workspace: WorkspaceStore, name: str) -> ChannelStore:
    store = _opened(workspace, name)
    store.record_edits(NOW)
    store.close()
    return _opened(workspace, name)


def _told(store: ChannelStore) -> dict[str, Any]:
    """What `expected.json` has of a channel."""
    notes = store.notes()
    ledger = json.loads(json.dumps(encoded(notes.ledger)))
    return {
        "kind": store.channel_folder.identity.kind,
        "title": store.channel_folder.identity.title,
        "key": store.key.hex(),
        "texts": {str(file): (store.folder / file).read_text(encoding="utf-8")
                  for file in File if (store.folder / file).exists()},
        "ledger": ledger,
        "entries": [entry.text for entry in notes.memory.entries],
        "messages": [line(message).decode() for message in store.transcript.messages()],
    }  # fmt: skip


def _expected(name: str) -> dict[str, Any]:
    """The same by 0.1.0, without the ledger's fields that are empty: format 2 leaves them out.

    What a person reworded by hand is nobody else's word any more, and its old wording is gone. Not
    so in `ODD`: the newest line was reworded together with another change, so both wordings stay.
    """
    told = copy.deepcopy(EXPECTED["channels"][name])
    ledger = {key: value for key, value in told["ledger"].items() if value not in (0, [], {})}
    told["ledger"] = ledger
    if name == ODD:
        _keep_both_wordings(told)
        return told
    for record in ledger.get("records", {}).values():
        if record.get("predecessor") and record["trust"] == "human":
            del record["speaker"], record["when"]
            gone = {"reason": "deleted by hand", "upto": ledger.get("cursor", 0)}
            ledger.setdefault("tombstones", {})[record["predecessor"]] = gone
    return told


def _keep_both_wordings(told: dict[str, Any]) -> None:
    """Adds the line that a person reworded while a commit waited, with its record."""
    text = told["texts"]["MEMORY.md"].replace("- 服务器", "- 评审会每周三下午三点\n- 服务器")
    told["texts"]["MEMORY.md"] = text
    told["entries"].insert(3, "评审会每周三下午三点")
    records = told["ledger"]["records"]
    records["pdqoakod"] = records["5w5r3p5k"]
    records["x6sjjajc"] = {"trust": "human", "kind": "fact"}
    told["ledger"]["etags"]["MEMORY.md"] = etag(text)


@pytest.mark.parametrize("name", [GROUP, DM, ODD])
def test_all_that_0_1_kept_is_there(old: WorkspaceStore, name: str) -> None:
    """Messages, entries, records, tombstones, key, hand edits, and the text that waited when it
    was killed.
    """
    store = _brought_over(old, name)
    assert _told(store) == _expected(name)
    assert not list(store.folder.glob(".*.pipimem-tmp"))


@pytest.mark.parametrize("name", [GROUP, DM, ODD])
def test_reading_shows_it_and_writes_nothing(old: WorkspaceStore, name: str) -> None:
    """Somebody may look first, and go back to 0.1 then."""
    before = _files(old.root)
    told = _told(_opened(old, name))
    assert told["entries"] == _expected(name)["entries"]
    assert told["messages"] == _expected(name)["messages"]
    assert _files(old.root) == before


@pytest.mark.parametrize("name", [GROUP, DM, ODD])
def test_opened_twice_it_is_the_same(old: WorkspaceStore, name: str) -> None:
    """The second start finds nothing to do."""
    _brought_over(old, name)
    before = _files(old.root)
    assert _told(_brought_over(old, name)) == _expected(name)
    assert _files(old.root) == before


@pytest.mark.parametrize("name", [GROUP, DM, ODD])
def test_all_of_it_has_the_new_number(old: WorkspaceStore, name: str) -> None:
    """An older pipimem refuses the channel by its `channel.json`; the old journal is set aside,
    `unread` is gone.
    """
    own = _brought_over(old, name).folder / ".pipimem"
    assert json.loads((own / "channel.json").read_bytes())["format"] == 2
    assert json.loads((own / "ledger.json").read_bytes())["format"] == 2
    assert not (own / "unread").exists()
    store = _opened(old, name)
    store.commit(_fact("written by the new one"), NOW)
    header = json.loads((own / "journal.jsonl").read_bytes().splitlines()[0])
    assert header["format"] == 2
    assert len(header["journal"]) == 16
    assert (own / "journal-0001.jsonl").exists()


def test_what_was_done_before_can_be_looked_at_and_undone(old: WorkspaceStore) -> None:
    """The set-aside journal is read as it is."""
    store = _brought_over(old, DM)
    records = list(store.changes())
    assert [record.sequence for record in records] == list(range(1, 12))
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
    path.write_text(path.read_text().replace('"format": 1', '"format": 3'))
    with pytest.raises(ChannelError, match=r"newer pipimem \(format 3\). Update pipimem"):
        _opened(old, DM)


@pytest.mark.parametrize("name", [GROUP, ODD])
def test_killed_at_any_call_the_next_start_completes_it(tmp_path: Path, name: str) -> None:
    """At each write, sync, rename and unlink in turn."""
    for at in range(1, 200):
        workspace = _copy(tmp_path / str(at))
        finished = _in_child(workspace, name, at)
        assert _told(_brought_over(workspace, name)) == _expected(name), at
        if finished:
            assert at > 10
            return
    raise AssertionError("it never came to its end")


def _in_child(workspace: WorkspaceStore, name: str, at: int) -> bool:
    """Brings a channel over in a process that dies at its `at`-th call; whether it came to its
    end.
    """
    child = os.fork()
    if child == 0:
        try:
            _dying(at)
            _brought_over(workspace, name)
        except BaseException:  # noqa: BLE001 - nothing of the child may run on in the parent's tests
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 0


def _dying(at: int) -> None:
    count = 0

    def deadly(module: ModuleType, name: str) -> None:
        real: Callable[..., object] = getattr(module, name)

        def call(*args: object, **options: object) -> object:
            nonlocal count
            count += 1
            if count == at:
                os._exit(9)
            return real(*args, **options)

        setattr(module, name, call)

    for name in CALLS:
        deadly(os, name)
    deadly(exchange, "_renamed")


def _fact(text: str) -> Decision:
    evidence = Evidence(("m1",), 1, "Alice", NOW)
    return Decision("consolidate", Author.MODEL, (Add(Kind.FACT, text, Trust.INFERRED, evidence),))


def _files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


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
