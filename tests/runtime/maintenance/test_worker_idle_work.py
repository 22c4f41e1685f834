"""Who does the idle work; on one host nothing of a fleet is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pipimem import Pipimem
from pipimem.errors import WorkspaceError
from pipimem.store.workspace import WorkspaceStore

_TURN = """
import sys
import anyio
from pipimem import Message, Pipimem

async def main():
    async with Pipimem(sys.argv[1], "offline") as pipimem:
        channel = await pipimem.channel("room")
        turn = await channel.before_turn("hello")
        await channel.after_turn(turn, [Message.user("hello"), Message.assistant("hi")])
        await channel.remember("the kettle is in the small kitchen")

anyio.run(main)
beginnings = ("psycopg", "procrastinate", "pipimem.store.fleet", "pipimem.runtime.fleet",
              "pipimem.store.transcript.spool")
print([name for name in sys.modules if name.startswith(beginnings)])
"""


def test_on_one_host_nothing_of_a_fleet_is_loaded(tmp_path: Path) -> None:
    """Neither with the import nor by a turn and a commit."""
    WorkspaceStore.init(tmp_path / "bot")
    command = [sys.executable, "-c", _TURN, str(tmp_path / "bot")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.anyio
async def test_a_worker_of_a_fleet_needs_a_fleet(tmp_path: Path) -> None:
    """It says which setting is missing."""
    WorkspaceStore.init(tmp_path / "bot")
    with pytest.raises(WorkspaceError, match=r"set database under \[fleet\]"):
        await Pipimem(tmp_path / "bot", "offline").watch(fleet=True)
