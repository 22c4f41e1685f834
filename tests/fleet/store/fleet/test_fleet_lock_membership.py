"""How a workspace joins a fleet: one name for all hosts, and nothing of it on one host."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pipimem.settings import FleetSettings
from pipimem.store.fleet.fleet_lock import joined
from pipimem.store.workspace import WorkspaceStore


def test_all_hosts_know_a_workspace_by_one_name(tmp_path: Path) -> None:
    """It is made once; another workspace has another."""
    settings = FleetSettings("postgresql:///nowhere")
    first, second = joined(tmp_path / "a", settings), joined(tmp_path / "a", settings)
    other = joined(tmp_path / "b", settings)
    assert first.name == second.name != other.name


def test_one_host_loads_nothing_of_it(tmp_path: Path) -> None:
    """Neither the client nor the room."""
    WorkspaceStore.init(tmp_path)
    code = (
        "import sys; from pathlib import Path; import pipimem.runtime.pipimem\n"
        "from pipimem.store.channel import ChannelStore\n"
        "from pipimem.store.workspace import WorkspaceStore\n"
        f"store = ChannelStore.open(WorkspaceStore.open(Path({str(tmp_path)!r})), 'a', create=True)\n"
        "store.record_edits(__import__('datetime').datetime.now().astimezone())\n"
        "names = ('psycopg', 'procrastinate', 'pipimem.store.fleet')\n"
        "print([name for name in sys.modules if name.startswith(names)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
