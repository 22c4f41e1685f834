"""Lines on standard error for whoever looks for a fault, where PIPIMEM_DEBUG is set."""

from __future__ import annotations

import os
import sys
import time

from pipimem.recall.recall import Recall


def is_debugging() -> bool:
    """Whether PIPIMEM_DEBUG asks for such lines."""
    return os.environ.get("PIPIMEM_DEBUG", "") not in ("", "0")


def debug_line(text: str) -> None:
    """Writes a line, if one is asked for; it says nothing of what was asked or answered."""
    if is_debugging():
        sys.stderr.write(f"pipimem {text}\n")


def timings_wanted(looked: float) -> Timings | None:
    """Timings that begin now, where they are asked for; `looked` is in seconds."""
    return Timings(looked) if is_debugging() else None


class Timings:
    """The steps of one recall with their milliseconds; call it when a step is done."""

    def __init__(self, looked: float) -> None:
        self._since = time.perf_counter()
        self._steps = [f"look {looked * 1000:.2f}"]

    def __call__(self, name: str) -> None:
        """A step is done; it began when the one before it was."""
        now = time.perf_counter()
        self._steps.append(f"{name} {(now - self._since) * 1000:.2f}")
        self._since = now

    def write(self, channel: str, found: Recall) -> None:
        """Writes the line of a recall."""
        steps = ", ".join(self._steps)
        why = f", {found.reason}" if found.reason else ""
        debug_line(
            f"recall {channel!r}: ms: {steps}; {len(found.candidates)} candidates, "
            f"{len(found.injected)} injected, {found.left_out} left out{why}"
        )
