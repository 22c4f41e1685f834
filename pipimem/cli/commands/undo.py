"""`pipimem undo`: one change taken back, even if later ones followed, or all of one author's."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import click

from pipimem.cli.commands.log import change_line, show_changes
from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import counted, minute, note, record, say
from pipimem.cli.prompts import confirmed
from pipimem.cli.times import change_number, past_time
from pipimem.errors import CannotTakeBack
from pipimem.notes.kinds import File
from pipimem.notes.operations import Author
from pipimem.runtime.history import ChannelHistory, TakenBack
from pipimem.runtime.opened_parts import run_alone


@click.command("undo")
@channel
@click.argument("seq", type=change_number, required=False)
@click.option(
    "--author",
    type=click.Choice([str(author) for author in Author]),
    help="All changes of this author, with --since.",
)
@click.option(
    "--since",
    type=past_time,
    metavar="TIME",
    help="With --author: from this time on, as in 30d or 2026-03-02.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
@chosen
def command(
    chosen: Chosen,
    channel: str,
    seq: int | None,
    author: str | None,
    since: datetime | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Take changes back: one, or all of one author since a time.

    SEQ is its number in `pipimem log CHANNEL`; without one it is the newest that still counts.
    Right after an undo that is an older change, and an edit by hand may be newer than the log that
    you saw: then you are asked.
    `--author model --since 30d` takes back all that models changed in 30 days, newest first, each
    as a change of its own.

    Later changes stay; where one of them has touched the same lines, that change is not taken back.
    An undo is a change too: its number takes it back. What was folded into HISTORY.archive.md stays
    there too, since that file only grows.
    """
    if author and since and seq is None:
        refused = _take_back_all(chosen, channel, Author(author), since, yes=yes, as_json=as_json)
        if refused:
            raise SystemExit(1)
    elif author or since:
        raise click.UsageError("Give a number, or --author and --since together.")
    else:
        with chosen.changing(ChannelHistory, channel) as history:
            if seq is None and not yes:
                _ask_if_unexpected(history)
            done = run_alone(history.undo(seq))
        _show(done, channel, as_json=as_json)


def _ask_if_unexpected(history: ChannelHistory) -> None:
    """Name what would be taken back where that is an older change or an edit by hand, and ask."""
    found = run_alone(history.unexpected_undo())
    if found is None:
        return
    what = f"change {found.number} ({found.task}, {minute(found.time)})"
    if found.author is Author.EDITOR:
        note(f"The newest change was typed into the files by hand, {what}:")
    else:
        note(f"The newest change is an undo already. Before it came {what}:")
    for change in found.changes:
        note(f"  {change_line(change)}")
    confirmed(f"Take back {what}?", "nothing was taken back")


def _take_back_all(
    chosen: Chosen, channel: str, author: Author, since: datetime, *, yes: bool, as_json: bool
) -> int:
    """Ask, take back, and say what was; returns how many changes something is in the way of."""
    refused = 0
    with chosen.changing(ChannelHistory, channel) as history:
        found = run_alone(history.changes_by(author, since))
        _note_forgetting(history, since)
        changes = f"{counted(len(found), 'change')} of {author}"
        if found and not yes:
            question = f"Take back {changes} since {minute(since.isoformat())}?"
            confirmed(question, "nothing was taken back")
        for change in found:
            try:
                done = run_alone(history.undo(change.number))
            except CannotTakeBack as error:
                refused += 1
                note(str(error))
            else:
                _show(done, channel, as_json=as_json)
    if not as_json:
        were = "was" if len(found) == 1 else "were"
        say(f"{len(found) - refused} of {changes} {were} taken back")
    return refused


def _note_forgetting(history: ChannelHistory, since: datetime) -> None:
    """Say so where a forgetting since then ended the undo of what came before it."""
    forgotten = run_alone(history.forgotten())
    if forgotten and since < datetime.fromisoformat(forgotten):
        note(f"Changes before the forgetting of {minute(forgotten)} can no longer be taken back.")


def _show(done: TakenBack, channel: str, *, as_json: bool) -> None:
    change = done.undone
    assert change is not None
    if as_json:
        record(
            {
                "channel": channel,
                "undone": change.number,
                "seq": done.number,
                "task": change.task,
                "archive_keeps_a_copy": change.in_archive,
                "changes": [asdict(change) for change in done.changes],
            }
        )
        return
    say(f"taken back: change {change.number} ({change.task}, {minute(change.time)})")
    show_changes(done.changes, channel)
    if change.in_archive:
        grows = "it only grows, so searching finds it there as well"
        note(f"{File.ARCHIVE} keeps its copy of this text: {grows}")
    note(f"`pipimem undo {channel} {done.number}` brings it back")
