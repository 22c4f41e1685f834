"""What the system gives a workspace: room on the disk, a file system that tells, watches enough."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from pipimem.store.checkup.finding import Finding, worth_knowing, wrong
from pipimem.store.disk.mounts import network_type

# Below this the next rotation of a log or a few versions may not fit.
_LEAST_FREE = 100 * 1024 * 1024
# A commit makes a handful of files; a new channel about ten.
_LEAST_INODES = 1_000
_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
# One a channel, and two for the folders above them.
_ABOVE = 2


def system_findings(root: Path, limit: Path = _WATCHES) -> Iterator[Finding]:
    """All there is to say about the disk and the kernel."""
    free = shutil.disk_usage(root).free
    if free < _LEAST_FREE:
        yield wrong(root, f"only {free // 1024 // 1024} MiB are free on this disk; make some room")
    if os.name != "posix":
        return
    room = os.statvfs(root)
    if room.f_files and room.f_favail < _LEAST_INODES:
        yield wrong(root, f"only {room.f_favail} more files fit on this disk (inodes); remove some")
    if network := network_type(root):
        what = f"lies on a network file system ({network}): an editor at work is not seen there, and locks and "
        yield worth_knowing(
            root, what + "watching may not reach other machines; let one machine write"
        )
    if not os.access(root, os.W_OK | os.X_OK):
        yield wrong(root, "cannot be written to; check the owner and the mode of the folder")
    top = root / "channels"
    if top.is_dir():
        if root.stat().st_mode & 0o077 and top.stat().st_mode & 0o077:
            yield worth_knowing(
                top, f"other users may look into it; chmod 700 '{top}' keeps them out"
            )
        yield from _watches(top, limit)


def _watches(top: Path, limit: Path) -> Iterator[Finding]:
    try:
        most = int(limit.read_text(encoding="ascii"))
    except (OSError, ValueError):  # not Linux
        return
    wanted = _ABOVE + sum(1 for path in top.iterdir() if path.is_dir())
    if wanted > most:
        what = f"{wanted} inotify watches are wanted and {most} allowed: edits are found within a minute, not at once; "
        yield worth_knowing(top, what + "raise fs.inotify.max_user_watches (docs/OPERATING.md)")
