"""Idle maintenance of one channel: every job whose gate is open, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pipimem.errors import SidecarError
from pipimem.runtime.thinking import Done
from pipimem.runtime.thoughts import Thoughts

# These take something out: what people want found must be known first.
_TAKING = ("expire", "tidy", "fold")


@dataclass(frozen=True, slots=True)
class Ran:
    """One job of a maintenance run: whether it ran, and why or why not."""

    task: str
    ran: bool
    reason: str
    done: tuple[Done, ...] = ()


async def maintained(thoughts: Thoughts, *, forced: bool = False) -> list[Ran]:
    """Run what is due; a job that fails waits and does not stop the others. `forced` skips the pauses, not the gates."""
    model = thoughts.settings.model
    jobs: dict[str, Callable[[], Awaitable[tuple[Done, ...]]]] = {
        "refresh": lambda: thoughts.refresh(model.refresh_timeout),
        "consolidate": lambda: thoughts.consolidate(model.consolidate_timeout, boundary=False),
        "expire": thoughts.expire,
        "tidy": lambda: thoughts.tidy(model.tidy_timeout),
        "fold": lambda: thoughts.fold(model.fold_timeout),
    }
    ran = []
    for task, run in jobs.items():
        gate = await thoughts.gate(task, forced=forced)
        missing = await thoughts.unasked() if gate and task in _TAKING else ""
        if gate and not missing:
            ran.append(await _job(task, gate.reason, run))
        else:
            ran.append(Ran(task, ran=False, reason=missing or gate.reason))
    return ran


async def _job(task: str, reason: str, run: Callable[[], Awaitable[tuple[Done, ...]]]) -> Ran:
    try:
        return Ran(task, ran=True, reason=reason, done=await run())
    except SidecarError as error:
        return Ran(task, ran=False, reason=str(error))
