"""Idle maintenance of one channel: every job whose gate is open, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from pipimem.errors import PipimemError, SidecarError
from pipimem.memory.gates import AFTER_A_FAILURE
from pipimem.runtime.background import Background, Failure
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


async def maintained(
    thoughts: Thoughts, background: Background, *, forced: bool = False
) -> list[Ran]:
    """Run what is due; a job that fails waits and does not stop the others. `forced` skips the pauses, not the gates.

    Raises only what says that the channel cannot be used now: `PipimemError`, `OSError`.
    """
    model = thoughts.settings.model
    jobs: dict[str, Callable[[], Awaitable[tuple[Done, ...]]]] = {
        "refresh": lambda: thoughts.refresh(model.refresh_timeout),
        "consolidate": lambda: thoughts.consolidate(model.consolidate_timeout, boundary=False),
        "expire": thoughts.expire,
        "tidy": lambda: thoughts.tidy(model.tidy_timeout),
        "fold": lambda: thoughts.fold(model.fold_timeout),
    }
    folder = thoughts.store.folder.name
    ran = []
    for task, run in jobs.items():
        if background.pause(task, folder) and not forced:
            ran.append(Ran(task, ran=False, reason=AFTER_A_FAILURE))
            continue
        job = partial(_looked_at, thoughts, task, run, forced=forced)
        outcome = await background.attempt(task, job, folder, passes=(PipimemError, OSError))
        ran.append(
            Ran(task, ran=False, reason=outcome.why) if isinstance(outcome, Failure) else outcome
        )
    return ran


async def _looked_at(
    thoughts: Thoughts, task: str, run: Callable[[], Awaitable[tuple[Done, ...]]], *, forced: bool
) -> Ran:
    gate = await thoughts.gate(task, forced=forced)
    missing = await thoughts.unasked() if gate and task in _TAKING else ""
    if gate and not missing:
        return await _job(task, gate.reason, run)
    return Ran(task, ran=False, reason=missing or gate.reason)


async def _job(task: str, reason: str, run: Callable[[], Awaitable[tuple[Done, ...]]]) -> Ran:
    try:
        return Ran(task, ran=True, reason=reason, done=await run())
    except SidecarError as error:
        return Ran(task, ran=False, reason=str(error))
