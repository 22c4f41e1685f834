"""Disk and kernel, as far as a test can choose them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from pipimem.store.health import system
from pipimem.store.health.system import own_access_findings, system_findings
from pipimem.store.workspace import WorkspaceStore

from tests.store.conftest import NOW


def test_too_few_watches_are_told(workspace: WorkspaceStore, tmp_path: Path) -> None:
    """One a channel and two above; where the limit is not told there is nothing to say."""
    limit = tmp_path / "limit"
    for name in ("a", "b", "c"):
        (workspace.root / "channels" / name).mkdir(mode=0o700)
    limit.write_text("5\n")
    assert [
        one.what for one in system_findings(workspace.root, limit) if "inotify" in one.what
    ] == []
    limit.write_text("4\n")
    (finding,) = [one for one in system_findings(workspace.root, limit) if "inotify" in one.what]
    assert (finding.wrong, "5 inotify watches are wanted and 4 allowed" in finding.what) == (
        False,
        True,
    )
    assert [
        one for one in system_findings(workspace.root, tmp_path / "none") if "inotify" in one.what
    ] == []


def test_a_nearly_full_disk_is_told(
    workspace: WorkspaceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In bytes and in files; with room for both there is nothing to say."""
    room = os.statvfs(workspace.root)
    usage = shutil.disk_usage(workspace.root)

    def told(free: int, files: int) -> list[str]:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free))
        fields = {"f_files": 10_000, "f_favail": files}
        monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=room.f_flag, **fields))
        return [one.what for one in system_findings(workspace.root) if one.wrong]

    mib = 1024 * 1024
    assert told(100 * mib, 1_000) == []
    assert told(99 * mib, 1_000) == ["only 99 MiB are free on this disk; make some room"]
    assert told(100 * mib, 999) == ["only 999 more files fit on this disk (inodes); remove some"]


def test_a_network_file_system_is_told(
    workspace: WorkspaceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is wrong with it, but one machine should write."""
    monkeypatch.setattr(system, "network_type", lambda _: "nfs4")
    found = [one for one in system_findings(workspace.root) if "nfs4" in one.what]
    assert [(one.wrong, one.where) for one in found] == [(False, str(workspace.root))]


def test_the_workspace_s_own_state_is_closed_to_others(workspace: WorkspaceStore) -> None:
    """Once others can get there at all."""
    own = workspace.root / ".pipimem"
    own.mkdir(mode=0o755)
    (own / "state.db").touch(0o644)
    workspace.root.chmod(0o700)
    assert list(own_access_findings(workspace.root)) == []
    workspace.root.chmod(0o755)
    (finding,) = own_access_findings(workspace.root)
    assert finding.mend is not None
    assert finding.mend(NOW) == "2 modes set to 0600 and 0700"
    assert list(own_access_findings(workspace.root)) == []
