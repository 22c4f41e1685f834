"""`pipimem maintain`: the idle jobs, by hand."""

from __future__ import annotations

import click

from pipimem.cli.changes import done_json, done_rows
from pipimem.cli.options import Chosen, as_json, chosen, run
from pipimem.cli.printing import Failed, record, table
from pipimem.memory.gates import IDLE
from pipimem.runtime.maintenance import Ran


@click.command("maintain")
@click.argument("channel", required=False)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show what would be changed, and change nothing. A model is asked.",
)
@as_json
@chosen
def command(chosen: Chosen, channel: str | None, dry_run: bool, as_json: bool) -> None:
    """Do the idle jobs now, and show what they changed.

    The jobs are refresh, consolidate, expire, tidy and fold, in CHANNEL or in every channel. Pauses between jobs do not
    count; what has nothing to do does not run, and the reason says so.
    """
    names = [channel] if channel is not None else [info.id for info in chosen.store().channels()]
    jobs = run(lambda: _ran(chosen, names, dry_run=dry_run)) if names else {}
    _tell(jobs, "would run" if dry_run else "ran", as_json)
    failed = [job for ran in jobs.values() for job in ran if not job.ran and job.reason not in IDLE]
    if failed:
        raise Failed(f"{failed[0].task} was not done: {failed[0].reason}")


def _tell(jobs: dict[str, list[Ran]], verb: str, as_json: bool) -> None:
    if as_json:
        for name, ran in jobs.items():
            told = [
                {"job": job.task, "ran": job.ran, "reason": job.reason, **done_json(job.done)}
                for job in ran
            ]
            record({"channel": name, "jobs": told})
        return
    rows = [
        (name, job.task, "yes" if job.ran else "no", job.reason)
        for name, ran in jobs.items()
        for job in ran
    ]
    table(("channel", "job", verb, "reason"), rows, empty="there are no channels yet")
    changes = [
        (name, job.task, *row)
        for name, ran in jobs.items()
        for job in ran
        for row in done_rows(job.done)
    ]
    if changes:
        table(("channel", "job", "file", "what", "before", "after"), changes)


async def _ran(chosen: Chosen, names: list[str], *, dry_run: bool) -> dict[str, list[Ran]]:
    jobs = {}
    async with chosen.opened() as pipimem:
        for name in names:
            channel = await pipimem.channel(name, create=False)
            jobs[name] = await channel.maintain(forced=True, dry_run=dry_run)
            if not dry_run:
                await channel.keep_search()
    return jobs
