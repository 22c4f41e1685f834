"""`pipimem watch`: the idle jobs, for ever."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import click

from pipimem.cli.options import Chosen, as_json, chosen, run
from pipimem.cli.printing import note, one_line, record
from pipimem.memory.gates import CLOSED

if TYPE_CHECKING:
    from anyio import CancelScope
    from anyio.abc import TaskStatus

    from pipimem.runtime.idle import Visit
    from pipimem.runtime.maintenance import Ran

_STOP = (signal.SIGTERM, signal.SIGINT)


@click.command("watch")
@as_json
@chosen
def command(chosen: Chosen, as_json: bool) -> None:
    """Do the idle jobs of every channel, for ever.

    Until Ctrl-C or SIGTERM. One line on standard error for each job done; quiet while nothing is due.
    """
    run(lambda: _watching(chosen, _record if as_json else _tell))


async def _watching(chosen: Chosen, report: Callable[[Visit], None]) -> None:
    from anyio import create_task_group  # with its event loop 25 ms that `--help` saves

    async with create_task_group() as tasks:
        await tasks.start(_until_stopped, tasks.cancel_scope)
        async with chosen.opened() as pipimem:
            told = f"watching {pipimem.store.root} with {pipimem.assistant.name}; Ctrl-C or SIGTERM ends it"
            await pipimem.watch(report, began=lambda: note(told))
    note("stopped; the files are whole")


async def _until_stopped(scope: CancelScope, *, task_status: TaskStatus[None]) -> None:
    from anyio import open_signal_receiver

    with open_signal_receiver(*_STOP) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()


@dataclass(frozen=True, slots=True)
class Line:
    """What is said of one job; `did` counts what was added, superseded, moved …"""

    time: str
    channel: str
    job: str
    ran: bool
    reason: str
    did: dict[str, int]
    due: str | None


def _lines(visit: Visit) -> list[Line]:
    """The jobs of a look that are worth a line: those that ran, and those that failed."""
    due = visit.due.isoformat(timespec="seconds") if visit.due else None
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    jobs = [job for job in visit.ran if job.ran or job.reason not in CLOSED]
    lines = [
        Line(now, visit.channel, job.task, job.ran, job.reason, _did(job), due) for job in jobs
    ]
    return [
        *lines,
        *([Line(now, visit.channel, "", False, visit.problem, {}, due)] if visit.problem else []),
    ]


def _did(job: Ran) -> dict[str, int]:
    return dict(Counter(change.verb for done in job.done for change in done.outcome.changes))


def _record(visit: Visit) -> None:
    for line in _lines(visit):
        record(asdict(line))


def _tell(visit: Visit) -> None:
    for line in _lines(visit):
        did = ", ".join(f"{count} {verb}" for verb, count in line.did.items())
        outcome = f"done: {did or 'nothing to change'}" if line.ran else f"not done: {line.reason}"
        note(one_line(f"{line.time} {line.channel} {line.job} {outcome}"))
