"""Workspaces and channels in a temporary folder, and decisions to commit to them."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Add, Author, Decision, Evidence, Progress, Trust
from pipimem.store.channel import ChannelStore
from pipimem.store.disk import editor_saves
from pipimem.store.workspace import WorkspaceStore

NOW = datetime(2026, 3, 2, 9, 10, tzinfo=timezone(timedelta(hours=8)))


@pytest.fixture
def now() -> datetime:
    """A Monday morning in Shanghai."""
    return NOW


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for an editor who is saving: the time for it is over at once."""
    monkeypatch.setattr(editor_saves, "save_deadline", time.monotonic)


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceStore:
    """A workspace with nothing but its folders."""
    (tmp_path / "bot" / "channels").mkdir(parents=True)
    return WorkspaceStore.open(tmp_path / "bot")


@pytest.fixture
def channel(workspace: WorkspaceStore) -> ChannelStore:
    """A new channel."""
    return ChannelStore.open(workspace, "team", create=True, kind="group", title="The team")


@pytest.fixture
def add() -> Callable[..., Decision]:
    """Makes a decision that adds facts to MEMORY.md."""

    def decision(*texts: str, **progress: int) -> Decision:
        evidence = Evidence(("m1",), 1, "alice", NOW)
        facts = tuple(Add(Kind.FACT, text, Trust.INFERRED, evidence) for text in texts)
        return Decision("consolidate", Author.MODEL, facts, Progress(**progress))  # type: ignore[arg-type]

    return decision
