"""What the disk door costs: a commit beside a bare write, a turn, a window in a long log, an
opening.

Run: `python -m benchmarks.commit [FOLDER]`; name a folder on the disk you care about.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Author,
    Bullet,
    Decision,
    Evidence,
    Progress,
    SetSection,
    Trust,
)
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from benchmarks.machine import heading, quantile
from benchmarks.notes import write_channel

NOW = datetime.fromisoformat("2026-03-02T09:10:00+08:00")
_LINES = 100_000


def row(name: str, work: Callable[[int], object], times: int) -> None:
    """Runs `work` a number of times and prints the median and the slow end in ms."""
    spent = []
    for number in range(times):
        start = time.perf_counter()
        work(number)
        spent.append((time.perf_counter() - start) * 1000)
    print(f"{name:<58}{quantile(spent, 0.5):>9.2f} ms p50{quantile(spent, 0.95):>9.2f} ms p95")


def fact(number: int) -> Decision:
    """One new fact, and the cursor moved."""
    add = Add(
        Kind.FACT,
        f"fact number {number}: 第{number}条",
        Trust.INFERRED,
        Evidence(("m1",), 1, "alice", NOW),
    )
    return Decision("consolidate", Author.MODEL, (add,), Progress(cursor=number + 1))


def bare(root: Path) -> None:
    """The floor: one append synced, and one file replaced with both syncs that a power cut asks
    for.
    """

    def append(_: int) -> None:
        with (root / "bare.jsonl").open("ab") as file:
            file.write(b"x" * 400)
            file.flush()
            os.fdatasync(file.fileno())

    def replace(_: int) -> None:
        with (root / "bare.tmp").open("wb") as file:
            file.write(b"x" * 30_000)
            file.flush()
            os.fsync(file.fileno())
        (root / "bare.tmp").replace(root / "bare.md")

    row("bare append of 400 bytes + fdatasync", append, 100)
    row("bare replace of 30 KB + fsync + rename", replace, 100)


def beside(workspace: WorkspaceStore, size: int) -> None:
    """A commit to three files with its checkpoint, and the same files written and synced by hand,
    turn by turn.
    """
    write_channel(workspace.root, size, f"beside{size}")
    channel = ChannelStore.open(workspace, f"beside{size}", create=True)
    commits, hands, acks = [], [], []
    for number in range(40):
        start = NOW + timedelta(hours=number)
        block = AddBlock(
            start, start + timedelta(minutes=30), "tea", (Bullet(f"they spoke of tea {number}"),)
        )
        more = (SetSection("Next Steps", (f"step {number}",)), block)
        decision = replace(
            fact(90_000 + number), operations=(*fact(90_000 + number).operations, *more)
        )
        begun = time.perf_counter()
        channel.commit(decision, NOW)
        acks.append(time.perf_counter() - begun)
        channel.checkpoint()
        commits.append(time.perf_counter() - begun)
        hands.append(_by_hand(channel.folder, workspace.root / "by hand"))
    for name, spent in (
        ("commit of 3 files", acks),
        ("… with its checkpoint", commits),
        ("the same by hand", hands),
    ):
        milliseconds = [each * 1000 for each in spent]
        name = f"{name}, {size} entries"
        print(
            f"{name:<58}{quantile(milliseconds, 0.5):>9.2f} ms p50{min(milliseconds):>9.2f} ms min"
        )
    print(f"{'commit with checkpoint : by hand, minima':<58}{min(commits) / min(hands):>9.2f}")


def _by_hand(folder: Path, copy: Path) -> float:
    """What a careful program does with three notes, a line of journal and a ledger: all synced,
    then the folder.
    """
    copy.mkdir(exist_ok=True)
    names = ("MEMORY.md", "SESSION.md", "HISTORY.md", ".pipimem/ledger.json")
    texts = [(Path(name).name, (folder / name).read_bytes()) for name in names]
    begun = time.perf_counter()
    for name, data in texts:
        with (copy / f"{name}.tmp").open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        (copy / f"{name}.tmp").replace(copy / name)
    with (copy / "journal.jsonl").open("ab") as file:
        file.write(b"x" * 1000)
        file.flush()
        os.fdatasync(file.fileno())
    descriptor = os.open(copy, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    return time.perf_counter() - begun


def long_log(folder: Path) -> None:
    """A transcript of 100,000 messages, written without the store."""
    with (folder / "log.jsonl").open("w", encoding="utf-8") as file:
        for number in range(1, _LINES + 1):
            value = {
                "id": f"id{number}", "n": number, "ts": "2026-03-02T09:10:00+08:00", "role": "user",
                "name": "alice",
                "content": f"message {number} 上线窗口是什么时候 " * 5,
            }  # fmt: skip
            file.write(json.dumps(value, ensure_ascii=False) + "\n")


def notes(workspace: WorkspaceStore, size: int) -> None:
    """A channel of some size: committed to, read warm, read cold."""
    write_channel(workspace.root, size)
    channel = ChannelStore.open(workspace, f"n{size}", create=True)
    channel.notes()
    row(f"commit of one fact, {size} entries", lambda n: channel.commit(fact(n), NOW), 60)
    row(f"commit that changes nothing, {size} entries", lambda _: channel.commit(fact(59), NOW), 30)
    row(f"notes() with nothing changed, {size} entries", lambda _: channel.notes(), 500)
    channel.close()
    name = f"n{size}"
    row(
        f"open and read cold, {size} entries",
        lambda _: ChannelStore.open(workspace, name, create=False).notes(),
        10,
    )


def turns(workspace: WorkspaceStore) -> None:
    """A turn appended to a short log."""
    channel = ChannelStore.open(workspace, "turns", create=True)

    def turn(number: int) -> None:
        channel.append(
            [Message.user(f"hello {number}", time=NOW), Message.assistant("hi", time=NOW)]
        )

    row("append of a turn (2 messages)", turn, 200)


def windows(workspace: WorkspaceStore) -> None:
    """Readings of a log of 100,000 lines, and appends to it."""
    channel = ChannelStore.open(workspace, "long", create=True)
    long_log(channel.folder)
    log, middle = channel.transcript, _LINES // 2
    megabytes = log.path.stat().st_size / 1e6
    row(
        f"window: last 60 of {_LINES} lines ({megabytes:.0f} MB)",
        lambda _: list(log.window(_LINES - 60)),
        50,
    )
    row("window: 60 in the middle", lambda _: list(log.window(middle, middle + 60)), 50)
    row(
        "last number, cold",
        lambda _: ChannelStore.open(workspace, "long", create=False).transcript.last_number,
        50,
    )
    row(
        "first append, all ids scanned",
        lambda _: channel.append([Message.user("new", time=NOW)]),
        1,
    )
    row("appends after that", lambda _: channel.append([Message.user("new", time=NOW)]), 50)


def main() -> None:
    """Prints the table."""
    print(heading("The disk door"))
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        root = Path(name)
        (root / "channels").mkdir()
        workspace = WorkspaceStore.open(root)
        bare(root)
        for size in (50, 500, 5000):
            notes(workspace, size)
            beside(workspace, size)
        turns(workspace)
        windows(workspace)


if __name__ == "__main__":
    main()
