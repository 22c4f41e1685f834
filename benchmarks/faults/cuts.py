"""Power cuts: a real file system on a loop device, its image copied at one instant while a journey
runs, and mounted.

The image lies on an xfs of its own, where a copy shares its blocks and is taken between two writes
(`FICLONE`). So the copy has what the device had been given by then, no more: what was not written
back is gone, as in a power cut. The mount recovers the journal of the file system. Shutting a file
system down (`FS_IOC_SHUTDOWN`) will not do: a sync under way then comes back as done, also for a
program of three lines.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.faults.child import in_child
from benchmarks.faults.injection import prepared
from benchmarks.faults.inspection import Expected, Faulted, expected_of, problems
from benchmarks.faults.journeys import JOURNEYS, LIFE, Journey
from benchmarks.faults.tree import Tree

Tell = Callable[[object, list[str]], None]
SYSTEMS = ("ext4", "xfs")
_CLONE = 0x40049409
# xfs refuses less; images are sparse.
_SIZE = 320 * 1024 * 1024
_ROOM = 4 * _SIZE


def why_not(system: str) -> str:
    """Why this cannot be done here, empty where it can."""
    if os.geteuid() != 0:
        return "a loop device needs root"
    for tool in {f"mkfs.{system}", "mkfs.xfs"}:
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    return (
        ""
        if Path("/dev/loop-control").exists() or Path("/dev/loop0").exists()
        else "there are no loop devices"
    )


def image(path: Path, system: str, size: int) -> Path:
    """An empty file system in a file."""
    with path.open("wb") as file:
        file.truncate(size)
    subprocess.run([f"mkfs.{system}", "-q", str(path)], check=True)
    return path


@contextmanager
def mounted(path: Path, folder: Path) -> Iterator[Path]:
    """The file system of an image, let go of at the end, whatever happened."""
    folder.mkdir(exist_ok=True)
    subprocess.run(
        ["mount", "-o", "loop,nouuid" if _is_xfs(path) else "loop", str(path), str(folder)],
        check=True,
    )
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _is_xfs(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"XFSB"


def cloned(path: Path, to: Path) -> Path:
    """A copy of a file as it is at one instant between two writes to it."""
    with path.open("rb") as old, to.open("wb") as new:
        fcntl.ioctl(new.fileno(), _CLONE, old.fileno())
    return to


def cut_off(system: str, folder: Path, cuts: int, seed: int, tell: Tell) -> None:
    """Cuts the power so often, at random instants of random journeys, and tells what a start finds
    after each.
    """
    chance = random.Random(seed)
    journeys = [LIFE, LIFE, LIFE, *JOURNEYS]
    known: dict[str, tuple[Path, Expected, float]] = {}
    with mounted(
        image(folder / f"{system}-below.img", "xfs", _ROOM), folder / f"{system}-below"
    ) as below:
        for number in range(cuts):
            journey = chance.choice(journeys)
            if journey.name not in known:
                known[journey.name] = _known(journey, system, below, len(known))
            ready, expected, seconds = known[journey.name]
            disk, copy = cloned(ready, below / "disk.img"), below / "copy.img"
            with mounted(disk, below / "disk") as top:
                root = top / "w"
                ended = in_child(
                    lambda say: journey.run(root, say),  # noqa: B023
                    lambda pid: _cut(disk, copy, top, pid, seconds, chance),  # noqa: B023
                )
            with mounted(copy, below / "disk") as top:
                wrong = problems(top / "w", Faulted(journey, expected, ended))
            tell(
                number,
                [
                    f"{system}, cut {number}, {journey.name}, which {ended.how}: {one}"
                    for one in wrong
                ],
            )


def _known(journey: Journey, system: str, below: Path, number: int) -> tuple[Path, Expected, float]:
    """An image with what lies there before the journey, its states, and how long it takes."""
    ready = image(below / f"ready-{number}.img", system, _SIZE)
    with mounted(ready, below / "disk") as top:
        root = top / "w"
        tree: Tree = prepared(journey, root)
        expected = expected_of(journey, tree, root)
        tree.laid(root)
        start = time.monotonic()
        in_child(lambda say: journey.run(root, say))
        seconds = time.monotonic() - start
        tree.laid(root)
    return ready, expected, seconds


def _cut(
    disk: Path, copy: Path, top: Path, pid: int, seconds: float, chance: random.Random
) -> float:
    """Waits for the instant, with a writing back of all before it in every third case; answers with
    it.
    """
    left = chance.random() * seconds
    if chance.random() < 1 / 3:
        early = chance.random() * left
        time.sleep(early)
        _written_back(top)
        left -= early
    time.sleep(max(0.0, left))
    instant = time.monotonic()
    cloned(disk, copy)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return instant


def _written_back(top: Path) -> None:
    """Brings all to the device, as the kernel does of itself every few seconds."""
    descriptor = os.open(top, os.O_RDONLY)
    try:
        ctypes.CDLL(None).syncfs(descriptor)
    finally:
        os.close(descriptor)
