"""Power cuts: a real file system on a loop device, shut down in the middle without a word, mounted again and looked at.

The shutdown is that of the kernel's own crash tests (`FS_IOC_SHUTDOWN` without flushing the log): from that instant nothing
reaches the device any more, and what was not synced is gone. The next mount recovers the file system's journal.
"""

from __future__ import annotations

import array
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
from benchmarks.faults.inspection import Expected, Faulted, expected_of, misbehaved, problems
from benchmarks.faults.journeys import JOURNEYS, LIFE, Journey
from benchmarks.faults.tree import Tree

Tell = Callable[[object, list[str]], None]
SYSTEMS = ("ext4", "xfs")
_SHUTDOWN = 0x8004587D
_WITHOUT_LOG = 2
# xfs refuses less; the image is sparse.
_SIZE = 320 * 1024 * 1024


def why_not(system: str) -> str:
    """Why this cannot be done here, empty where it can."""
    if os.geteuid() != 0:
        return "a loop device needs root"
    if shutil.which(f"mkfs.{system}") is None:
        return f"mkfs.{system} is not installed"
    return "" if Path("/dev/loop-control").exists() or Path("/dev/loop0").exists() else "there are no loop devices"


class Disk:
    """A file system in an image that can be cut off from its device."""

    def __init__(self, system: str, folder: Path) -> None:
        self._system, self._image, self.top = system, folder / f"{system}.img", folder / f"{system}-top"
        self.top.mkdir()
        with self._image.open("wb") as file:
            file.truncate(_SIZE)
        subprocess.run([f"mkfs.{system}", "-q", str(self._image)], check=True)

    def mount(self) -> None:
        """Mounts it, which recovers the journal of the file system."""
        subprocess.run(["mount", "-t", self._system, "-o", "loop", str(self._image), str(self.top)], check=True)

    def umount(self) -> None:
        """Lets go of it and of its device."""
        subprocess.run(["umount", str(self.top)], check=True)

    def cut(self) -> None:
        """From here on nothing reaches the device."""
        descriptor = os.open(self.top, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, array.array("I", [_WITHOUT_LOG]))
        finally:
            os.close(descriptor)

    def sync(self) -> None:
        """Brings all to the device, as the kernel does of itself every few seconds."""
        descriptor = os.open(self.top, os.O_RDONLY)
        try:
            ctypes.CDLL(None).syncfs(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def disk(system: str, folder: Path) -> Iterator[Disk]:
    """A mounted disk, let go of at the end, whatever happened."""
    made = Disk(system, folder)
    made.mount()
    try:
        yield made
    finally:
        made.umount()


def cut_off(system: str, folder: Path, cuts: int, seed: int, tell: Tell) -> None:
    """Cuts the power so often, at random instants of random journeys, and tells what a start finds after each."""
    chance = random.Random(seed)
    journeys = [LIFE, LIFE, LIFE, *(journey for journey in JOURNEYS if not journey.goes_on)]
    known: dict[str, tuple[Tree, Expected, float]] = {}
    with disk(system, folder) as made:
        root = made.top / "w"
        for number in range(cuts):
            journey = chance.choice(journeys)
            if journey.name not in known:
                known[journey.name] = _known(journey, root)
            tree, expected, seconds = known[journey.name]
            tree.laid(root)
            made.sync()
            ended = in_child(lambda say: journey.run(root, say), lambda pid: _meanwhile(made, pid, seconds, chance))  # noqa: B023
            made.umount()
            made.mount()
            # Whatever the cut disk made of the last call, what was acknowledged before counts.
            faulted = Faulted(journey, expected, ended)
            wrong = [*(misbehaved(ended) if ended.how == "raised" else ()), *problems(root, faulted, after_outage=True)]
            tell(number, [f"{system}, cut {number}, {journey.name}, which {ended.how}: {one}" for one in wrong])


def _known(journey: Journey, root: Path) -> tuple[Tree, Expected, float]:
    tree = prepared(journey, root)
    expected = expected_of(journey, tree, root)
    tree.laid(root)
    start = time.monotonic()
    in_child(lambda say: journey.run(root, say))
    return tree, expected, time.monotonic() - start


def _meanwhile(made: Disk, pid: int, seconds: float, chance: random.Random) -> None:
    """Waits for the instant, with a writing back of all before it in every third case, and cuts."""
    left = chance.random() * seconds
    if chance.random() < 1 / 3:
        early = chance.random() * left
        time.sleep(early)
        made.sync()
        left -= early
    time.sleep(max(0.0, left))
    made.cut()
    time.sleep(0.002)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
