"""How often a commit waits for the disk: on a slow one that is what it takes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from pipimem.notes.kinds import Kind as EntryKind
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Author,
    Bullet,
    Decision,
    Operation,
    SetSection,
    Trust,
)
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.promises import libc_shim
from tests.promises.libc_shim import Call, Kind
from tests.promises.trials import MODULES
from tests.promises.zygote import Say, zygote
from tests.store.conftest import NOW

ROUNDS = 3
MOST = {1: 8, 3: 11}


def operations(number: int, files: int) -> tuple[Operation, ...]:
    """What changes one file, or three."""
    fact = Add(EntryKind.FACT, f"lamp {number} is green", Trust.EXPLICIT)
    if files == 1:
        return (fact,)
    start = NOW + timedelta(hours=number)
    block = AddBlock(start, start + timedelta(minutes=5), "", (Bullet(f"lamp {number}"),))
    return fact, SetSection("Next Steps", (f"look at lamp {number}",)), block


def commit(say: Say, root: str, files: int) -> None:
    """Commit some times, with a note in the log before and after each."""
    channel = ChannelStore.open(WorkspaceStore.open(Path(root)), "room", create=True)
    for number in range(ROUNDS):
        say("begins", number)
        channel.commit(Decision("lamps", Author.MODEL, operations(number, files)), NOW)
        say("ended", number)


@pytest.mark.parametrize("files", [1, 3])
def test_a_commit_waits_for_the_disk_no_more_often_than_it_must(tmp_path: Path, files: int) -> None:
    """Each prepared text, their names, SQLite's transaction, and the exchanged names."""
    libc_shim.require_shim()
    log, root = tmp_path / "calls", tmp_path / "workspace"
    (root / "channels").mkdir(parents=True)
    with zygote(*MODULES, "tests.store.commit.test_commit_syncs") as process:
        ended = process.run(
            "tests.store.commit.test_commit_syncs:commit",
            armed=root,
            log=log,
            root=str(root),
            files=files,
        )
    ended.raise_unless_done()
    commits = commits_in(libc_shim.read_log(log))
    assert len(commits) == ROUNDS
    for calls in commits[1:]:  # the first one makes the files
        syncs = [call.path for call in calls if call.kind in (Kind.SYNC, Kind.SYNC_ALL)]
        assert len(syncs) <= MOST[files], syncs
        began = next(n for n, call in enumerate(calls) if call.path.endswith("-journal"))
        named = [n for n, call in enumerate(calls) if call.kind is Kind.SYNC]
        # What is prepared has its name before the transaction, and its place at the end.
        folders = [n for n in named if calls[n].path == str(root / "channels" / "room")]
        assert folders[0] < began < folders[-1], syncs


def commits_in(calls: Iterable[Call]) -> list[list[Call]]:
    """The calls of each commit: those between two notes."""
    parts: list[list[Call]] = [[]]
    for call in calls:
        if call.kind is Kind.NOTE:
            parts.append([])
        else:
            parts[-1].append(call)
    return parts[1::2]
