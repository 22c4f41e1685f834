"""What each step of a recall took, on standard error where PIPIMEM_DEBUG is set."""

from __future__ import annotations

import os
import sys
import time

from pipimem.recall.recall import Recall


def timings_wanted(looked: float) -> Timings | None:
    """Timings that begin now, where PIPIMEM_DEBUG asks for them; `looked` is in seconds."""
    if os.environ.get("PIPIMEM_DEBUG", "") in ("", "0"):
        return None
    return Timings(looked)


class Timings:
    """The steps of one recall with their milliseconds; call it when a step is done."""

    def __init__(self, looked: float) -> None:
        self._since = time.perf_counter()
        self._told = [f"look {looked * 1000:.2f}"]

    def __call__(self, name: str) -> None:
        """A step is done; it began when the one before it was."""
        now = time.perf_counter()
        self._told.append(f"{name} {(now - self._since) * 1000:.2f}")
        self._since = now

    def tell(self, channel: str, found: Recall) -> None:
        """Write the line to standard error, without the query."""
        steps = ", ".join(self._told)
        why = f", {found.reason}" if found.reason else ""
        sys.stderr.write(
            f"pipimem recall {channel!r}: ms: {steps}; {len(found.candidates)} candidates, "
            f"{len(found.injected)} injected, {found.left_out} left out{why}\n"
        )
