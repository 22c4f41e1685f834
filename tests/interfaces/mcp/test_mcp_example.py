"""The client of examples/mcp_client.py, run with the command that it names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.interfaces.mcp.building import ROOT, environment


def test_the_example_saves_finds_and_reads(tmp_path: Path) -> None:
    """A workspace is made on the way."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "mcp_client.py", tmp_path / "workspace"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "memory_search (reads only)"
    assert "We never deploy on Fridays" in lines[5]
    assert "## Constraints" in lines
