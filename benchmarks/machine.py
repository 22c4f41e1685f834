"""The machine and the versions a figure was measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version


def heading(title: str, *packages: str) -> str:
    """Return a title line and a line that says where it ran."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("pipimem", *packages))
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{title}\n{machine}, Python {platform.python_version()}, {versions}\n"


def quantile(values: list[float], share: float) -> float:
    """Return the value below which that share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
