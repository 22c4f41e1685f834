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
from pipimem.clock import Clock
from pipimem.errors import CannotTakeBack
from pipimem.notes.kinds import File
from pipimem.notes.operations import Author
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.history import (
    Undone,
    change_in_question,
    changes_of,
    forgotten_at,
    past_of,
    undone,
)


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
    here = chosen.channel(channel)
    if author and since and seq is None:
        _all_of(here, Author(author), since, yes=yes, as_json=as_json)
    elif author or since:
        raise click.UsageError("Give a number, or --author and --since together.")
    else:
        if seq is None and not yes:
            _ask_if_unexpected(here)
        done = undone(here, seq, Clock().now())
        here.store.close()
        _show(done, channel, as_json=as_json)


def _ask_if_unexpected(here: ChannelAccess) -> None:
    """Name what would be taken back where that is an older change or an edit by hand, and ask."""
    found = change_in_question(here, Clock().now())
    if found is None:
        return
    what = f"change {found.sequence} ({found.task}, {minute(found.time)})"
    if found.author is Author.EDITOR:
        note(f"The newest change was typed into the files by hand, {what}:")
    else:
        note(f"The newest change is an undo already. Before it came {what}:")
    for change in found.changes:
        note(f"  {change_line(change)}")
    confirmed(f"Take back {what}?", "nothing was taken back")


def _all_of(
    here: ChannelAccess, author: Author, since: datetime, *, yes: bool, as_json: bool
) -> None:
    """Ask, take back, and say what was; ends with 1 where a change is in the way."""
    found = changes_of(past_of(here), author, since)
    _note_forgetting(here, since)
    changes = f"{counted(len(found), 'change')} of {author}"
    if found and not yes:
        question = f"Take back {changes} since {minute(since.isoformat())}?"
        confirmed(question, "nothing was taken back")
    refused = 0
    for one in found:
        try:
            done = undone(here, one.sequence, Clock().now())
        except CannotTakeBack as error:
            refused += 1
            note(str(error))
        else:
            _show(done, here.id, as_json=as_json)
    here.store.close()
    if not as_json:
        were = "was" if len(found) == 1 else "were"
        say(f"{len(found) - refused} of {changes} {were} taken back")
    if refused:
        raise SystemExit(1)


def _note_forgetting(here: ChannelAccess, since: datetime) -> None:
    """Say so where a forgetting since then ended the undo of what came before it."""
    forgotten = forgotten_at(here)
    if forgotten and since < datetime.fromisoformat(forgotten):
        note(f"Changes before the forgetting of {minute(forgotten)} can no longer be taken back.")


def _show(done: Undone, channel: str, *, as_json: bool) -> None:
    change = done.record
    if as_json:
        record(
            {
                "channel": channel,
                "undone": change.sequence,
                "seq": done.sequence,
                "task": change.task,
                "archive_keeps_a_copy": bool(change.archived),
                "changes": [asdict(change) for change in done.outcome.changes],
            }
        )
        return
    say(f"taken back: change {change.sequence} ({change.task}, {minute(change.time)})")
    show_changes(done.outcome.changes, channel)
    if change.archived:
        grows = "it only grows, so searching finds it there as well"
        note(f"{File.ARCHIVE} keeps its copy of this text: {grows}")
    note(f"`pipimem undo {channel} {done.sequence}` brings it back")
