"""The disk, the file system and the kernel under a workspace, and background jobs that fail."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pipimem.errors import UnreadableNote
from pipimem.notes.kinds import File
from pipimem.state.schedule import Problem
from pipimem.store.disk import presence
from pipimem.store.disk.files import astray, real_path
from pipimem.store.disk.syscalls import FILE_MODE, FOLDER_MODE, network_type, store_errors
from pipimem.store.health.finding import Finding, Mend, worth_knowing, wrong
from pipimem.store.job_failures import Problems
from pipimem.store.workspace import WorkspaceStore

_OTHERS = 0o077
_NOTES = frozenset(str(file) for file in File)


def access_findings(folder: Path, root: Path) -> Iterator[Finding]:
    """What is to be said about modes and links in a channel's folder."""
    paths = (folder, *_below(folder))
    yield from _findings(folder, paths, [path for path in paths if _is_ours(path, folder)], root)
    if not presence.is_link(folder) and not _is_usable(folder):
        what = "pipimem cannot read or write this folder, so this channel has no memory. "
        yield wrong(folder, f"{what}Run: chmod u+rwx '{folder}', or accept that")
    for path in map(folder.joinpath, sorted(_NOTES)):
        if presence.is_file(path) and not presence.is_link(path):
            yield from _note_findings(path, root)


def _note_findings(path: Path, root: Path) -> Iterator[Finding]:
    if not path.lstat().st_mode & stat.S_IWUSR:
        what = "is read-only, so pipimem cannot write to it. "
        yield wrong(path, f"{what}Run: chmod u+w '{path}', or accept that")
    if not _is_writable_by_all(path) and _is_open(path, root):
        yield worth_knowing(path, f"other users may read it; chmod 600 '{path}' keeps them out")
    yield from writable_findings(path, root)


def writable_findings(path: Path, root: Path) -> Iterator[Finding]:
    """Return the finding about a text of people's to which every user of the machine may write.

    What it says reaches the bot. It is no problem while a folder above keeps other users out.
    """
    if not presence.is_file(path) or presence.is_link(path) or not _is_writable_by_all(path):
        return

    def close(now: datetime) -> str:  # noqa: ARG001 - as `Mend` has it
        with store_errors("change the mode of", path):
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~stat.S_IWOTH)
        return "other users may no longer write to it"

    what = f"by its mode every user may write to it; chmod o-w '{path}' keeps them out"
    yield Finding(_is_open(path, root), str(path), what, close)


def own_access_findings(root: Path) -> Iterator[Finding]:
    """What is to be said about modes and links in the workspace's `.pipimem/`."""
    own = root / ".pipimem"
    paths = (own, *_below(own)) if os.path.lexists(own) else ()
    yield from _findings(own, paths, paths, root)


def _findings(
    folder: Path, paths: Sequence[Path], ours: Sequence[Path], root: Path
) -> Iterator[Finding]:
    """Links that lead astray, and what of ours is shut to us or open to others."""
    for path in paths:
        # The check of a note's text reports its link.
        is_note = path.parent == folder and path.name in _NOTES
        if presence.is_link(path) and not is_note:
            yield from _link(path, path in ours, root)
    yield from _modes(folder, [path for path in ours if not presence.is_link(path)], root)


def _modes(folder: Path, files: Sequence[Path], root: Path) -> Iterator[Finding]:
    # What lies in a folder that lets nobody in is not seen yet.
    shut = [path for path in files if not _is_usable(path)]
    if shut:
        what = f"{len(shut)} of our files and folders may not be read and written by us; "
        yield wrong(folder, f"{what}chmod u+rwX '{shut[0]}'", _with_our_modes(shut))
    is_open = [path for path in files if _is_open(path, root)]
    if is_open:
        what = f"{len(is_open)} of our files and folders are open to other users"
        yield worth_knowing(folder, what, _with_our_modes(is_open))


def _below(folder: Path) -> list[Path]:
    """What lies below a folder, as far as folders let us in."""
    return [path for path in sorted(folder.rglob("*")) if os.access(path.parent, os.X_OK)]


def _link(path: Path, is_ours: bool, root: Path) -> Iterator[Finding]:
    try:
        target = real_path(path)
    except UnreadableNote as error:
        yield wrong(path, str(error))
        return
    place = astray(path, target, root)
    if place:
        yield wrong(path, f"a link that leads {place}; put a real file there")
    elif is_ours and not presence.is_folder(target):
        what = "is a link, where a file of ours belongs. Move it away; "
        yield wrong(path, f"{what}a new file is made where needed")


def _is_usable(path: Path) -> bool:
    """Whether its mode lets the owner read and write it, and we may do so."""
    if presence.is_folder(path):
        owners, ours = stat.S_IRWXU, os.R_OK | os.W_OK | os.X_OK
    else:
        owners, ours = stat.S_IRUSR | stat.S_IWUSR, os.R_OK | os.W_OK
    return path.lstat().st_mode & owners == owners and os.access(path, ours)


def _is_ours(path: Path, folder: Path) -> bool:
    """Logs and `.pipimem/`. The mode of a note is people's: they may share it."""
    inside = path.relative_to(folder).parts
    return bool(inside) and (inside[0] == ".pipimem" or path.name.startswith("log"))


def _is_open(path: Path, root: Path) -> bool:
    """Whether other users may use a file, and the folders above let them in."""
    if os.name != "posix" or not path.lstat().st_mode & _OTHERS:
        return False
    above = [parent for parent in path.parents if parent == root or root in parent.parents]
    return all(parent.stat().st_mode & 0o011 for parent in above)


def _is_writable_by_all(path: Path) -> bool:
    return os.name == "posix" and bool(path.lstat().st_mode & stat.S_IWOTH)


def _with_our_modes(paths: list[Path]) -> Mend:
    def change(now: datetime) -> str:  # noqa: ARG001 - a mending's signature
        # Another mending may have swept some.
        found = [path for path in paths if presence.exists(path)]
        for path in found:
            with store_errors("change the mode of", path):
                path.chmod(FOLDER_MODE if presence.is_folder(path) else FILE_MODE)
        return f"{len(found)} modes set to 0600 and 0700"

    return change


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
