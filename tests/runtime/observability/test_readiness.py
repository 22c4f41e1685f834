"""A process is ready while it can do its work."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from pipimem import Pipimem
from pipimem.runtime.observability.readiness import Readiness

from tests.runtime.building import settings, workspace

pytestmark = pytest.mark.anyio


async def test_from_start_to_end(tmp_path: Path) -> None:
    """Neither before the start nor after the end."""
    pipimem = Pipimem(workspace(tmp_path), "offline", settings=settings())
    readiness = Readiness(pipimem)
    assert readiness.problem() == "the runtime is starting, or has ended"
    await pipimem.start()
    assert readiness.problem() == ""
    await pipimem.aclose()
    assert readiness.problem() == "the runtime is starting, or has ended"


async def test_a_workspace_that_is_gone_full_or_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is a sentence without a path."""
    root = workspace(tmp_path)
    async with Pipimem(root, "offline", settings=settings()) as pipimem:
        readiness = Readiness(pipimem)
        with monkeypatch.context() as patch:
            full = SimpleNamespace(f_bavail=10, f_frsize=4096)
            patch.setattr(os, "statvfs", lambda _: full)
            assert readiness.problem() == "the disk is full"
        with monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda *_: False)
            assert readiness.problem() == "the workspace cannot be written"
        root.rename(tmp_path / "elsewhere")
        assert readiness.problem() == "the workspace is not there"
        (tmp_path / "elsewhere").rename(root)
        assert readiness.problem() == ""


async def test_what_a_command_needs_besides(tmp_path: Path) -> None:
    """A bot without a connection is not ready."""
    problems = ["there is no Stream connection"]
    async with Pipimem(workspace(tmp_path), "offline", settings=settings()) as pipimem:
        readiness = Readiness(pipimem, lambda: "", lambda: problems[0])
        assert readiness.problem() == "there is no Stream connection"
        problems[0] = ""
        assert readiness.problem() == ""
