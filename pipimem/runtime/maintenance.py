"""Idle maintenance of one channel: every job whose gate is open, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pipimem.errors import SidecarError
from pipimem.memory import gates
from pipimem.memory.gates import Gate
from pipimem.runtime.thoughts import Thoughts


@dataclass(frozen=True, slots=True)
class Ran:
    """One job of a maintenance run: whether it ran, and why or why not."""

    task: str
    ran: bool
    reason: str


async def maintained(thoughts: Thoughts, *, forced: bool = False) -> list[Ran]:
    """Run what is due; a job that fails waits and does not stop the others. `forced` skips the pauses, not the gates."""
    model = thoughts.settings.model
    return [
        await _job(thoughts, "refresh", None, lambda: thoughts.refresh(model.refresh_timeout, forced=forced)),
        await _job(thoughts, "consolidate", await _backlog(thoughts, forced=forced), lambda: _consolidated(thoughts)),
        await _job(thoughts, "expire", await _gate(thoughts, "expire"), thoughts.expire),
        await _job(thoughts, "tidy", await _gate(thoughts, "tidy"), lambda: thoughts.tidy(model.tidy_timeout)),
        await _job(thoughts, "fold", await _gate(thoughts, "fold"), lambda: thoughts.fold(model.fold_timeout)),
    ]


async def _job(thoughts: Thoughts, task: str, gate: Gate | None, run: Callable[[], Awaitable[object]]) -> Ran:
    if gate is not None and not gate:
        return Ran(task, ran=False, reason=gate.reason)
    try:
        outcome = await run()
    except SidecarError as error:
        await thoughts.failed(task, error)
        return Ran(task, ran=False, reason=str(error))
    if isinstance(outcome, Gate):
        return Ran(task, ran=bool(outcome), reason=outcome.reason)
    return Ran(task, ran=True, reason=gate.reason if gate else "")


async def _consolidated(thoughts: Thoughts) -> None:
    await thoughts.consolidate(thoughts.settings.model.consolidate_timeout, boundary=False)


async def _backlog(thoughts: Thoughts, *, forced: bool) -> Gate:
    notes = await thoughts.notes()
    last = thoughts.store.transcript.last_number
    return gates.may_consolidate(notes, last, thoughts.clock.now(), forced=forced)


async def _gate(thoughts: Thoughts, task: str) -> Gate:
    notes, now = await thoughts.notes(), thoughts.clock.now()
    match task:
        case "expire":
            return gates.may_expire(notes, thoughts.today())
        case "tidy":
            return gates.may_tidy(notes, now)
        case _:
            return gates.may_fold(notes, now)
