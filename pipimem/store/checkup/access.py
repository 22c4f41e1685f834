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
    paths = (folder, *_below(folder))
    yield from _links([path for path in paths if path.is_symlink()], folder, root)
    files = [path for path in paths if not path.is_symlink()]
    ours = [path for path in files if _is_ours(path, folder)]
    yield from _to_open(folder, ours)
    if not folder.is_symlink() and not _is_usable(folder):
        yield wrong(
            folder,
            f"we may not read and write it: memory is refused here; chmod u+rwx '{folder}', or accept that",
        )
    for path in files:
        if path.name in _NOTES and not path.lstat().st_mode & stat.S_IWUSR:
            yield wrong(
                path,
                "is read-only: what memory wants to write there is refused; chmod u+w it, or accept that",
            )
    open_to_others = [path for path in files if _is_open(path, root)]
    yield from _to_close(folder, [path for path in open_to_others if _is_ours(path, folder)])
    for path in open_to_others:
        if path.name in _NOTES and path.parent == folder:
            yield worth_knowing(path, f"other users may read it; chmod 600 '{path}' keeps them out")


def own_access_findings(root: Path) -> Iterator[Finding]:
    """The same for the workspace's own state."""
    own = root / ".pipimem"
    paths = (own, *_below(own)) if os.path.lexists(own) else ()
    yield from _links([path for path in paths if path.is_symlink()], root, root)
    files = [path for path in paths if not path.is_symlink()]
    yield from _to_open(own, files)
    yield from _to_close(own, [path for path in files if _is_open(path, root)])


def _below(folder: Path) -> list[Path]:
    """What lies below a folder, as far as folders let us in."""
    return [path for path in sorted(folder.rglob("*")) if os.access(path.parent, os.X_OK)]


def _links(links: list[Path], folder: Path, root: Path) -> Iterator[Finding]:
    for path in links:
        try:
            target = real_path(path)
        except UnreadableNote as error:
            yield wrong(path, str(error))
            continue
        if not target.is_relative_to(root.resolve()):
            yield wrong(
                path, f"a link that leads out of the workspace, to {target}; put a real file there"
            )
        elif _is_ours(path, folder) and not target.is_dir():
            yield wrong(
                path,
                "is a link, where a file of ours belongs. Move it away; a new file is made where needed",
            )


def _to_open(folder: Path, ours: list[Path]) -> Iterator[Finding]:
    """What is ours and may not be used by us; what lies in a folder that lets nobody in is not seen yet."""
    shut = [path for path in ours if not _is_usable(path)]
    if shut:
        what = f"{len(shut)} of our files and folders may not be read and written by us; chmod u+rwX '{shut[0]}'"
        yield wrong(folder, what, _with_our_modes(shut))


def _is_usable(path: Path) -> bool:
    """Whether the file is its owner's to read and write, and we are the owner, or may do as much."""
    if path.is_dir():
        owners, ours = stat.S_IRWXU, os.R_OK | os.W_OK | os.X_OK
    else:
        owners, ours = stat.S_IRUSR | stat.S_IWUSR, os.R_OK | os.W_OK
    return path.lstat().st_mode & owners == owners and os.access(path, ours)


def _to_close(folder: Path, ours: list[Path]) -> Iterator[Finding]:
    if ours:
        yield worth_knowing(
            folder,
            f"{len(ours)} of our files and folders are open to other users",
            _with_our_modes(ours),
        )


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


def _with_our_modes(paths: list[Path]) -> Mend:
    def change(now: datetime) -> str:  # noqa: ARG001 - a mending's signature
        found = [path for path in paths if path.exists()]  # another mending may have swept some
        for path in found:
            with told("change the mode of", path):
                path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)
        return f"{len(found)} modes set to 0600 and 0700"

    return change
