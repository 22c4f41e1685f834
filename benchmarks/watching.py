"""What the watch on the files hears, how soon, and what it costs in a large workspace.

usage: python -m benchmarks.watching [CHANNELS] [DIR]

20,000 channels by default, on the file system of DIR (the temporary folder). One row for each
promise: edits are told within a second, our own writing is no news, folders that move are followed,
a queue that overflowed is made good by a scan, the memory of `pipimem watch`, and what it says
where inotify refuses more watches. Linux only.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
from pipimem import Message, Pipimem
from pipimem.runtime.maintenance.changed_files import ChangedFiles
from pipimem.runtime.maintenance.scheduler import Scheduler
from pipimem.runtime.maintenance.watch import Watch
from pipimem.runtime.maintenance.worker import Visit
from pipimem.store.channel import ChannelStore
from pipimem.store.schedule import Schedule, ScheduledVisit, channel_stamps
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import heading, quantile
from benchmarks.many import cpu, peak_mb, resident_mb, write_channels

CHANNELS = 20_000
_SAVES = 300
_MOVED = 200
_SPOKEN = 30
_ALLOWED = 100
# A watch that tells nothing for so long tells nothing any more.
_LONGEST_WAIT = 30.0
_ROW = "{:<66}{:>12}   {}"


def main() -> None:
    """Print every row."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CHANNELS
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        print(heading(f"Watching {count:,} channels", "anyio"))
        root = Path(folder) / "workspace"
        write_channels(root, count)
        row("folders of the workspace", f"{sum(len(names) for _, names, _ in os.walk(root)):,}")
        heard_rows(root, random.Random(7))
        appoint(root)
        daemon_rows(root)
        own_writing_row(root)
        overflow_rows(root, count)
        limit_row(root)


def row(what: str, figure: str, note: str = "") -> None:
    """One line of the table."""
    print(_ROW.format(what, figure, note), flush=True)


class Told:
    """When each folder was told first since it was last asked for."""

    def __init__(self) -> None:
        self._at: dict[str, float] = {}
        self._more = threading.Condition()

    def tell(self, folder: str | None) -> None:
        """Takes what the watch tells."""
        if folder is not None:
            with self._more:
                self._at.setdefault(folder, time.monotonic())
                self._more.notify_all()

    def after(self, deed: Callable[[], str]) -> float | None:
        """Seconds from the end of a deed until the folder it names was told, `None` if it never
        was.
        """
        with self._more:
            self._at.clear()
        folder = deed()
        done = time.monotonic()
        with self._more:
            self._more.wait_for(lambda: folder in self._at, timeout=_LONGEST_WAIT)
            return max(0.0, self._at[folder] - done) if folder in self._at else None


def heard_rows(root: Path, chance: random.Random) -> None:
    """How long the watch takes to begin, to tell an edit, and to follow folders that move."""
    told, before, began = Told(), resident_mb(os.getpid()), time.monotonic()
    watch = Watch(root / "channels", told.tell)
    refused = watch.start()
    assert not refused, refused
    row(
        "the watch begins",
        f"{time.monotonic() - began:.2f} s",
        f"+{resident_mb(os.getpid()) - before:.1f} MB",
    )
    top = root / "channels"
    names = sorted(path.name for path in top.iterdir())
    ways = {
        "saved in place": lambda name: (top / name / "MEMORY.md").write_text(
            "# Memory\n\n- by hand\n"
        ),
        "saved by rename": lambda name: _renamed_into(top / name / "HISTORY.md"),
        "a line appended to the log": lambda name: _appended(top / name / "log.jsonl"),
        "deleted": lambda name: (top / name / "HISTORY.md").unlink(missing_ok=True),
    }
    for way, deed in ways.items():
        chosen = chance.sample(names, min(_SAVES, len(names)))
        _latency(
            way, [told.after(lambda deed=deed, name=name: (deed(name), name)[1]) for name in chosen]
        )
    made = [f"new{number}" for number in range(_MOVED)]
    _latency(
        "a channel made with its files",
        [told.after(lambda name=name: _made(top, name)) for name in made],
    )
    moved = [told.after(lambda name=name: _moved(top, name, name + "x")) for name in made]
    _latency("a channel renamed", moved)
    edits = [told.after(lambda name=name: _edited(top, name + "x")) for name in made]
    _latency("an edit in it afterwards", edits)
    again = [told.after(lambda name=name: _made_again(top, name + "x")) for name in made]
    _latency("a channel deleted and made again", again)
    edits = [told.after(lambda name=name: _edited(top, name + "x")) for name in made]
    _latency("an edit in it afterwards", edits)
    watch.stop()
    for name in made:
        shutil.rmtree(top / f"{name}x")


