"""`pipimem log`: who changed a channel's memory, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain

import click
from msgspec import structs

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import Failed, counted, fields, minute, one_line, records, say, table
from pipimem.notes.operations import Change
from pipimem.runtime.history import ChannelHistory, LoggedChange
from pipimem.runtime.notes import ChannelNotes, LeftOutItem
from pipimem.runtime.opened_parts import run_alone

_TEXT = 90
# A fold that is taken back brings back hundreds of lines: nobody reads more than a screen.
_SHOWN = 20
_COUNTERS = {
    "cursor": "learnt from all up to message {}",
    "boundary": "HISTORY.md has all up to message {}",
    "refreshed": "SESSION.md has all up to message {}",
    "epoch": "the host dropped what it had shown, the {}. time",
}


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
@click.option(
    "--left-out",
    is_flag=True,
    help="What answers of models had and memory did not take, of the last 30 days.",
)
@click.option(
    "--take",
    "number",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --left-out: write this item after all.",
)
@as_json
@chosen
def command(
    chosen: Chosen, channel: str, count: int, left_out: bool, number: int | None, as_json: bool
) -> None:
    """Show who changed what, and why, newest first.

    A commit that changed several things takes several lines. An edit by hand is noted at the next
    turn or job. `--left-out` lists, oldest first, what was refused, over a bound, said already or
    masked; `--take N` writes number N of it after all, as a change that `undo` takes back.
    """
    if number is not None:
        if not left_out:
            raise click.UsageError("Give --take together with --left-out.")
        _take_in(chosen, channel, number, as_json=as_json)
        return
    if left_out:
        _show_left_out(run_alone(chosen.part(ChannelNotes, channel).left_out()), as_json=as_json)
        return
    newest = run_alone(chosen.part(ChannelHistory, channel).log(count))
    if as_json:
        records(map(_json, newest))
    else:
        rows = chain.from_iterable(map(_rows, newest))
        table(("seq", "when", "who", "task", "what"), rows, empty="nothing was changed yet")


def _show_left_out(found: Sequence[LeftOutItem], *, as_json: bool) -> None:
    """Print what was left out, an item a line."""
    if as_json:
        records(map(asdict, found))
        return
    rows = (
        (
            one.number,
            minute(one.time),
            one.kind or one.file,
            one.speaker,
            ", ".join(one.sources),
            one_line(one.reason, _TEXT),
            one_line(one.text, _TEXT),
        )
        for one in found
    )
    head = ("n", "when", "what", "who", "messages", "why", "text")
    table(head, rows, empty="nothing was left out")


def _take_in(chosen: Chosen, channel: str, number: int, *, as_json: bool) -> None:
    """Write a left-out item after all, and print what changed."""
    with chosen.changing(ChannelNotes, channel) as notes:
        done = run_alone(notes.take_in(number))
    if done.refused:
        raise Failed(f"not taken in: {done.refused[0]}")
    if as_json:
        records(map(asdict, done.changes))
        return
    show_changes(done.changes, channel)
    if not done.changes:
        say("that stands there already; nothing was changed")


def _rows(one: LoggedChange) -> Iterator[tuple[object, ...]]:
    """A row for each thing that a commit did.

    Its number and time are in each of them: a script may pick single lines.
    """
    lines = [change_line(change) for change in one.changes]
    for refusal in one.refusals:
        text = f"{refusal.operation} {one_line(refusal.text, _TEXT)}"
        lines.append(f"refused: {text} ({refusal.reason})".strip())
    lines += [f"left out: {one_line(line, _TEXT)}" for line in one.notes]
    if not lines:
        reasons = filter(None, (one.why, _moved(one)))
        lines.append("; ".join(reasons) or "bookkeeping")
    for line in lines:
        yield one.number, minute(one.time), one.actor or one.author, one.task, line


def change_line(change: Change) -> str:
    """One change on one line."""
    parts = [" · ".join(filter(None, (f"{change.verb} {change.file}", change.section)))]
    text = change.after or change.before
    if text:
        parts[0] += f": {one_line(text, _TEXT)}"
    if change.before not in ("", text):
        parts.append(f"(was: {one_line(change.before, _TEXT)})")
    if change.reason:
        parts.append(f"({change.reason})")
    return " ".join(parts)


def show_changes(changes: Sequence[Change], channel: str) -> None:
    """Print the changes of an undo or a restore, one a line; beyond a screen they are counted."""
    for change in changes[:_SHOWN]:
        say(f"  {change_line(change)}")
    more = len(changes) - _SHOWN
    if more > 0:
        say(f"  and {counted(more, 'more change')}; `pipimem diff {channel}` shows every line")


def _moved(one: LoggedChange) -> str:
    return ", ".join(_COUNTERS[name].format(value) for name, value in one.moved.items())


def _json(one: LoggedChange) -> dict[str, object]:
    return {
        "seq": one.number,
        "when": one.time,
        **fields(one, "task", "author", "actor", "why", "correlation"),
        "changes": [asdict(change) for change in one.changes],
        "refused": [structs.asdict(refused) for refused in one.refusals],
        "notes": one.notes,
        "tokens": structs.asdict(one.spent) if one.spent else None,
    }
