"""How each channel of a workspace stands, as `status` shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pipimem.errors import PipimemError, worded
from pipimem.memory import gates
from pipimem.memory.window import counted as turns_and_tools
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Hole, Job
from pipimem.store.channel import ChannelStore
from pipimem.store.history.edit_notices import edit_notices
from pipimem.store.workspace import ChannelInfo, WorkspaceStore
from pipimem.text.dates.bounds import later
from pipimem.text.private import PrivateCounts

# A deletion that was a slip of the hand is missed within days; doctor tells for as long as it can
# be taken back.
_RECENT = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class RecallWaits:
    """How recall did: turns, what half and 95 of 100 of the latest waited at most (ms)."""

    turns: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None


@dataclass(frozen=True, slots=True)
class ChannelStatus:
    """One channel: counts of entries and messages, the backlog, due jobs, what was set aside.

    `waiting` are the jobs that are due, `jobs` says of each why it is or is not, and until when;
    `failing` are those that failed the last time, or are kept from going on.

    `unreadable` says of each note that is no text why, what serves instead, and what waits for it.
    `shrunk` and `brought_back` are sentences of the last week: about files that a hand took more
    than half out of, and about forgotten lines that an older editor buffer had. `private` counts
    what was hidden of messages, in `private_sessions` sessions. `awaiting` says of each rule that
    waits for a second voice who alone said it. A direct chat with a second speaker
    `counts_as_group`. `left_out` counts what answers of models had and memory did not take, of the
    last 30 days.
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
    jobs: Mapping[str, str] = field(default_factory=dict)
    holes: tuple[Hole, ...] = ()
    recall: RecallWaits = RecallWaits()
    unreadable: tuple[str, ...] = ()
    shrunk: tuple[str, ...] = ()
    brought_back: tuple[str, ...] = ()
    problem: str = ""
    failing: tuple[str, ...] = ()
    private: PrivateCounts = field(default_factory=PrivateCounts)
    private_sessions: int = 0
    awaiting: tuple[str, ...] = ()
    counts_as_group: bool = False
    left_out: int = 0


def channel_statuses(workspace: WorkspaceStore, now: datetime) -> list[ChannelStatus]:
    """All channels, by id; one that cannot be read says why."""
    return [channel_status(workspace, info, now) for info in workspace.channels()]


def status_of(workspace: WorkspaceStore, name: str, now: datetime) -> ChannelStatus:
    """How the channel of an id stands. Raises `ChannelError` for an unknown one."""
    folder = ChannelStore.open(workspace, name, create=False).folder
    (info,) = [info for info in workspace.channels() if info.folder == folder]
    return channel_status(workspace, info, now)


def channel_status(workspace: WorkspaceStore, info: ChannelInfo, now: datetime) -> ChannelStatus:
    """How one channel stands; one that cannot be read says why."""
    try:
        return _status_of(ChannelStore.open(workspace, info.id, create=False), info, now)
    except (PipimemError, OSError) as error:  # one broken channel must not hide the others
        return ChannelStatus(info.id, info.kind, info.title, problem=worded(error))


def _status_of(store: ChannelStore, info: ChannelInfo, now: datetime) -> ChannelStatus:
    notes, last = store.notes(), store.transcript.last_number
    counts = turns_and_tools(list(store.transcript.window(notes.ledger.refreshed)))
    said = next(store.transcript.window(last - 1, last), None)
    jobs = gates.due(notes, last, counts, now, newest=lambda: said.time if said else None)
    edits = edit_notices(store.channel_id, store.past(), later(now, -_RECENT))
    ledger, figures = notes.ledger, store.caches.kept_figures()
    failures = {task: done.failures for task, done in ledger.jobs.items()}
    return ChannelStatus(
        channel=info.id,
        kind=info.kind,
        title=info.title,
        entries=len(notes.memory.entries),
        messages=last,
        cursor=ledger.cursor,
        backlog=max(0, last - ledger.cursor),
        consolidated=ledger.jobs.get("consolidate", Job()).ran,
        waiting=tuple(task for task, gate in jobs.items() if gate),
        jobs={task: _reason(gate, failures.get(task, 0)) for task, gate in jobs.items()},
        holes=ledger.holes,
        recall=RecallWaits(figures.turns, figures.wait(0.5), figures.wait(0.95)),
        unreadable=tuple(found.sentence for found in store.unreadable().values()),
        shrunk=edits.shrunk,
        brought_back=edits.brought_back,
        failing=tuple(task for task, gate in jobs.items() if failures.get(task) or gate.is_held),
        private=figures.private,
        private_sessions=figures.private_sessions,
        awaiting=_awaiting(notes),
        counts_as_group=_counts_as_group(info, notes),
        left_out=len(store.left_out()),
    )


def _counts_as_group(info: ChannelInfo, notes: Notes) -> bool:
    """Whether a direct chat has a second speaker."""
    return info.kind == "dm" and not notes.is_direct


def _awaiting(notes: Notes) -> tuple[str, ...]:
    return tuple(record.why_awaiting for _, record in notes.awaiting(notes.memory.entries))


def _reason(gate: gates.Gate, failures: int) -> str:
    """Why a job is due or not, until when it is not where time alone will tell, and how often it
    failed in a row.
    """
    text = gate.reason
    if not gate and gate.opens is not None:
        text += f", until {gate.opens:%Y-%m-%d %H:%M}"
    if failures:
        text += "; failed once" if failures == 1 else f"; failed {failures} times in a row"
    return text