def _latency(what: str, found: list[float | None]) -> None:
    seconds = [one for one in found if one is not None]
    told = (
        f"p50 {1000 * quantile(seconds, 0.5):.1f} ms, most {1000 * max(seconds):.1f} ms"
        if seconds
        else ""
    )
    row(what, f"{len(seconds)} of {len(found)}", told + "   target 1 s")


def _renamed_into(path: Path) -> None:
    fresh = path.with_name(".fresh")
    fresh.write_text("# History\n\n- by rename\n")
    fresh.replace(path)


def _appended(path: Path) -> None:
    with path.open("a") as file:
        file.write("\n")


def _made(top: Path, name: str) -> str:
    (top / name).mkdir()
    return _edited(top, name)


def _edited(top: Path, name: str) -> str:
    (top / name / "MEMORY.md").write_text("- by hand\n")
    return name


def _moved(top: Path, name: str, new: str) -> str:
    (top / name).rename(top / new)
    return new


def _made_again(top: Path, name: str) -> str:
    shutil.rmtree(top / name)
    return _made(top, name)


def appoint(root: Path) -> None:
    """An agenda that knows every channel as it stands, none due."""
    path = root / ".pipimem" / "idle.jsonl"
    path.unlink(missing_ok=True)
    schedule = Schedule(path)
    found = dict(channel_stamps(root / "channels"))
    schedule.visits.update(
        {folder: ScheduledVisit(None, look.mark) for folder, look in found.items()}
    )
    first = next(iter(found))
    schedule.note(
        first, ScheduledVisit(None, found[first].mark + " ")
    )  # one change writes the whole


