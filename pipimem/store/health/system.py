"""The disk, the file system and the kernel under a workspace, and background jobs that fail."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pipimem.store.disk import presence
from pipimem.store.disk.mounts import network_type
from pipimem.store.health.finding import Finding, Mend, worth_knowing, wrong
from pipimem.store.job_failures import Problem, Problems
from pipimem.store.workspace import WorkspaceStore

# Below this the next rotation of a log or a few versions may not fit.
_LEAST_FREE = 100 * 1024 * 1024
# A commit makes a handful of files; a new channel about ten.
_LEAST_INODES = 1_000
_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
# One a channel, and two for the folders above them.
_ABOVE = 2


def system_findings(root: Path, limit: Path = _WATCHES) -> Iterator[Finding]:
    """What is to be said about the disk, the file system and the kernel."""
    free = shutil.disk_usage(root).free
    if free < _LEAST_FREE:
        yield wrong(root, f"only {free // 1024 // 1024} MiB are free on this disk; make some room")
    if os.name != "posix":
        return
    room = os.statvfs(root)
    if room.f_files and room.f_favail < _LEAST_INODES:
        yield wrong(root, f"only {room.f_favail} more files fit on this disk (inodes); remove some")
    network = network_type(root)
    if network:
        what = f"lies on a network file system ({network}): an editor at work is not seen there, "
        more = "and locks and watching may not reach other machines; let one machine write"
        yield worth_knowing(root, what + more)
    if not os.access(root, os.W_OK | os.X_OK):
        yield wrong(root, "cannot be written to; check the owner and the mode of the folder")
    top = root / "channels"
    if presence.is_folder(top):
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
    wanted = _ABOVE + sum(1 for path in top.iterdir() if presence.is_folder(path))
    if wanted > most:
        what = f"{wanted} inotify watches are wanted and {most} allowed: edits are found within a "
        more = "minute, not at once; raise fs.inotify.max_user_watches (docs/guide/operating.md)"
        yield worth_knowing(top, what + more)


def background_findings(workspace: WorkspaceStore) -> Iterator[Finding]:
    """One for each job whose last run failed. Raises `StoreError`."""
    for name, problem in workspace.failing():
        where = workspace.channels_folder / problem.channel if problem.channel else workspace.root
        yield wrong(where, problem.sentence(name), _dismissing(workspace.problems, problem))


def _dismissing(problems: Problems, problem: Problem) -> Mend:
    def dismiss(now: datetime) -> str:  # noqa: ARG001 - as `Mend` has it
        problems.remove(problem.job, problem.channel)
        return f"the note that {problem.job} failed was removed; should it fail again, it is back"

    return dismiss
