"""Lines on standard error about what the server does, where PIPIMEM_DEBUG is set."""

from __future__ import annotations

import os
import sys


def debug_line(text: str) -> None:
    """Writes a line; it says nothing of what was asked or answered."""
    if os.environ.get("PIPIMEM_DEBUG", "") not in ("", "0"):
        sys.stderr.write(f"pipimem mcp {text}\n")
