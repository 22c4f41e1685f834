"""How often a commit waits for the disk: on a slow one that is what it takes."""

from __future__ import annotations

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
from tests.promises.libc_shim import Kind
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
    counts = [0]  # before the first note
    for call in libc_shim.read_log(log):
        if call.kind == Kind.NOTE:
            counts.append(0)
        elif call.kind in (Kind.SYNC, Kind.SYNC_ALL):
            counts[-1] += 1
    commits = counts[1::2]
    assert len(commits) == ROUNDS
    # The first one makes the files.
    assert [count <= MOST[files] for count in commits[1:]] == [True] * (ROUNDS - 1), commits
