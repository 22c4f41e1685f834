"""The names of the public API that the measures use; when one changes, both are tried here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

from pipimem import Message, Pipimem
from pipimem.testing import FixedClock


def opened(workspace: str, now: str = "", **options: Any) -> Pipimem:
    """Return a runtime, with a clock that stands still if `now` is given."""
    if now:
        options["clock"] = FixedClock(datetime.fromisoformat(now))
    return Pipimem(workspace, **options)


def method(owner: object, *paths: str) -> Callable[..., Any]:
    """Return the first method that is there, as `remember` or `notes.remember`."""
    for path in paths:
        try:
            found: Callable[..., Any] = attrgetter(path)(owner)
        except AttributeError:
            continue
        return found
    raise AttributeError(f"{type(owner).__name__} has none of {', '.join(paths)}")


def message(role: str, content: str, **more: Any) -> Message:
    """Return a message of a role, with `id`, `speaker` and `time` if given."""
    if isinstance(more.get("time"), str):
        more["time"] = datetime.fromisoformat(more["time"])
    made: Message = getattr(Message, role)(content, **more)
    return made


async def entries(channel: Any) -> list[tuple[str, bool]]:
    """Return the entries of MEMORY.md; a quote binds nobody."""
    found = await method(channel, "entries", "notes.entries")()
    return [(entry.text, str(entry.trust) == "quoted") for entry in found]


def resident() -> float:
    """Return the resident memory of this process in MB."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
