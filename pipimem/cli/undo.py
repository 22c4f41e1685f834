"""`pipimem undo`: one change taken back, even if later ones followed, or all of one author's."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import click

from pipimem.cli.log import say_all
from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.printing import confirmed, minute, note, record, say
from pipimem.cli.times import Time
from pipimem.clock import Clock
from pipimem.errors import CannotTakeBack
from pipimem.notes.files import File
from pipimem.notes.operations import Author
from pipimem.store.channel import ChannelStore
from pipimem.store.looking_back.undoing import Undone


@click.command("undo")
@channel
@click.argument("seq", type=click.IntRange(min=1), required=False)
@click.option(
    "--author",
    type=click.Choice([str(author) for author in Author]),
    help="All changes of this author, with --since.",
)
@click.option(
    "--since", type=Time(), help="With --author: from this time on, as in 30d or 2026-03-02."
)
@click.option("--yes", is_flag=True, help="Do not ask, with --author.")
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
    `--author model --since 30d` takes back all that models changed in 30 days, newest first, each
    as a change of its own.

    Later changes stay; where one of them has touched the same lines, that change is not taken back. An undo is a
    change too: its number takes it back. What was folded into HISTORY.archive.md stays there too, since that file
    only grows.
    """
    if (author is None) != (since is None) or (author is not None and seq is not None):
        raise click.UsageError("Give a number, or --author and --since together.")
    store = ChannelStore.open(chosen.store(), channel, create=False)
    if author is not None and since is not None:
        _all_of(store, channel, Author(author), since, yes=yes, as_json=as_json)
    else:
        done = store.undo(seq, Clock().now(), actor="person")
        store.close()
        _told(done, channel, as_json=as_json)


def _all_of(
    store: ChannelStore, channel: str, author: Author, since: datetime, *, yes: bool, as_json: bool
) -> None:
    """Ask, take back, and tell; ends with 1 where a change is in the way."""
    found = store.changes_of(author, since)
    if found and not yes:
        what = f"{len(found)} changes of {author} since {minute(since.isoformat())}"
        confirmed(f"Take back {what}?", "nothing was taken back")
    refused = 0
    for one in found:
        try:
            done = store.undo(one.sequence, Clock().now(), actor="person")
        except CannotTakeBack as error:
            refused += 1
            note(str(error))
        else:
            _told(done, channel, as_json=as_json)
    store.close()
    if not as_json:
        say(f"{len(found) - refused} of {len(found)} changes of {author} were taken back")
    if refused:
        raise SystemExit(1)


def _told(done: Undone, channel: str, *, as_json: bool) -> None:
    if as_json:
        record(
            {
                "channel": channel,
                "undone": done.record.sequence,
                "seq": done.sequence,
                "task": done.record.task,
                "archive_keeps_a_copy": bool(done.record.archived),
                "changes": [asdict(change) for change in done.outcome.changes],
            }
        )
        return
    when = minute(done.record.time)
    say(f"taken back: change {done.record.sequence} ({done.record.task}, {when})")
    say_all(done.outcome.changes, channel)
    if done.record.archived:
        note(
            f"{File.ARCHIVE} keeps its copy of this text: it only grows, so searching finds it there as well"
        )
    note(f"`pipimem undo {channel} {done.sequence}` brings it back")
