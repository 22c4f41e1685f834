"""The generated pages of docs/reference are up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_generated_pages_are_up_to_date() -> None:
    """`python docs/generate.py` would change nothing."""
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
