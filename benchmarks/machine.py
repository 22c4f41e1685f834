"""The machine and the versions a figure was measured on, and what a process used."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path


def heading(title: str, *packages: str) -> str:
    """Return a title line and a line that says where it ran."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("pipimem", *packages))
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{title}\n{machine}, Python {platform.python_version()}, {versions}\n"


def quantile(values: list[float], share: float) -> float:
    """Return the value below which that share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def cpu(process: int) -> float:
    """Return the seconds of processor time of a process so far, its threads included."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb(process: int) -> float:
    """Return the most resident memory that a process had, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6
