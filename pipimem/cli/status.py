"""`pipimem status`: how the channels stand."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import click

from pipimem.cli.accounts import account_json, today, told
from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.printing import counted, minute, note, one_line, record, table, worded
from pipimem.clock import Clock
from pipimem.errors import PipimemError
from pipimem.memory import gates
from pipimem.memory.window import counted as turns_and_tools
from pipimem.notes.operations import Hole
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import ChannelInfo, WorkspaceStore
from pipimem.text.dates.bounds import later

# A deletion that was a slip of the hand is missed within days; doctor tells for as long as it can be taken back.
_RECENT = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Recalls:
    """How recall did: turns, what half and 95 of 100 of the latest waited at most (ms), and looks into the cache with hits."""

    turns: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None
    looks: int = 0
    hits: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """One channel: its entries, its messages, how many of them wait to be consolidated, what is due and what was set aside.

    `shrunk` and `brought_back` are sentences of the last week: about files that a hand took more than half out of, and
    about forgotten lines that an older editor buffer had.
    """

    channel: str
    kind: str
    title: str = ""
    entries: int = 0
    messages: int = 0
    cursor: int = 0
    backlog: int = 0
    consolidated: str = ""
    waiting: tuple[str, ...] = ()
    holes: tuple[Hole, ...] = ()
    recall: Recalls = Recalls()
    shrunk: tuple[str, ...] = ()
    brought_back: tuple[str, ...] = ()
    problem: str = ""


@click.command("status")
@as_json
@chosen
def command(chosen: Chosen, as_json: bool) -> None:
    """Show how every channel stands.

    Entries of MEMORY.md, messages of the transcript, how many of those wait to be consolidated (backlog) or were set
    aside, when it was last done, the jobs that are due; how long turns waited for recall (half of them, 95 of 100), and
    how often its cache answered; what today has used of its budget; and, of the last week, files that lost more than
    half of their text by hand and saves that would have brought back what was forgotten.
    """
    workspace, now, settings = chosen.store(), Clock().now(), chosen.settings()
    standings = [_standing(workspace, info, now) for info in workspace.channels()]
    model = chosen.model or settings.model.name
    problems = workspace.failing()
    account = today(workspace, settings.budget, now)
    if as_json:
        record(
            {
                "workspace": workspace.root,
                "model": model,
                "budget": account_json(account),
                "channels": [asdict(each) for each in standings],
                "problems": [asdict(each) for each in problems],
            }
        )
        return
    note(f"{workspace.root} · model {model} · {counted(len(standings), 'channel')}")
    for line in told(account) if model != "offline" or account.workspace.spent.tokens else ():
        note(line)
    for problem in problems:
        note(one_line(problem.told()))
    for one in standings:
        for sentence in (*one.shrunk, *one.brought_back):
            note(one_line(f"{one.channel}: {sentence}"))
    if standings:
        table(
            ("channel", "kind", "entries", "messages", "backlog", "consolidated", "due", "recall"),
            map(_row, standings),
        )


def _standing(workspace: WorkspaceStore, info: ChannelInfo, now: datetime) -> Standing:
    try:
        store = ChannelStore.open(workspace, info.id, create=False)
        notes, last = store.notes(), store.transcript.last_number
        said = turns_and_tools(list(store.transcript.window(notes.ledger.refreshed)))
        jobs = gates.due(notes, last, said, now)
    except (PipimemError, OSError) as error:  # one broken channel must not hide the others
        return Standing(info.id, info.kind, info.title, problem=worded(error))
    ledger, kept, edits = (
        notes.ledger,
        store.caches.kept_figures(),
        store.edit_notices(later(now, -_RECENT)),
    )
    job = ledger.jobs.get("consolidate")
    return Standing(
        info.id,
        info.kind,
        info.title,
        len(notes.memory.entries),
        last,
        ledger.cursor,
        max(0, last - ledger.cursor),
        job.ran if job else "",
        tuple(task for task, gate in jobs.items() if gate),
        ledger.holes,
        Recalls(kept.turns, kept.wait(0.5), kept.wait(0.95), kept.looks, kept.hits),
        edits.shrunk,
        edits.brought_back,
    )


def _row(one: Standing) -> tuple[object, ...]:
    if one.problem:
        return (one.channel, one.kind, "", "", "", "", "", one.problem)
    when = minute(one.consolidated) or "never"
    set_aside = sum(hole.last - hole.first + 1 for hole in one.holes)
    backlog = f"{one.backlog} + {set_aside} set aside" if set_aside else one.backlog
    numbers = (one.entries, one.messages, backlog)
    return (
        one.channel,
        one.kind,
        *numbers,
        when,
        ", ".join(one.waiting) or "nothing",
        _waits(one.recall),
    )


def _waits(one: Recalls) -> str:
    """How long turns waited (half of them, 95 of 100), and how often the cache answered."""
    if one.p50_ms is None or one.p95_ms is None:
        return "no turn yet"
    hits = f", {one.hits / one.looks:.0%} cached" if one.looks else ""
    return f"{one.p50_ms:.1f} / {one.p95_ms:.1f} ms{hits}"
