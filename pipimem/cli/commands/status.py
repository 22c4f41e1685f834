"""`pipimem status`: how the channels stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from math import inf
from shlex import quote
from typing import TYPE_CHECKING

import click
from msgspec import structs

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import counted, fields, minute, note, one_line, record, table
from pipimem.clock import Clock
from pipimem.runtime.channel_status import ChannelStatus, RecallWaits, channel_statuses
from pipimem.runtime.health_report import Today, missing_embedder, today

if TYPE_CHECKING:
    from pipimem.runtime.fleet.overview import FleetOverview
from pipimem.runtime.opened_parts import WorkspaceStore

# Of the rules that wait, so many are told by who said them.
_MOST_SHOWN = 3
_HEAD = ("channel", "kind", "entries", "log", "backlog", "last learnt", "due", "recall p50 / p95")


@click.command("status")
@as_json
@chosen
def command(chosen: Chosen, as_json: bool) -> None:
    """Show how every channel stands.

    Entries of MEMORY.md, messages of the transcript, how many of those wait to be consolidated
    (backlog), when it was last done, the jobs that are due; how long turns waited for recall (p50:
    half of them no longer than this, p95: 95 of 100); what today has used of its budget; messages
    that were set aside, jobs that failed or wait, notes that are no text and what waits for them;
    of the last week, files that lost more than half of their text by hand and saves that would have
    brought back what was forgotten; what was hidden because people marked it as private; rules that
    wait until another member agrees; what answers of models had and memory did not take. In a
    fleet: its hosts, their leases, the queue.
    """
    workspace, now, settings = chosen.store(), Clock().now(), chosen.settings()
    channels = channel_statuses(workspace, now)
    model = chosen.model or settings.model.name
    problems = workspace.failing()
    used = today(workspace, settings.budget, now)
    overview = _fleet(workspace)
    if as_json:
        record(
            {
                "workspace": workspace.root,
                "model": model,
                "budget": _budget_json(used),
                "channels": list(map(_json, channels)),
                "problems": [structs.asdict(each) | {"channel": name} for name, each in problems],
                **_fleet_json(overview),
            }
        )
        return
    note(f"{workspace.root} · model {model} · {counted(len(channels), 'channel')}")
    notes = used.lines() if model != "offline" or used.workspace.spent.tokens else []
    notes += filter(None, [missing_embedder(settings)])
    notes += [problem.sentence(name) for name, problem in problems]
    for line in [*notes, *_fleet_lines(overview)]:
        note(one_line(line))
    if channels:
        show_channels(channels)


def _fleet(workspace: WorkspaceStore) -> FleetOverview | None:
    """The hosts that share the workspace; `None` on one host."""
    if workspace.fleet is None:
        return None
    from pipimem.runtime.fleet.overview import fleet_overview  # of a fleet alone

    return fleet_overview(workspace.fleet)


def _fleet_lines(overview: FleetOverview | None) -> list[str]:
    return [f"fleet: {line}" for line in overview.lines()] if overview else []


def _fleet_json(overview: FleetOverview | None) -> dict[str, object]:
    return {"fleet": asdict(overview)} if overview else {}


def show_channels(channels: Sequence[ChannelStatus]) -> None:
    """What is to be known of each channel, and a row for each."""
    for line in chain.from_iterable(map(_notes, channels)):
        note(one_line(line))
    table(_HEAD, map(_row, channels))


def _notes(one: ChannelStatus) -> Iterator[str]:
    set_aside = sum(hole.last - hole.first + 1 for hole in one.holes)
    if set_aside:
        again = f"`pipimem consolidate {quote(one.channel)} --holes` tries again"
        yield f"{one.channel}: {counted(set_aside, 'message')} set aside; {again}"
    for job in one.failing:
        yield f"{one.channel}: {job}: {one.jobs[job]}"
    for sentence in (*one.unreadable, *one.shrunk, *one.brought_back):
        yield f"{one.channel}: {sentence}"
    if one.counts_as_group:
        yield f"{one.channel}: a second person has spoken: this direct chat counts as a group now"
    if one.awaiting:
        yield f"{one.channel}: {_awaiting(one)}"
    if one.left_out:
        yield (
            f"{one.channel}: {counted(one.left_out, 'thing')} left out of memory; "
            f"`pipimem log {quote(one.channel)} --left-out` lists them"
        )
    if one.private.messages:
        yield f"{one.channel}: {_hidden(one)}"


def _awaiting(one: ChannelStatus) -> str:
    """The rules that bind nobody yet, by who said them."""
    shown = "; ".join(one.awaiting[:_MOST_SHOWN])
    more = len(one.awaiting) - _MOST_SHOWN
    rest = f"; {more} more" if more > 0 else ""
    rules = counted(len(one.awaiting), "rule")
    return f"{rules} kept as a quote until another member agrees: {shown}{rest}; see `doctor`"


def _hidden(one: ChannelStatus) -> str:
    """What people marked as private, as a sentence."""
    counts = one.private
    stretches = counted(counts.stretches, "private stretch", "private stretches")
    messages = counted(counts.messages, "message")
    sessions = counted(one.private_sessions, "session")
    sizes = f"of {counts.chars_before:,} characters {counts.chars_after:,} are kept"
    open_tags = f", {counted(counts.unclosed, 'tag')} never closed" if counts.unclosed else ""
    return f"{stretches} hidden in {messages} of {sessions}: {sizes}{open_tags}"


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
    counts = fields(today, "resting", "under_way", "unpriced")
    return {"workspace": workspace, "channels": channels, **counts}


def _json(one: ChannelStatus) -> dict[str, object]:
    return asdict(one) | {"holes": [hole._asdict() for hole in one.holes]}


def _row(one: ChannelStatus) -> tuple[object, ...]:
    if one.problem:
        return one.channel, one.kind, "", "", "", "", "", one.problem
    last = minute(one.consolidated) or "never"
    due = ", ".join(one.waiting) or "nothing"
    counts = (one.entries, one.messages, one.backlog)
    return one.channel, one.kind, *counts, last, due, _waits(one.recall)


def _waits(one: RecallWaits) -> str:
    """How long half of the turns and 95 of 100 waited, in milliseconds."""
    if one.p50_ms is None or one.p95_ms is None:
        return "no turn yet"
    return f"{one.p50_ms:.1f} / {one.p95_ms:.1f} ms"
