"""`pipimem log`: who changed a channel's memory, and why."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.printing import counted, fields, minute, one_line, record, say, table
from pipimem.notes.notes import Change
from pipimem.notes.operations import Progress
from pipimem.store.channel import ChannelStore
from pipimem.store.journal.records import JournalRecord

_TEXT = 90
# A fold that is taken back brings back hundreds of lines: more than fits a screen tells nobody anything.
_SHOWN = 20


@click.command("log")
@channel
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="How many of the newest commits.",
)
@as_json
@chosen
def command(chosen: Chosen, channel: str, count: int, as_json: bool) -> None:
    """Show who changed what, and why, newest first.

    A commit that changed several things takes several lines. An edit by hand is noted at the next turn or job.
    """
    store = ChannelStore.open(chosen.store(), channel, create=False)
    newest = list(deque(store.journal_records(), maxlen=count))[::-1]
    if as_json:
        for one in newest:
            record(_json(one))
    else:
        rows = [row for one in newest for row in _rows(one)]
        table(("seq", "when", "who", "task", "what"), rows, empty="nothing was changed yet")


def _rows(one: JournalRecord) -> list[tuple[object, ...]]:
    what = [told(change) for change in one.changes]
    what += [
        f"refused: {line.operation} {one_line(line.text, _TEXT)} ({line.reason})".strip()
        for line in one.refused
    ]
    what += [f"left out: {one_line(line, _TEXT)}" for line in one.notes]
    lines = what or [
        "; ".join(filter(None, (one.why, _moved(one.delta.progress)))) or "bookkeeping"
    ]
    first = (one.sequence, minute(one.time), one.actor or one.author, one.task)
    # Repeated in each line where columns are cut by a script; a person sees the group by the same time.
    return [(*first, line) for line in lines]


def told(change: Change) -> str:
    """One change on one line."""
    place = change.file + (f" · {change.section}" if change.section else "")
    text = one_line(change.after or change.before, _TEXT)
    before = (
        f" (was: {one_line(change.before, _TEXT)})"
        if change.before and change.after not in ("", change.before)
        else ""
    )
    reason = f" ({change.reason})" if change.reason else ""
    return (
        f"{change.verb} {place}: {text}{before}{reason}"
        if text
        else f"{change.verb} {place}{reason}"
    )


def say_all(changes: Sequence[Change], channel: str) -> None:
    """Tell the changes of an undo or a restore, one a line; what would not fit a screen is counted."""
    for change in changes[:_SHOWN]:
        say(f"  {told(change)}")
    if (more := len(changes) - _SHOWN) > 0:
        say(f"  and {counted(more, 'more change')}; `pipimem diff {channel}` shows every line")


def _moved(progress: Progress) -> str:
    if progress.narrowed is not None:
        return ""  # a window that failed: the reason says what became of it
    names = ("cursor", "boundary", "refreshed", "epoch")
    return ", ".join(
        f"{name} is now {value}" for name in names if (value := getattr(progress, name)) is not None
    )


def _json(one: JournalRecord) -> dict[str, object]:
    return {
        "seq": one.sequence,
        "when": one.time,
        **fields(one, "task", "author", "actor", "why", "correlation"),
        "changes": [asdict(change) for change in one.changes],
        "refused": [asdict(refused) for refused in one.refused],
        "notes": one.notes,
        "tokens": asdict(one.tokens) if one.tokens else None,
    }
