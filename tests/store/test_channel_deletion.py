"""Files of `.pipimem/` are deleted in the middle of a commit."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pipimem.errors import StoreError
from pipimem.notes.kinds import File
from pipimem.notes.operations import Decision
from pipimem.state.channel_state import ChannelState
from pipimem.store.channel import ChannelStore
from pipimem.store.commit import commit, publish
from pipimem.store.workspace import WorkspaceStore

Add = Callable[..., Decision]

STEPS = (
    (commit, "_acknowledged"),
    (publish, "prepare_file"),
    (ChannelState, "append"),
    (commit, "publish"),
    (publish, "_exchange"),
)
# The whole folder, and files of it.
NAMES = ("", "state.db", "lock", "channel.json")
# And these two, one after the other: who repeats the commit is hit again.
PAIRS = product(("state.db", "lock"), ("", "state.db", "lock"))
DELETIONS = (*((name,) for name in NAMES), *PAIRS)


def delete_before(
    patch: pytest.MonkeyPatch, owner: object, step: str, paths: Iterator[Path]
) -> None:
    """Have the next path deleted before each call of a step, while there are any."""
    real = getattr(owner, step)

    def call(*args: Any, **options: Any) -> Any:
        path = next(paths, None)
        if path is not None and path.is_dir():
            shutil.rmtree(path)
        elif path is not None:
            path.unlink(missing_ok=True)
        return real(*args, **options)

    patch.setattr(owner, step, call)


@pytest.mark.parametrize(("owner", "step"), STEPS, ids=[step for _, step in STEPS])
def test_a_commit_outlives_deletions_before_its_steps(
    workspace: WorkspaceStore,
    now: datetime,
    add: Add,
    monkeypatch: pytest.MonkeyPatch,
    owner: object,
    step: str,
) -> None:
    """It raises nothing; its text is in the file once, and stays through the next commit."""
    wrong: list[tuple[object, ...]] = []
    for number, names in enumerate(DELETIONS):
        channel = ChannelStore.open(workspace, f"room{number}", create=True)
        channel.commit(add("alice likes tea"), now)
        paths = iter([channel.folder / ".pipimem" / name for name in names])
        with monkeypatch.context() as patch:
            delete_before(patch, owner, step, paths)
            try:
                channel.commit(add("bob likes milk"), now)
            except StoreError as error:
                wrong.append((names, repr(error)))
                continue
        channel.commit(add("carol likes juice"), now)
        text = channel.folder.joinpath(File.MEMORY).read_text("utf-8")
        counts = [text.count(drink) for drink in ("tea", "milk", "juice")]
        if counts != [1, 1, 1]:
            wrong.append((names, counts))
    assert wrong == []
