"""A workspace on disk, a clock that stands where it is put, and a channel on both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pipimem import Channel, Clock, Message, Pipimem
from pipimem.settings import CompactionSettings, MaintenanceSettings, Settings
from pipimem.sidecar.tasks import Assistant
from pipimem.store.workspace import WorkspaceStore

MORNING = datetime.fromisoformat("2026-03-02T09:00:00+08:00")


@dataclass
class Hands:
    """The hands of a clock: tests move them."""

    now: datetime = MORNING

    def clock(self) -> Clock:
        return Clock(now=lambda: self.now, wall=lambda: self.now)

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)


def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    WorkspaceStore.init(root)
    return root


def settings(policy: str = "defer") -> Settings:
    return Settings(
        compaction=CompactionSettings(policy), maintenance=MaintenanceSettings(enabled=False)
    )  # type: ignore[arg-type]


@asynccontextmanager
async def opened(
    root: Path,
    assistant: Assistant | None = None,
    *,
    hands: Hands | None = None,
    policy: str = "defer",
    kind: str = "group",
) -> AsyncIterator[Channel]:
    """A channel of a workspace, closed afterwards."""
    time = hands or Hands()
    async with Pipimem(
        root, "offline", assistant=assistant, settings=settings(policy), clock=time.clock()
    ) as pipimem:
        yield await pipimem.channel("room", kind=kind)  # type: ignore[arg-type]


async def say(channel: Channel, text: str, answer: str = "ok", speaker: str = "Dana") -> str:
    """One whole turn; gives the context that was injected."""
    turn = await channel.before_turn(text, speaker=speaker)
    await channel.after_turn(turn, [Message.user(text, speaker=speaker), Message.assistant(answer)])
    return turn.context


def read(root: Path, name: str = "MEMORY.md") -> str:
    path = root / "channels" / "room" / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def write(root: Path, name: str, text: str) -> None:
    path = root / "channels" / "room" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
