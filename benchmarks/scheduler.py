"""What idle work costs a large workspace: 20,000 channels of which 200 become due a minute.

usage: python -m benchmarks.scheduler [--channels N] [--due N] [--minutes N] [--hours N]

Two rows run `pipimem watch` as a process on real files for real minutes: once every due channel
finds closed gates, once somebody has spoken in it and the offline rules think. One row runs the
scheduler alone on a clock that jumps.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import anyio
from pipimem import Message
from pipimem.runtime.maintenance.scheduler import Scheduler
from pipimem.store.channel import ChannelStore
from pipimem.store.schedule import Schedule, ScheduledVisit, channel_stamp, channel_stamps
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import heading
from benchmarks.many import cpu, resident_mb, write_channels


def main() -> None:
    """Print every row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--channels", type=int, default=20_000)
    parser.add_argument("--due", type=int, default=200, help="channels that become due a minute")
    parser.add_argument("--minutes", type=int, default=3, help="real minutes a row")
    parser.add_argument("--hours", type=int, default=24, help="hours on the simulated clock")
    told = parser.parse_args()
    print(heading(f"Idle work: {told.channels:,} channels, {told.due} due a minute", "anyio"))
    simulated_row(told.channels, told.due, told.hours)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        write_channels(root, told.channels)
        scan_row(root)
        appoint(root, told.due, told.minutes)
        with watching(root) as daemon:
            measured_row(
                "pipimem watch, every gate closed", daemon, told.due, told.minutes, lambda _: None
            )
        appoint(root, 0, 0)
        with watching(root) as daemon:
            store = WorkspaceStore.open(root)
            speak = lambda number: speak_in(store, f"c{number:05}")  # noqa: E731
            measured_row(
                "pipimem watch, offline rules think", daemon, told.due, told.minutes, speak
            )
        looked_at = len((root / ".pipimem" / "idle.jsonl").read_bytes().splitlines())
        print(f"\n{looked_at:,} lines in the agenda at the end")


def simulated_row(channels: int, due: int, hours: int) -> None:
    """The scheduler alone: each channel is due again when all others were; a clock that jumps to
    the next due time.
    """
    now, end, works, sleeps = 0.0, hours * 3600.0, 0, 0
    again = channels / due * 60

    async def work(_: str) -> float:
        nonlocal works
        works += 1
        return again

    async def sleep(wake: anyio.Event, seconds: float) -> None:
        nonlocal now, sleeps
        sleeps += 1
        await anyio.lowlevel.checkpoint()
        if not wake.is_set():
            now += seconds
            if now > end:
                raise TimeoutError

    async def run() -> None:
        scheduler = Scheduler(work, lambda: now, places=2, sleep=sleep)
        for number in range(channels):
            scheduler.expect(f"channel-{number}", number * again / channels)
        await scheduler.run()

    began, before = time.process_time(), resident_mb(os.getpid())
    try:
        anyio.run(run)
    except* TimeoutError:
        pass
    spent = time.process_time() - began
    share = 100 * spent / end
    print(
        f"{'scheduler alone, ' + str(hours) + ' simulated hours':44}"
        f"{share:9.4f} % of a core   target 2   "
        f"({works:,} works, {sleeps:,} wakings, {spent:.1f} CPU s, "
        f"+{resident_mb(os.getpid()) - before:.0f} MB)"
    )


def scan_row(root: Path) -> None:
    """All stamps of all channels: what a start and every hour cost."""
    times = []
    for _ in range(5):
        began = time.process_time()
        found = sum(1 for _ in channel_stamps(root / "channels"))
        times.append(time.process_time() - began)
    print(f"{f'comparing the stamps of {found:,} channels':44}{min(times):9.2f} CPU s")


def appoint(root: Path, due: int, minutes: int) -> None:
    """An agenda that knows every channel, with so many due a minute from now on."""
    path = root / ".pipimem" / "idle.jsonl"
    path.unlink(missing_ok=True)
    schedule, now = Schedule(path), datetime.now().astimezone() + timedelta(seconds=SETTLE)
    for number, (folder, look) in enumerate(channel_stamps(root / "channels")):
        time_due = (
            now + timedelta(seconds=60 * number / due) if number < due * (minutes + 1) else None
        )
        schedule.visits[folder] = ScheduledVisit(time_due, look.mark)
    schedule.note(
        "c00000", ScheduledVisit(None, channel_stamp(root / "channels" / "c00000").mark + " ")
    )


# Seconds from the start of the daemon until it has compared everything and sleeps.
SETTLE = 40


@contextmanager
def watching(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The daemon, once it sleeps."""
    command = [
        sys.executable,
        "-m",
        "pipimem",
        "--workspace",
        str(root),
        "--model",
        "offline",
        "watch",
        "--json",
    ]
    out = (root / "watch.out").open("wb")
    with subprocess.Popen(command, stdout=out, stderr=out) as daemon:
        time.sleep(SETTLE)
        print(
            f"{'  its start: CPU, memory':44}"
            f"{cpu(daemon.pid):9.2f} CPU s   {resident_mb(daemon.pid):.0f} MB"
        )
        yield daemon
        began = time.monotonic()
        daemon.terminate()
        daemon.wait()
        print(f"{'  its end after SIGTERM':44}{time.monotonic() - began:9.2f} s")
    out.close()


def measured_row(
    name: str, daemon: subprocess.Popen[bytes], due: int, minutes: int, stir: object
) -> None:
    """CPU of the daemon over real minutes, while `stir(number)` is called for each channel that
    becomes due.
    """
    began, before = time.monotonic(), cpu(daemon.pid)
    for number in range(due * minutes):
        time.sleep(max(0.0, began + number * 60 / due - time.monotonic()))
        stir(number)  # type: ignore[operator]
    time.sleep(max(0.0, began + minutes * 60 - time.monotonic()))
    passed, spent = time.monotonic() - began, cpu(daemon.pid) - before
    print(
        f"{name:44}{100 * spent / passed:9.2f} % of a core   target 2   "
        f"({spent:.2f} CPU s in {passed:.0f} s, {1000 * spent / (due * minutes):.1f} ms a channel)"
    )
    print(f"{'  memory':44}{resident_mb(daemon.pid):9.1f} MB   target 100")


def speak_in(store: WorkspaceStore, name: str) -> None:
    """A turn, as another process would write it."""
    channel = ChannelStore.open(store, name, create=False)
    channel.append(
        [Message.user("The review is on Monday.", speaker="Omar"), Message.assistant("All right.")]
    )


if __name__ == "__main__":
    main()
