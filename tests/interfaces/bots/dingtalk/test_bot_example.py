"""examples/dingtalk_bot.py, run as examples/README.md says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[4] / "examples"


def test_the_example_tells_what_was_agreed(workspace: Path) -> None:
    """The group's rule comes back to somebody else, and stands in the file."""
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / "dingtalk_bot.py"), str(workspace)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    asked = ran.stdout.split("Dana: 周五可以发布吗？\n")[1]
    assert "周五不许发布" in asked.split("Dana: /memory")[0]
    assert "周五不许发布" in asked.split("**MEMORY.md**")[1]
    (memory,) = workspace.glob("channels/*/MEMORY.md")
    assert "周五不许发布" in memory.read_text("utf-8")