def daemon_rows(root: Path) -> None:
    """The memory of `pipimem watch`, at rest and after edits in a tenth of the channels."""
    names = sorted(path.name for path in (root / "channels").iterdir())
    with _daemon(root) as daemon:
        row("pipimem watch at rest, resident", f"{resident_mb(daemon.pid):.0f} MB", "target 150 MB")
        edited = names[:: max(1, len(names) // 2_000)]
        before, began = cpu(daemon.pid), time.monotonic()
        for name in edited:
            (root / "channels" / name / "MEMORY.md").write_text(
                "# Memory\n\n## Facts\n\n- edited by hand\n"
            )
        _rests(daemon, for_seconds=4)
        row(
            f"after edits in {len(edited):,} channels, resident (most)",
            f"{resident_mb(daemon.pid):.0f} MB",
            f"({peak_mb(daemon.pid):.0f} MB)   target 150 MB; "
            f"looked at in {time.monotonic() - began - 4:.0f} s, "
            f"{1000 * (cpu(daemon.pid) - before) / len(edited):.1f} ms of CPU each",
        )


@contextmanager
def _daemon(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [
        sys.executable,
        "-m",
        "pipimem",
        "--workspace",
        str(root),
        "--model",
        "offline",
        "watch",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as daemon:
        _rests(daemon, for_seconds=5)
        try:
            yield daemon
        finally:
            daemon.terminate()


def _rests(daemon: subprocess.Popen[bytes], *, for_seconds: float) -> None:
    """Waits until a process has used no CPU to speak of for a while."""
    while True:
        before = cpu(daemon.pid)
        time.sleep(for_seconds)
        if cpu(daemon.pid) - before < 0.1:
            return


def own_writing_row(root: Path) -> None:
    """Channels with new talk are looked at until their jobs are done; then our own writing is no
    reason to look again.
    """
    names = sorted(path.name for path in (root / "channels").iterdir())[:_SPOKEN]
    visits: list[Visit] = []

    async def run() -> None:
        async with Pipimem(root, "offline") as pipimem, anyio.create_task_group() as tasks:
            tasks.start_soon(pipimem.watch, visits.append)
            await anyio.sleep(3)
            for name in names:
                store = ChannelStore.open(WorkspaceStore.open(root), name, create=False)
                store.append(
                    [
                        Message.user(f"we decided: it is {name}", speaker="Omar"),
                        Message.assistant("fine"),
                    ]
                    * 3
                )
            with anyio.move_on_after(_LONGEST_WAIT):
                while {visit.channel for visit in visits} < set(names):
                    await anyio.sleep(0.1)
            await anyio.sleep(8)
            tasks.cancel_scope.cancel()

    anyio.run(run)
    wrote = [visit for visit in visits if any(job.ran for job in visit.ran)]
    own = sum(
        1
        for place, visit in enumerate(visits)
        if visit.channel in {one.channel for one in visits[:place]}
    )
    row(
        "channels somebody spoke in, looked at",
        f"{len({visit.channel for visit in visits})} of {len(names)}",
    )
    row(
        "looks that wrote; looks after them for our own writing",
        f"{len(wrote)}; {own}",
        "target 0 of the second",
    )


def overflow_rows(root: Path, count: int) -> None:
    """A process that was stopped while every channel was edited: the queue overflows, a scan finds
    all.
    """
    appoint(root)
    command = [sys.executable, "-m", "benchmarks.watching", "--found", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert json.loads(child.stdout.readline()) == "ready"
        child.send_signal(signal.SIGSTOP)
        for folder in (root / "channels").iterdir():
            (folder / "MEMORY.md").write_text(
                "# Memory\n\n## Facts\n\n- edited while nobody listened\n"
            )
        began = time.monotonic()
        child.send_signal(signal.SIGCONT)
        row(
            "edited while the process was stopped",
            f"{count:,}",
            f"the queue holds {_queue():,} events",
        )
        for line in child.stdout:
            told, scans = json.loads(line)
            row(
                told,
                f"{time.monotonic() - began:.1f} s",
                f"target 60 s; {scans} scans" if scans else "",
            )
        row("its memory at most", f"{_peak_of(root):.0f} MB", "target 150 MB")


def _queue() -> int:
    return int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


def _peak_of(root: Path) -> float:
    return float((root / "peak").read_text())


def found(root: Path) -> None:
    """The child: the real idle work, that says when every channel was found to be edited, and was
    looked at.
    """
    names = {path.name for path in (root / "channels").iterdir()}
    known, looked, scans = set[str](), set[str](), 0
    expect, touch = Scheduler.expect, Scheduler.touch
    scan = ChangedFiles.scan

    def noted(name: str) -> None:
        if name in names and name not in known:
            known.add(name)
            if len(known) == len(names):
                print(json.dumps(["all of them found", scans]), flush=True)

    def expected(scheduler: Scheduler, name: str, delay: float) -> None:
        noted(name)
        expect(scheduler, name, delay)

    def touched(scheduler: Scheduler, name: str, delay: float) -> None:
        noted(name)
        touch(scheduler, name, delay)

    async def scanned(files: ChangedFiles) -> float:
        nonlocal scans
        scans += 1
        return await scan(files)

    def visited(visit: Visit) -> None:
        looked.add(visit.channel)

    async def run() -> None:
        nonlocal scans
        async with Pipimem(root, "offline") as pipimem, anyio.create_task_group() as tasks:
            tasks.start_soon(pipimem.watch, visited)
            await anyio.sleep(8)
            known.clear()
            looked.clear()
            scans = 0
            print('"ready"', flush=True)
            while looked < names:
                await anyio.sleep(0.1)
            print(json.dumps(["all of them looked at", 0]), flush=True)
            (root / "peak").write_text(str(peak_mb(os.getpid())))
            tasks.cancel_scope.cancel()

    Scheduler.expect, Scheduler.touch = expected, touched  # type: ignore[method-assign]
    ChangedFiles.scan = scanned  # type: ignore[method-assign]
    anyio.run(run)


def limit_row(root: Path) -> None:
    """What a process says that gets too few watches, and how soon it finds an edit then. The
    refusal is a stand-in for the kernel's: its limit holds for the whole machine, and is not ours
    to lower."""
    appoint(root)
    command = [sys.executable, "-m", "benchmarks.watching", "--refused", str(root)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        told = next((line for line in child.stderr if "watched" in line), "nothing")
        row(f"refused after {_ALLOWED} watches it says", "", told.strip().replace(str(root), "…"))
        next(line for line in child.stdout if json.loads(line) == "ready")
        name = sorted(path.name for path in (root / "channels").iterdir())[-1]
        began = time.monotonic()
        (root / "channels" / name / "MEMORY.md").write_text("# Memory\n\n- one more by hand\n")
        looked = json.loads(child.stdout.readline())
        row(
            "and an edit is looked at",
            f"{time.monotonic() - began:.0f} s",
            f"{looked == name}   target 60 s, and 2 quiet",
        )
        child.terminate()


def refused(root: Path) -> None:
    """The child: the real idle work, where the kernel refuses more than a few watches."""
    from watchdog.observers import inotify_c

    add = inotify_c.inotify_add_watch

    def limited(queue: int, folder: bytes, what: int) -> int:
        number = add(queue, folder, what)
        if number <= _ALLOWED:
            return number
        inotify_c.inotify_rm_watch(queue, number)
        ctypes.set_errno(errno.ENOSPC)
        return -1

    async def run() -> None:
        async with Pipimem(root, "offline") as pipimem, anyio.create_task_group() as tasks:
            tasks.start_soon(
                pipimem.watch, lambda visit: print(json.dumps(visit.channel), flush=True)
            )
            await anyio.sleep(8)  # the first comparison is over, the next one is a minute away
            print('"ready"', flush=True)
            await anyio.sleep_forever()

    inotify_c.inotify_add_watch = limited
    anyio.run(run)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--found"]:
        found(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["--refused"]:
        refused(Path(sys.argv[2]))
    else:
        main()
