"""`pipimem replay`: a recorded conversation fed through the real runtime as if it happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import click

from pipimem.cli.commands.usage import cost_text
from pipimem.cli.metrics import MetricsOptions, metrics_options
from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen, kind
from pipimem.cli.output import Failed, counted, fields, progress, record, say
from pipimem.cli.running import opened_runtime, run
from pipimem.clock import Clock
from pipimem.runtime.channel_status import status_of
from pipimem.runtime.replay import EventTime, Replayed, recorded, replay
from pipimem.runtime.usage_sums import UsageSum, usage_sum


@dataclass(frozen=True, slots=True)
class Report:
    """A replay and what it left.

    These are files with their sizes in bytes, what models cost, entries of MEMORY.md, and how many
    messages are not consolidated.
    """

    channel: str
    replayed: Replayed
    files: dict[Path, int]
    usage: UsageSum
    entries: int
    backlog: int


@click.command("replay")
@channel
@click.argument("file")
@kind
@click.option(
    "--compact-every",
    type=click.IntRange(min=1),
    metavar="N",
    help="A compaction every N messages.",
)
@click.option("--maintain", is_flag=True, help="Run the idle jobs at the end.")
@metrics_options
@as_json
@chosen
def command(
    chosen: Chosen,
    channel: str,
    file: str,
    kind: Literal["dm", "group"],
    compact_every: int | None,
    maintain: bool,
    as_json: bool,
    metrics: MetricsOptions,
) -> None:
    """Feed a recorded conversation to CHANNEL.

    FILE (- for standard input) is JSON Lines, one message a line: {"id", "ts", "role", "name",
    "content", "session"}; only role and content are needed. CHANNEL is made if it is new. A second
    time adds nothing.
    """
    every = compact_every or 0
    report = run(lambda: _replayed(chosen, channel, Path(file), kind, every, maintain, metrics))
    if as_json:
        record(_json(report))
    else:
        say("\n".join(_lines(report)))
    if report.backlog:
        why = report.replayed.reasons[-1] if report.replayed.reasons else "the gate did not open"
        messages = counted(report.backlog, "message")
        verb = "is" if report.backlog == 1 else "are"
        raise Failed(
            f"{messages} {verb} on disk but not consolidated: {why} "
            f"Nothing is lost; `pipimem consolidate {channel}` goes on."
        )


async def _replayed(
    chosen: Chosen,
    name: str,
    file: Path,
    kind: Literal["dm", "group"],
    every: int,
    maintain: bool,
    metrics: MetricsOptions,
) -> Report:
    messages, time = recorded(file), EventTime()
    workspace = chosen.store()
    # Calls that are in the ledger already are an earlier run's.
    before = len(workspace.usages())
    settings = chosen.settings()
    # Nobody reads a replay's turns: a model that picks among what was recalled would only cost.
    settings = replace(settings, recall=replace(settings.recall, rerank="never"))
    async with opened_runtime(chosen, settings=settings, clock=time.clock()) as pipimem:
        channel = await pipimem.channel(name, kind=kind)
        async with metrics.served(pipimem):
            with progress(f"replaying {file.name}", len(messages)) as moved:
                done = await replay(
                    channel, messages, time, compact_every=every, maintain=maintain, progress=moved
                )
    status = status_of(workspace, name, Clock().now())
    if status.problem:
        raise Failed(status.problem)
    paths = [channel.notes.path(file) for file in NOTES.values()]
    sizes = {path: path.stat().st_size for path in paths if path.is_file()}
    calls = [usage for usage in workspace.usages()[before:] if usage.channel == name]
    return Report(name, done, sizes, usage_sum(calls), status.entries, status.backlog)


def _lines(report: Report) -> Iterator[str]:
    done, cost = report.replayed, report.usage
    read = counted(done.messages, "message")
    yield f"{read} read, {done.new:,} new, {counted(done.turns, 'turn')}"
    yield f"{counted(done.compactions, 'compaction')}, {done.deferred} not consolidated at once"
    # The last of them is told at the end, where talk is left over for it.
    reasons = dict.fromkeys(done.reasons)
    if report.backlog and reasons:
        reasons.popitem()
    for reason in reasons:
        yield f"  {reason}"
    for job in done.jobs:
        yield f"  {job.task}: {'done' if job.ran else 'not run'} ({job.reason})"
    yield f"{counted(report.entries, 'entry', 'entries')} in MEMORY.md"
    for path, size in report.files.items():
        yield f"  {size:>7,} bytes  {path}"
    calls = f"{counted(cost.calls, 'model call')}, {cost.failed} failed"
    yield f"{calls}, {cost.tokens_in:,} tokens in, {cost.tokens_out:,} out, {cost_text(cost)}"


def _json(report: Report) -> dict[str, object]:
    done = report.replayed
    return {
        "channel": report.channel,
        **fields(done, "messages", "new", "turns", "compactions", "deferred", "reasons"),
        "jobs": [{"job": job.task, "ran": job.ran, "reason": job.reason} for job in done.jobs],
        **fields(report, "entries", "backlog"),
        "files": [{"path": path, "bytes": size} for path, size in report.files.items()],
        "usage": asdict(report.usage),
    }
