"""What the tests of the adapters put into a channel, and how they look at it."""

from __future__ import annotations

import json
from pathlib import Path

from pipimem import Channel, Kind

RULE = "Never deploy on a Friday, not even a hotfix."
FACT = "The staging database runs Postgres 16 since the upgrade in March."


async def taught(channel: Channel) -> None:
    """A rule that comes with every turn, and a fact that comes when it is asked for."""
    await channel.notes.remember(RULE, kind=Kind.CONSTRAINT, speaker="Dana")
    await channel.notes.remember(FACT, speaker="Dana")


def logged(root: Path) -> list[tuple[str, str, str]]:
    """Role, speaker and text of all that the transcript holds, in its order."""
    path = root / "channels" / "room" / "log.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    messages = map(json.loads, lines)
    return [(one["role"], one.get("name", ""), one["content"]) for one in messages]


def memory(root: Path) -> str:
    """The text of MEMORY.md."""
    path = root / "channels" / "room" / "MEMORY.md"
    return path.read_text("utf-8") if path.exists() else ""
