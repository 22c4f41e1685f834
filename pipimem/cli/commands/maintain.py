"""`pipimem maintain`: the idle jobs, by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import click

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import Failed, one_line, record, table
from pipimem.cli.running import opened_runtime, run
from pipimem.notes.notes import Refusal
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.maintenance.jobs import Ran

_TEXT = 200


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

    The jobs are refresh, consolidate, history, expire, tidy and fold, in CHANNEL or in every
    channel. Pauses between jobs do not count; what has nothing to do does not run, and the reason
    says so.
    """
    names = [info.id for info in chosen.store().channels()] if channel is None else [channel]
    jobs = run(lambda: _ran(chosen, names, dry_run=dry_run)) if names else []
    if as_json:
        _record(names, jobs)
    else:
        _show(jobs, "would run" if dry_run else "ran")
    for _, job in jobs:
        if job.failed:
            raise Failed(f"{job.task} was not done: {job.reason}")


async def _ran(chosen: Chosen, names: list[str], *, dry_run: bool) -> list[tuple[str, Ran]]:
    """The jobs of the channels, each with the name of its channel."""
    jobs: list[tuple[str, Ran]] = []
    async with opened_runtime(chosen) as pipimem:
        for name in names:
            upkeep = upkeep_of(await pipimem.channel(name, create=False))
            ran = await upkeep.maintain(forced=True, dry_run=dry_run)
            jobs += [(name, job) for job in ran]
            if not dry_run:
                await upkeep.keep_search()
    return jobs


def _show(jobs: list[tuple[str, Ran]], verb: str) -> None:
    rows, changes = [], []
    for name, job in jobs:
        rows.append((name, job.task, "yes" if job.ran else "no", job.reason))
        changes += [(name, job.task, *row) for row in _rows(job)]
    table(("channel", "job", verb, "reason"), rows, empty="there are no channels yet")
    if changes:
        table(("channel", "job", "file", "what", "before", "after"), changes)


def _record(names: list[str], jobs: list[tuple[str, Ran]]) -> None:
    for name in names:
        own = [_json(job) for owner, job in jobs if owner == name]
        record({"channel": name, "jobs": own})


def _json(job: Ran) -> dict[str, object]:
    """A job with its changes, what was refused and what was left out."""
    changes: list[dict[str, object]] = []
    refused: list[dict[str, str]] = []
    notes: list[str] = []
    tokens = 0
    for each in job.done:
        changes += map(asdict, each.outcome.changes)
        refused += map(_refused, each.outcome.refused)
        notes += each.decision.notes
        tokens += each.decision.tokens.run if each.decision.tokens else 0
    done = {"changes": changes, "refused": refused, "notes": notes, "tokens": tokens}
    return {"job": job.task, "ran": job.ran, "reason": job.reason, **done}


def _rows(job: Ran) -> Iterator[tuple[str, str, str, str]]:
    """File, what happens in which section, the text before and the text after; file by file."""
    changes = [change for done in job.done for change in done.outcome.changes]
    for change in sorted(changes, key=lambda change: change.file):
        what = " · ".join(filter(None, (change.verb, change.section, change.reason)))
        after = "" if change.verb == "confirmed" else change.after
        yield str(change.file), what, one_line(change.before, _TEXT), one_line(after, _TEXT)
    for done in job.done:
        for refusal in done.outcome.refused:
            text = one_line(getattr(refusal.operation, "text", ""), _TEXT)
            yield "", f"refused · {refusal.reason}", "", text
        for note in done.decision.notes:
            yield "", "left out", "", one_line(note, _TEXT)


def _refused(refusal: Refusal) -> dict[str, str]:
    text = getattr(refusal.operation, "text", "") or getattr(refusal.operation, "title", "")
    return {"operation": type(refusal.operation).__name__, "text": text, "reason": refusal.reason}
