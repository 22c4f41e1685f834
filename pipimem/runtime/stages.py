"""What a recall did and how long each step took, as one line on standard error where PIPIMEM_DEBUG=1 asks for it."""

from __future__ import annotations

import os
import sys
import time

from pipimem.recall.recalling import Recall


def may_tell() -> bool:
    """Whether every recall is to tell what it did."""
    return os.environ.get("PIPIMEM_DEBUG", "") not in ("", "0")


def may_go_by_meaning() -> bool:
    """Whether an embedder may be asked at all: PIPIMEM_SEARCH=keyword says no."""
    return os.environ.get("PIPIMEM_SEARCH", "").strip().casefold() != "keyword"


class Stages:
    """The steps of one recall, each with its milliseconds; called with a step's name when that is done."""

    def __init__(self) -> None:
        self._since = time.perf_counter()
        self._told: list[str] = []

    def __call__(self, name: str) -> None:
        """A step is done; it began when the one before it was."""
        now = time.perf_counter()
        self._told.append(f"{name} {(now - self._since) * 1000:.2f}")
        self._since = now

    def tell(self, channel: str, found: Recall, *, hit: bool) -> None:
        """Write the line. What was asked is not in it: logs are read by more people than memories are."""
        steps = ", ".join(self._told)
        why = f", {found.reason}" if found.reason else ""
        sys.stderr.write(
            f"pipimem recall {channel!r}: cache {'hit' if hit else 'miss'}; ms: {steps}; "
            f"{len(found.candidates)} candidates, {len(found.injected)} injected, {found.left_out} left out{why}\n"
        )
