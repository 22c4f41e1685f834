"""A disk that runs full: a small file system in memory with room for so many pages, or so many
files, and no more.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.faults.child import in_child
from benchmarks.faults.injection import prepared
from benchmarks.faults.inspection import Faulted, expected_of, misbehaved, problems
from benchmarks.faults.journeys import Journey
from benchmarks.faults.tree import Tree

Tell = Callable[[object, list[str]], None]
_SIZE, _FILES = "4m", 600
# More than any journey needs.
_MOST = 160


def why_not() -> str:
    """Why this cannot be done here, empty where it can."""
    return "" if os.geteuid() == 0 else "mounting a small disk needs root"


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 4 MiB and 600 files, gone at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={_SIZE},nr_inodes={_FILES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def filled(journey: Journey, disk: Path, every: int, tell: Tell) -> None:
    """Lets a journey happen with room for 0, 1, 2 … pages, then with room for so many files, until
    it has enough.
    """
    root = disk / "w"
    tree = prepared(journey, root)
    expected = expected_of(journey, tree, root)
    for fill, what in ((_fill_pages, "pages"), (_fill_names, "files")):
        for left in range(0, _MOST, every):
            tree.laid(root)
            ballast = fill(disk, left)
            ended = in_child(lambda say: journey.run(root, say))
            for path in ballast:
                path.unlink()
            faulted = Faulted(journey, expected, ended, not journey.goes_on)
            wrong = [*misbehaved(ended), *problems(root, faulted)]
            tell(
                (what, left),
                [
                    f"{journey.name}, room for {left} {what}, which {ended.how}: {one}"
                    for one in wrong
                ],
            )
            if ended.how == "done" and not journey.goes_on:
                break
    Tree((), ()).laid(root)


def _fill_pages(disk: Path, left: int) -> list[Path]:
    status, ballast = os.statvfs(disk), disk / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, (status.f_bavail - left) * status.f_bsize)
    return [ballast]


def _fill_names(disk: Path, left: int) -> list[Path]:
    names = [disk / f"ballast-{number}" for number in range(os.statvfs(disk).f_ffree - left)]
    for name in names:
        name.touch()
    return names
