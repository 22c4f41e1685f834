"""A process that believes the system was started again a moment ago."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

# The clock of file times stands still between two ticks of the kernel.
_TICK = 0.012


def rebooted(identity: Path) -> None:
    """From here on, in this process: what lies on the disk is from before the start, what comes is from after it.

    `identity` is a file to hold the name of that start.
    """
    try:
        from pipimem.store.disk import booting
    except ImportError:  # nothing asks for it
        return
    time.sleep(_TICK)
    start = time.time()
    time.sleep(_TICK)
    identity.write_text(f"{time.monotonic_ns():036x}")
    booting._BOOT_ID = identity  # noqa: SLF001 - the file of the kernel that tells the start apart
    booting.time = SimpleNamespace(  # type: ignore[assignment]
        time=time.time, CLOCK_BOOTTIME=7, clock_gettime=lambda _: time.time() - start
    )
