"""`pipimem status`: how the channels stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from math import inf

import click

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import counted, fields, minute, note, one_line, record, table
from pipimem.clock import Clock
from pipimem.runtime.channel_status import ChannelStatus, RecallWaits, channel_statuses
from pipimem.runtime.health_report import Today, missing_embedder, today

_HEAD = ("channel", "kind", "entries", "log", "backlog", "last learnt", "due", "recall")


@click.command("status")
@as_json
@chosen
def command(chosen: Chosen, as_json: bool) -> None:
    """Show how every channel stands.

    Entries of MEMORY.md, messages of the transcript, how many of those wait to be consolidated
    (backlog) or were set aside, when it was last done, the jobs that are due; how long turns waited
    for recall (half of them, 95 of 100); what today has used of its budget; and, of the last week,
    files that lost more than half of their text by hand and saves that would have brought back what
    was forgotten.
    """
    workspace, now, settings = chosen.store(), Clock().now(), chosen.settings()
    channels = channel_statuses(workspace, now)
    model = chosen.model or settings.model.name
    problems = workspace.failing()
    used = today(workspace, settings.budget, now)
    if as_json:
        record(
            {
                "workspace": workspace.root,
                "model": model,
                "budget": _budget_json(used),
                "channels": list(map(_json, channels)),
                "problems": [asdict(each) | {"channel": name} for name, each in problems],
            }
        )
        return
    note(f"{workspace.root} · model {model} · {counted(len(channels), 'channel')}")
    notes = used.told() if model != "offline" or used.workspace.spent.tokens else []
    missing = missing_embedder(settings)
    notes += [missing] if missing else []
    notes += [problem.sentence(name) for name, problem in problems]
    for line in (*notes, *_edits(channels)):
        note(one_line(line))
    if channels:
        show_channels(channels)


def show_channels(channels: Iterable[ChannelStatus]) -> None:
    """A row for each channel."""
    table(_HEAD, map(_row, channels))


def _edits(channels: Iterable[ChannelStatus]) -> Iterator[str]:
    for one in channels:
        for sentence in (*one.shrunk, *one.brought_back):
            yield f"{one.channel}: {sentence}"


def _budget_json(today: Today) -> dict[str, object]:
    """The budgets for scripts; a limit is null where there is none."""
    workspace, *channels = [
        {
            "whose": budget.whose,
            "tokens": int(budget.spent.tokens),
            "tokens_per_day": None if budget.limit.tokens == inf else int(budget.limit.tokens),
            "cost": budget.spent.dollars,
            "cost_per_day": None if budget.limit.dollars == inf else budget.limit.dollars,
            "share": round(budget.share, 4),
        }
        for budget in (today.workspace, *today.channels)
    ]
    counts = fields(today, "resting", "under_way", "unpriced", "damaged")
    return {"workspace": workspace, "channels": channels, **counts}


def _json(one: ChannelStatus) -> dict[str, object]:
    return asdict(one) | {"holes": [hole._asdict() for hole in one.holes]}


def _row(one: ChannelStatus) -> tuple[object, ...]:
    if one.problem:
        return one.channel, one.kind, "", "", "", "", "", one.problem
    backlog = str(one.backlog)
    set_aside = sum(hole.last - hole.first + 1 for hole in one.holes)
    if set_aside:
        backlog += f" + {set_aside} set aside"
    last = minute(one.consolidated) or "never"
    due = ", ".join(one.waiting) or "nothing"
    counts = (one.entries, one.messages, backlog)
    return one.channel, one.kind, *counts, last, due, _waits(one.recall)


def _waits(one: RecallWaits) -> str:
    """How long half of the turns and 95 of 100 waited, in milliseconds."""
    if one.p50_ms is None or one.p95_ms is None:
        return "no turn yet"
    return f"{one.p50_ms:.1f} / {one.p95_ms:.1f} ms"
