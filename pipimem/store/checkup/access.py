"""Who may read and write the files of a channel, and where links lead."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pipimem.errors import UnreadableNote
from pipimem.notes.files import File
from pipimem.store.checkup.finding import Finding, Mend, worth_knowing, wrong
from pipimem.store.disk.calls import FILE_MODE, FOLDER_MODE, told
from pipimem.store.disk.files import real_path

_OTHERS = 0o077
_NOTES = frozenset(str(file) for file in File)


def access_findings(folder: Path, root: Path) -> Iterator[Finding]:
    """All there is to say about modes and links in a channel's folder."""
    open_to_others: list[Path] = []
    for path in (folder, *sorted(folder.rglob("*"))):
        if path.is_symlink():
            yield from _link(path, root)
            continue
        if path.name in _NOTES and not path.lstat().st_mode & stat.S_IWUSR:
            yield wrong(path, "is read-only: what memory wants to write there is refused; chmod u+w it, or accept that")
        if _is_open(path, root):
            open_to_others.append(path)
    yield from _to_close(folder, [path for path in open_to_others if _is_ours(path, folder)])
    for path in open_to_others:
        if path.name in _NOTES and path.parent == folder:
            yield worth_knowing(path, f"other users may read it; chmod 600 '{path}' keeps them out")


def _link(path: Path, root: Path) -> Iterator[Finding]:
    try:
        target = real_path(path)
    except UnreadableNote as error:
        yield wrong(path, str(error))
        return
    if not target.is_relative_to(root.resolve()):
        yield wrong(path, f"a link that leads out of the workspace, to {target}; put a real file there")


def own_access_findings(root: Path) -> Iterator[Finding]:
    """The same for the workspace's own state."""
    own = root / ".pipimem"
    paths = [path for path in (own, *own.rglob("*")) if path.exists() and not path.is_symlink()]
    yield from _to_close(own, [path for path in paths if _is_open(path, root)])


def _to_close(folder: Path, ours: list[Path]) -> Iterator[Finding]:
    if ours:
        yield worth_knowing(folder, f"{len(ours)} of our files and folders are open to other users", _closing(ours))


def _is_ours(path: Path, folder: Path) -> bool:
    """Logs and `.pipimem/`. The mode of a note is people's: they may share it."""
    inside = path.relative_to(folder).parts
    return bool(inside) and (inside[0] == ".pipimem" or path.name.startswith("log"))


def _is_open(path: Path, root: Path) -> bool:
    """Whether others may do something with a file and get there at all: every folder above, up to the workspace, lets
    them through."""
    if os.name != "posix" or not path.lstat().st_mode & _OTHERS:
        return False
    above = [parent for parent in path.parents if parent == root or root in parent.parents]
    return all(parent.stat().st_mode & 0o011 for parent in above)


def _closing(paths: list[Path]) -> Mend:
    def close(now: datetime) -> str:  # noqa: ARG001 - a mending's signature
        found = [path for path in paths if path.exists()]  # another mending may have swept some
        for path in found:
            with told("change the mode of", path):
                path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)
        return f"{len(found)} modes set to 0600 and 0700"

    return close
