"""Figures of the process that every service has; empty where there is no /proc."""

from __future__ import annotations

import os
import time
from pathlib import Path

from pipimem.runtime.observability import metric_names as names
from pipimem.runtime.observability.exposition import Metric, Samples

_PROC = Path("/proc/self")
# In /proc/self/stat behind the name in brackets: when it began, in ticks since the system did.
_START_FIELD = 19


def families(proc: Path = _PROC) -> list[tuple[Metric, Samples]]:
    """Processor time, memory, open files, and when the process began."""
    figures: list[tuple[Metric, Samples]] = [(names.PROCESS_CPU, {(): time.process_time()})]
    try:
        pages = int((proc / "statm").read_text("ascii").split()[1])
        ticks = int((proc / "stat").read_text("utf-8").rpartition(")")[2].split()[_START_FIELD])
        uptime = float((proc.parent / "uptime").read_text("ascii").split()[0])
        files = len(os.listdir(proc / "fd"))  # noqa: PTH208 - names alone
    except (OSError, ValueError, IndexError):
        return figures
    began = time.time() - uptime + ticks / os.sysconf("SC_CLK_TCK")
    return [
        *figures,
        (names.PROCESS_MEMORY, {(): pages * os.sysconf("SC_PAGE_SIZE")}),
        (names.PROCESS_FILES, {(): files}),
        (names.PROCESS_START, {(): round(began, 2)}),
    ]
