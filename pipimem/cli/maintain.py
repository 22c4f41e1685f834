"""`pipimem maintain`: the idle jobs, by hand."""

from __future__ import annotations

import click

from pipimem.cli.due import due
from pipimem.cli.failing import Failed
from pipimem.cli.opening import Chosen, run
from pipimem.cli.options import as_json, chosen
from pipimem.cli.printing import note, record, table
from pipimem.clock import Clock
from pipimem.runtime.maintenance import Ran
from pipimem.store.channel import ChannelStore

# Reasons of a closed gate: nothing is wrong with these.
_FINE = frozenset(
    (
        "nothing new",
        "too little new",
        "short enough",
        "unchanged",
        "nothing to expire",
        "ran a short while ago",
    )
)


@click.command("maintain")
@click.argument("channel", required=False)
@click.option("--dry-run", is_flag=True, help="Say which jobs would run, and why; run none.")
@as_json
@chosen
def command(chosen: Chosen, channel: str | None, dry_run: bool, as_json: bool) -> None:
    """Refresh, consolidate, tidy, fold and expire in CHANNEL, or in every channel."""
    workspace = chosen.store()
    names = [channel] if channel is not None else [info.id for info in workspace.channels()]
    if dry_run:
        now = Clock().now()
        jobs = {
            name: [
                Ran(task, gate.open, gate.reason)
                for task, gate in due(ChannelStore.open(workspace, name, create=False), now, forced=True).items()
            ]
            for name in names
        }
    else:
        jobs = run(lambda: _ran(chosen, names))
    _tell(jobs, "would run" if dry_run else "ran", as_json)
    failed = [job for ran in jobs.values() for job in ran if not job.ran and job.reason not in _FINE]
    if failed and not dry_run:
        raise Failed(f"{failed[0].task} was not done: {failed[0].reason}")


def _tell(jobs: dict[str, list[Ran]], verb: str, as_json: bool) -> None:
    if as_json:
        for name, ran in jobs.items():
            record(
                {
                    "channel": name,
                    "jobs": [{"job": job.task, "ran": job.ran, "reason": job.reason} for job in ran],
                }
            )
    elif not jobs:
        note("there are no channels yet")
    else:
        rows = [(name, job.task, "yes" if job.ran else "no", job.reason) for name, ran in jobs.items() for job in ran]
        table(("channel", "job", verb, "reason"), rows)


async def _ran(chosen: Chosen, names: list[str]) -> dict[str, list[Ran]]:
    jobs = {}
    async with chosen.opened() as pipimem:
        for name in names:
            channel = await pipimem.channel(name, create=False)
            jobs[name] = await channel.maintain(forced=True)
    return jobs
