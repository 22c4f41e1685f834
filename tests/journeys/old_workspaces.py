"""Workspaces of older versions in `tests/fixtures`, and what they themselves make of them."""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from pipimem.notes.kinds import File, Kind
from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
from pipimem.state import sqlite
from pipimem.store.channel import ChannelStore
from pipimem.store.disk import exchange
from pipimem.store.transcript.message_line import line
from pipimem.store.upgrade import takeover
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.json_codec import encoded

FIXTURES = Path(__file__).parents[1] / "fixtures"
CALLS = ("write", "fsync", "fdatasync", "replace", "unlink", "ftruncate", "rename", "rmdir")


def expected_by(version: str) -> dict[str, Any]:
    """What the version itself makes of its workspace when it goes on."""
    found: dict[str, Any] = json.loads(
        (FIXTURES / f"workspace-{version}" / "expected.json").read_text(encoding="utf-8")
    )
    return found


def copied(version: str, root: Path) -> WorkspaceStore:
    """A copy of the workspace, with the modes that git does not keep."""
    shutil.copytree(FIXTURES / f"workspace-{version}" / "workspace", root)
    for path in root.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return WorkspaceStore.open(root)


def opened(workspace: WorkspaceStore, name: str) -> ChannelStore:
    """The store of a channel that is there."""
    return ChannelStore.open(workspace, name, create=False)


def taken_over(workspace: WorkspaceStore, name: str, now: datetime) -> ChannelStore:
    """The channel after its first writer; opened anew."""
    store = opened(workspace, name)
    store.record_edits(now)
    store.close()
    return opened(workspace, name)


def told(store: ChannelStore) -> dict[str, Any]:
    """What `expected.json` has of a channel, but for the changes."""
    notes = store.notes()
    ledger = json.loads(json.dumps(encoded(notes.ledger)))
    del ledger["sequence"]
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


def expected_of(channel: dict[str, Any]) -> dict[str, Any]:
    """What `told` returns where nothing is lost.

    Fields that are empty are left out now; etags, and the marks of forgotten lines, are kept
    elsewhere; how confident a model was is kept no more. What a person reworded by hand is nobody else's word any more.
    """
    found = copy.deepcopy(channel)
    found.pop("changes", None)
    ledger = {key: value for key, value in found["ledger"].items() if value not in (0, [], {})}
    for record in ledger.get("records", {}).values():
        record.pop("confidence", None)
        if record.get("predecessor") and record["trust"] == "human":
            record.pop("speaker", None)
            record.pop("when", None)
            gone = {"reason": "deleted by hand", "upto": ledger.get("cursor", 0)}
            ledger.setdefault("tombstones", {})[record["predecessor"]] = gone
    ledger.pop("etags", None)
    del ledger["sequence"]
    stones = ledger.pop("tombstones", {})
    kept = {name: stone for name, stone in stones.items() if not name.startswith("line:")}
    if kept:
        ledger["tombstones"] = kept
    found["ledger"] = ledger
    return found


def files_in(root: Path) -> dict[str, bytes]:
    """The bytes of all files below a folder."""
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def fact(text: str, now: datetime) -> Decision:
    """The decision of a model to learn a fact."""
    evidence = Evidence(("m1",), 1, "Alice", now)
    return Decision("consolidate", Author.MODEL, (Add(Kind.FACT, text, Trust.INFERRED, evidence),))


def has_ended(work: Callable[[], object], at: int) -> bool:
    """Whether work came to its end in a process that dies at its `at`-th call of the system."""
    child = os.fork()
    if child == 0:
        try:
            _die_at(at)
            work()
        except BaseException:  # noqa: BLE001 - nothing of the child may run on in the parent's tests
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 0


def _die_at(at: int) -> None:
    count = 0

    def make_deadly(holder: ModuleType | type, name: str) -> None:
        real: Callable[..., object] = getattr(holder, name)

        def call(*args: object, **options: object) -> object:
            nonlocal count
            count += 1
            if count == at:
                os._exit(9)
            return real(*args, **options)

        setattr(holder, name, call)

    for name in CALLS:
        make_deadly(os, name)
    make_deadly(exchange, "_renamed")
    # Before the transaction ends, and right after it.
    make_deadly(sqlite.SqliteDatabase, "_commit")
    make_deadly(takeover, "_remove_old_files")
