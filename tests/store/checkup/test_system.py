"""Disk and kernel, as far as a test can choose them."""

from __future__ import annotations

from pathlib import Path

from pipimem.store.checkup.access import own_access_findings
from pipimem.store.checkup.system import system_findings
from pipimem.store.workspace import WorkspaceStore

from tests.store.conftest import NOW


def test_too_few_watches_are_told(workspace: WorkspaceStore, tmp_path: Path) -> None:
    """One a channel and two above; where the limit is not told there is nothing to say."""
    limit = tmp_path / "limit"
    for name in ("a", "b", "c"):
        (workspace.root / "channels" / name).mkdir(mode=0o700)
    limit.write_text("5\n")
    assert [one.what for one in system_findings(workspace.root, limit) if "inotify" in one.what] == []
    limit.write_text("4\n")
    (finding,) = [one for one in system_findings(workspace.root, limit) if "inotify" in one.what]
    assert (finding.wrong, "5 inotify watches are wanted and 4 allowed" in finding.what) == (False, True)
    assert [one for one in system_findings(workspace.root, tmp_path / "none") if "inotify" in one.what] == []


def test_the_workspace_s_own_state_is_closed_to_others(workspace: WorkspaceStore) -> None:
    """Once others can get there at all."""
    own = workspace.root / ".pipimem"
    own.mkdir(mode=0o755)
    (own / "usage-2026-03.jsonl").touch(0o644)
    workspace.root.chmod(0o700)
    assert list(own_access_findings(workspace.root)) == []
    workspace.root.chmod(0o755)
    (finding,) = own_access_findings(workspace.root)
    assert finding.mend is not None
    assert finding.mend(NOW) == "2 modes set to 0600 and 0700"
    assert list(own_access_findings(workspace.root)) == []
