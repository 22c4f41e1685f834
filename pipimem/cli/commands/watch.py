"""`pipimem watch`: the idle jobs, until it is stopped."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import click
from anyio import CancelScope, create_task_group, open_signal_receiver

from pipimem.cli.log_lines import logged, logs_are_json
from pipimem.cli.metrics import MetricsOptions, metrics_options
from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import note, one_line, record
from pipimem.cli.running import opened_runtime, run
from pipimem.clock import Clock

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

    from pipimem.runtime.maintenance.jobs import Ran
    from pipimem.runtime.maintenance.worker import Visit
    from pipimem.runtime.pipimem import Pipimem

_STOP = (signal.SIGTERM, signal.SIGINT)


@click.command("watch")
@click.option("--fleet", is_flag=True, help="As one worker among those of several hosts.")
@as_json
@metrics_options
@chosen
def command(chosen: Chosen, as_json: bool, metrics: MetricsOptions, fleet: bool) -> None:
    """Do the idle jobs of every channel, until stopped.

    Ctrl-C or SIGTERM ends it. One line on standard error for each job done; quiet while nothing is
    due. With `--fleet` it shares them with the workers of other hosts: `[fleet] database`.
    """
    run(lambda: _watching(chosen, metrics, _record if as_json else _tell, fleet=fleet))


async def _watching(
    chosen: Chosen, metrics: MetricsOptions, report: Callable[[Visit], None], *, fleet: bool
) -> None:
    async with create_task_group() as tasks:
        await tasks.start(_until_stopped, tasks.cancel_scope)
        async with opened_runtime(chosen) as pipimem:
            who = f"watching {chosen.workspace} with {pipimem.assistant.name}"
            began = partial(note, f"{who}; Ctrl-C or SIGTERM ends it")
            problem = _no_problem if fleet else partial(_leadership_problem, pipimem)
            async with metrics.served(pipimem, problem):
                await pipimem.watch(report, began=began, fleet=fleet)
    note("stopped; the files are whole")


def _no_problem() -> str:
    return ""


def _leadership_problem(pipimem: Pipimem) -> str:
    return "" if pipimem.does_idle_work else "this process does not do the idle work"


async def _until_stopped(scope: CancelScope, *, task_status: TaskStatus[None]) -> None:
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
    """The jobs of a visit that are worth a line: those that ran, and those that failed."""
    due = visit.due.isoformat(timespec="seconds") if visit.due else None
    now = Clock().now().isoformat(timespec="seconds")
    lines = [
        Line(now, visit.channel, job.task, job.ran, job.reason, _did(job), due)
        for job in visit.ran
        if job.is_news
    ]
    if visit.problem:
        lines.append(Line(now, visit.channel, "", False, visit.problem, {}, due))
    return lines


def _did(job: Ran) -> dict[str, int]:
    return dict(Counter(change.verb for done in job.done for change in done.outcome.changes))


def _record(visit: Visit) -> None:
    for line in _lines(visit):
        record(asdict(line))


def _tell(visit: Visit) -> None:
    if logs_are_json():
        # A line of each job is there already; reasons may hold the words of a model.
        if visit.problem:
            logged("a channel cannot be looked after: `pipimem doctor` says why", "WARNING")
        return
    for line in _lines(visit):
        outcome = f"not done: {line.reason}"
        if line.ran:
            did = ", ".join(f"{count} {verb}" for verb, count in line.did.items())
            outcome = f"done: {did or 'nothing to change'}"
        note(one_line(f"{line.time} {line.channel} {line.job} {outcome}"))
