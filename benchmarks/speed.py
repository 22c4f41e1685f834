"""What pipimem costs a bot: import, cold recall, a warm turn, writing a turn, a replay, idle
channels.

usage: python -m benchmarks.speed [--evals DIR]      (DIR holds transcripts/ for the replay row)
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
from pipimem import Message, Pipimem
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import heading, quantile
from benchmarks.notes import QUERIES, write_channel

_HEAVY = ("litellm", "jieba", "watchdog", "msgspec", "rich", "click", "Stemmer", "mcp")


def process_ms(*command: str, runs: int = 7) -> float:
    """Median wall time of a whole process, after one run to warm the page cache."""
    times = []
    for run in range(runs + 1):
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if run:
            times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def import_rows() -> None:
    """The import alone, with what it must not load."""
    bare = process_ms(sys.executable, "-c", "pass")
    ours = process_ms(sys.executable, "-c", "import pipimem")
    code = f"import sys, pipimem; print([m for m in {_HEAVY!r} if m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()
    print(
        f"{'import pipimem':44}{ours - bare:9.1f} ms   target   60   "
        f"heavy libraries loaded: {loaded}"
    )


def cold_recall_row(root: Path, size: int, target: float) -> None:
    """`pipimem recall` as a process, a Chinese query; before and after a session has kept the
    words.
    """
    command = [
        sys.executable,
        "-m",
        "pipimem",
        "--workspace",
        str(root),
        "recall",
        f"n{size}",
        QUERIES[0],
    ]
    without = process_ms(*command)
    anyio.run(_one_session, root, f"n{size}")
    name = f"pipimem recall, cold process, {size} entries"
    print(
        f"{name:44}{process_ms(*command):9.1f} ms   target {target:4}   "
        f"(words not kept {without:.1f} ms)"
    )


async def _one_session(root: Path, name: str) -> None:
    async with Pipimem(root, "offline") as pipimem:
        channel = await pipimem.channel(name)
        await channel.after_turn(await channel.before_turn("你好"), [])


async def warm_turn_row(root: Path, size: int, target: float) -> None:
    """`before_turn` on a warm channel, another question each time, as a long session would ask."""
    async with Pipimem(root, "offline") as pipimem:
        channel = await pipimem.channel(f"n{size}", create=False)
        turn = await channel.before_turn("你好")
        await channel.after_turn(turn, [])
        times = []
        for n in range(300):
            started = time.perf_counter()
            # White space makes another text of one without a number.
            await channel.before_turn(
                QUERIES[n % len(QUERIES)].replace("7", str(n)) + " " * (n // 8)
            )
            times.append((time.perf_counter() - started) * 1000)
    name = f"before_turn, warm, {size} entries, p50 (p95)"
    print(
        f"{name:44}{quantile(times, 0.5):9.2f} ms   target {target:4}   "
        f"({quantile(times, 0.95):.2f} ms)"
    )


async def after_turn_row(root: Path) -> None:
    """Syncs and time of writing a turn of two messages."""
    syncs = 0
    real = os.fsync, os.fdatasync

    def counted(which: int):
        def sync(descriptor: int) -> None:
            nonlocal syncs
            syncs += 1
            real[which](descriptor)

        return sync

    os.fsync, os.fdatasync = counted(0), counted(1)
    try:
        async with Pipimem(root, "offline") as pipimem:
            channel = await pipimem.channel("turns", kind="group")
            times, most = [], 0
            for n in range(100):
                turn = await channel.before_turn(f"question {n}")
                before, started = syncs, time.perf_counter()
                await channel.after_turn(
                    turn, [Message.user(f"question {n}"), Message.assistant(f"answer {n}")]
                )
                times.append((time.perf_counter() - started) * 1000)
                most = max(most, syncs - before)
    finally:
        os.fsync, os.fdatasync = real
    print(
        f"{'after_turn, syncs at most':44}{most:9d}      target    2   "
        f"(p50 {quantile(times, 0.5):.2f} ms)"
    )


def replay_row(root: Path, evals: Path) -> None:
    """The whole of memorybank-zh through the real runtime, as a process."""
    source = evals / "transcripts" / "memorybank-zh.jsonl"
    if not source.is_file():
        print(f"{'replay memorybank-zh':44}  skipped: {source} is not there; give --evals")
        return
    command = [
        sys.executable,
        "-m",
        "pipimem",
        "--workspace",
        str(root),
        "replay",
        "zh",
        str(source),
        "--kind",
        "group",
        "--compact-every",
        "60",
        "--maintain",
    ]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(
        f"{'replay memorybank-zh, 1,132 messages':44}"
        f"{time.perf_counter() - started:9.1f} s    target   10"
    )


async def idle_channels_row(root: Path) -> None:
    """Resident memory that 1,000 open, idle channels add."""
    async with Pipimem(root, "offline") as pipimem:
        await pipimem.channel("warm-up")
        before = _resident_mb()
        for n in range(1000):
            await pipimem.channel(f"idle-{n}", kind="group")
        print(f"{'1,000 idle channels':44}{_resident_mb() - before:9.1f} MB   target   20")


async def channels_in_turn_row(root: Path) -> None:
    """Resident memory after a question in each of 1,000 channels of 100 entries, and in each once
    more.
    """
    text = (root / "channels" / "n100" / "MEMORY.md").read_text(encoding="utf-8")
    for n in range(1000):
        folder = root / "channels" / f"turn-{n}"
        folder.mkdir()
        (folder / "MEMORY.md").write_text(text.replace("- ", f"- room {n}: "), encoding="utf-8")
    async with Pipimem(root, "offline") as pipimem:
        before, told = _resident_mb(), []
        for _ in range(2):
            for n in range(1000):
                channel = await pipimem.channel(f"turn-{n}", create=False)
                await channel.before_turn(QUERIES[n % len(QUERIES)])
            told.append(_resident_mb() - before)
    name = "1,000 channels of 100 entries, asked in turn"
    print(f"{name:44}{told[0]:9.1f} MB   (after a second round {told[1]:.1f} MB)")


async def edit_row(root: Path, size: int) -> None:
    """What a turn costs after one entry was reworded by hand, beyond a turn with nothing
    changed.
    """
    path = root / "channels" / f"n{size}" / "MEMORY.md"
    async with Pipimem(root, "offline") as pipimem:
        channel = await pipimem.channel(f"n{size}", create=False)
        await channel.after_turn(await channel.before_turn("你好"), [])
        plain, edited = [], []
        for n in range(60):
            lines = path.read_text(encoding="utf-8").split("\n")
            lines[size // 3] = f"{lines[size // 3].partition(' edited ')[0]} edited {n}"
            for times in (edited, plain):
                if times is edited:
                    path.write_text("\n".join(lines), encoding="utf-8")
                started = time.perf_counter()
                await channel.before_turn(
                    f"who owns the on-call rotation for gateway-{n}{len(times)}"
                )
                times.append((time.perf_counter() - started) * 1000)
    name = f"a turn after an edit, {size} entries, p50"
    print(
        f"{name:44}{quantile(edited, 0.5):9.2f} ms   without an edit {quantile(plain, 0.5):.2f} ms"
    )


def _resident_mb() -> float:
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    """Print every row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evals", type=Path, default=Path("../shared/evals"))
    evals = parser.parse_args().evals
    print(heading("What pipimem costs a bot", "anyio", "jieba"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        WorkspaceStore.init(root)
        for size in (50, 100, 500, 5000, 50_000):
            write_channel(root, size)
        import_rows()
        cold_recall_row(root, 500, 200)
        cold_recall_row(root, 5000, 300)
        for size, target in ((50, 0.3), (500, 0.6), (5000, 0.8), (50_000, 4)):
            anyio.run(warm_turn_row, root, size, target)
        anyio.run(edit_row, root, 5000)
        anyio.run(after_turn_row, root)
        replay_row(root, evals)
        anyio.run(idle_channels_row, root)
        anyio.run(channels_in_turn_row, root)


if __name__ == "__main__":
    main()
