"""The workspace: made, found, listed, and what models cost in it."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest
from pipimem import resources
from pipimem.errors import StoreError, WorkspaceError
from pipimem.notes.usage import Usage
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore


def usage(time: str, **other: object) -> Usage:
    """A call of a model."""
    return Usage(time, "team", "consolidate", "m", 10, 5, 0, None, 0.5, "ok", "c1", **other)  # type: ignore[arg-type]


def test_a_new_workspace_is_the_template(tmp_path: Path) -> None:
    """Every file of it, and the folders it needs."""
    created = WorkspaceStore.init(tmp_path / "bot")
    assert {path.name for path in created} >= {"SOUL.md", "AGENTS.md", "MEMORY.md", "pipimem.toml"}
    assert WorkspaceStore.open(tmp_path / "bot").channels() == ()


def test_a_file_that_cannot_be_finished_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of SOUL.md would stay for ever: `init` never overwrites."""
    root = tmp_path / "bot"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="Free some space"):
        WorkspaceStore.init(root)
    monkeypatch.undo()
    assert list(root.iterdir()) == []
    assert {path.name for path in WorkspaceStore.init(root)} == {
        name for name, _ in resources.template()
    }


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """`init` in a workspace only adds what is not there."""
    WorkspaceStore.init(tmp_path)
    (tmp_path / "SOUL.md").write_text("mine")
    (tmp_path / "AGENTS.md").unlink()
    assert WorkspaceStore.init(tmp_path) == (tmp_path / "AGENTS.md",)
    assert (tmp_path / "SOUL.md").read_text() == "mine"


@pytest.mark.parametrize("name", ["", "nowhere"])
def test_a_folder_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    """The sentence says how to make one."""
    with pytest.raises(WorkspaceError, match="pipimem init"):
        WorkspaceStore.open(tmp_path / name)


@pytest.mark.parametrize("sign", ["channels", ".pipimem"])
def test_a_folder_with_channels_is_one(tmp_path: Path, sign: str) -> None:
    """Settings are optional."""
    (tmp_path / sign).mkdir()
    assert WorkspaceStore.open(tmp_path).root == tmp_path


def test_channels_are_listed_by_their_true_id(
    workspace: WorkspaceStore, channel: ChannelStore
) -> None:
    """Folders people made count under their name; what is no channel does not."""
    ChannelStore.open(workspace, "Team/1", create=True, title="one")
    for name in ("by-hand", "Not Plain", ".hidden"):
        (workspace.root / "channels" / name).mkdir()
    (workspace.root / "channels" / "file").write_text("")
    assert [(info.id, info.kind, info.title) for info in workspace.channels()] == [
        ("Team/1", "group", "one"),
        ("by-hand", "group", ""),
        ("team", "group", "The team"),
    ]


def test_what_people_wrote_is_read(workspace: WorkspaceStore) -> None:
    """SOUL, AGENTS and the shared memory; absent is empty."""
    assert (workspace.human_text("SOUL.md"), workspace.human_text("pipimem.toml")) == ("", "")
    (workspace.root / "MEMORY.md").write_text("shared")
    assert workspace.human_text("MEMORY.md") == "shared"


def test_usage_comes_back_by_time(workspace: WorkspaceStore) -> None:
    """Unknown cost is none, never zero."""
    calls = [usage("2026-02-28T23:00:00+08:00"), usage("2026-03-01T09:00:00+08:00", reason="超时")]
    for call in calls:
        workspace.usage_store.append(call)
    assert workspace.usages() == calls
    assert workspace.usages(datetime.fromisoformat("2026-02-28T16:00:00+00:00")) == calls[1:]
    assert workspace.usages(datetime.fromisoformat("2026-03-01T00:30:00+14:00")) == calls


def test_usage_of_two_processes_is_whole(workspace: WorkspaceStore) -> None:
    """One write a line: nothing is torn, nothing lost."""
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            for _ in range(100):
                workspace.usage_store.append(usage("2026-03-01T09:00:00+08:00"))
            os._exit(0)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    assert len(list(workspace.usages())) == 300
