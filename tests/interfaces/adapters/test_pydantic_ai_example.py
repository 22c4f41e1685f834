"""The agent of examples/agents/pydantic_agent.py, run with the command that it names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_example_remembers_in_the_next_session(tmp_path: Path) -> None:
    """What was said before the session ended is given to the model of the next one."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "agents" / "pydantic_agent.py", tmp_path / "new"],
        capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert "pipi: I remember: - Dana (" in done.stdout
    assert "I'm allergic to peanuts" in done.stdout.splitlines()[-2]
    (channel,) = (tmp_path / "new" / "channels").iterdir()
    memory = (channel / "MEMORY.md").read_text(encoding="utf-8")
    assert "I'm allergic to peanuts" in memory
