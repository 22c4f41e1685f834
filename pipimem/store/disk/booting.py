"""Which start of the system this is, and what was last changed before it: a power cut may have torn that.

A text that was not synced survives the end of its process, but not the end of the system. Afterwards its file may
hold an older text, the beginning of the new one, or nothing.
"""

from __future__ import annotations

import time
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_DIGITS = 8


def boot_id() -> str:
    """Some digits that no two starts of this system share, empty where the system does not tell."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").replace("-", "")[:_DIGITS]
    except (OSError, UnicodeDecodeError):
        return ""


def is_from_before(path: Path) -> bool:
    """Whether a file was last changed, or given its name, before the system was started; a copy of it was not."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    if boottime is None:
        return False
    try:
        changed = path.stat().st_ctime
    except FileNotFoundError:  # whoever removed it may have done so at any time
        return False
    # Both from the wall clock: where it was set right since the start, files are older by as much.
    return changed < time.time() - time.clock_gettime(boottime)
