"""A workspace of many channels on real files, and what a process beside it costs."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import anyio
from pipimem import Clock, Message, Pipimem
from pipimem.settings import MaintenanceSettings, Settings
from pipimem.store.workspace import WorkspaceStore

_TICKS = os.sysconf("SC_CLK_TCK")
_FIRST = "c00000"


def write_channels(root: Path, count: int) -> None:
    """Channels `c00000` … that were looked after: one is made by the runtime, the others are its
    copies.
    """
    anyio.run(_write_first, root)
    first = root / "channels" / _FIRST
    folders = [path.relative_to(first) for path in first.rglob("*") if path.is_dir()]
    files = [
        (path.relative_to(first), path.read_bytes()) for path in first.rglob("*") if path.is_file()
    ]
    for number in range(1, count):
        copy = first.with_name(f"c{number:05}")
        copy.mkdir(mode=0o700)
        for folder in folders:
            (copy / folder).mkdir(mode=0o700)
        for name, data in files:
            own = (
                data.replace(_FIRST.encode(), copy.name.encode())
                if name.name == "channel.json"
                else data
            )
            (copy / name).write_bytes(own)


async def _write_first(root: Path) -> None:
    WorkspaceStore.init(root)
    (root / "pipimem.toml").write_text("[maintenance]\nidle_seconds = 2\n")
    off = Settings(maintenance=MaintenanceSettings(enabled=False))
    yesterday = datetime.now().astimezone() - timedelta(
        days=1
    )  # long enough for every pause between two jobs
    clock = Clock(now=lambda: yesterday, wall=lambda: yesterday)
    async with Pipimem(root, "offline", settings=off, clock=clock) as pipimem:
        channel = await pipimem.channel(_FIRST, kind="group")
        for number in range(4):
            said = [
                Message.user(f"we decided: port {number} it is", speaker="Ines"),
                Message.assistant("noted"),
            ]
            await channel.after_turn(None, said)
        await channel.before_compaction()
        await channel.maintain(forced=True)


def cpu(process: int) -> float:
    """Seconds of CPU of a process so far, its threads included."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident_mb(process: int) -> float:
    """Resident memory of a process."""
    return (
        int(Path(f"/proc/{process}/statm").read_text().split()[1])
        * os.sysconf("SC_PAGE_SIZE")
        / 1e6
    )


def peak_mb(process: int) -> float:
    """The most resident memory a process ever had."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6
