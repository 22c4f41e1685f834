"""Idle maintenance of one channel: every job whose gate is open, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pipimem.errors import SidecarError
from pipimem.memory import gates
from pipimem.memory.gates import Gate
from pipimem.runtime.thinking import Done
from pipimem.runtime.thoughts import Thoughts


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
    return [
        await _refresh(thoughts, forced=forced),
        await _job(
            "consolidate",
            await _backlog(thoughts, forced=forced),
            lambda: thoughts.consolidate(model.consolidate_timeout, boundary=False),
        ),
        await _job("expire", await _gate(thoughts, "expire"), thoughts.expire),
        await _job("tidy", await _gate(thoughts, "tidy"), lambda: thoughts.tidy(model.tidy_timeout)),
        await _job("fold", await _gate(thoughts, "fold"), lambda: thoughts.fold(model.fold_timeout)),
    ]


async def _job(task: str, gate: Gate, run: Callable[[], Awaitable[tuple[Done, ...]]]) -> Ran:
    if not gate:
        return Ran(task, ran=False, reason=gate.reason)
    try:
        return Ran(task, ran=True, reason=gate.reason, done=await run())
    except SidecarError as error:
        return Ran(task, ran=False, reason=str(error))


async def _refresh(thoughts: Thoughts, *, forced: bool) -> Ran:
    try:
        gate, done = await thoughts.refresh(thoughts.settings.model.refresh_timeout, forced=forced)
    except SidecarError as error:
        return Ran("refresh", ran=False, reason=str(error))
    return Ran("refresh", bool(gate), gate.reason, done)


async def _backlog(thoughts: Thoughts, *, forced: bool) -> Gate:
    notes = await thoughts.notes()
    last = thoughts.store.transcript.last_number
    return gates.may_consolidate(notes, last, thoughts.clock.now(), forced=forced)


async def _gate(thoughts: Thoughts, task: str) -> Gate:
    gate = await _due(thoughts, task)
    # Asked before a model is: what people want found is not known, so nothing may be taken out.
    if gate and (why := await thoughts.unasked()):
        return Gate(False, why)
    return gate


async def _due(thoughts: Thoughts, task: str) -> Gate:
    notes, now = await thoughts.notes(), thoughts.clock.now()
    match task:
        case "expire":
            return gates.may_expire(notes, thoughts.today())
        case "tidy":
            return gates.may_tidy(notes, now)
        case _:
            return gates.may_fold(notes, now)
