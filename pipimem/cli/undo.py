"""`pipimem undo`: one change taken back, even if later ones followed."""

from __future__ import annotations

from dataclasses import asdict

import click

from pipimem.cli.log import say_all
from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.printing import minute, note, record, say
from pipimem.clock import Clock
from pipimem.notes.files import File
from pipimem.store.channel import ChannelStore


@click.command("undo")
@channel
@click.argument("seq", type=click.IntRange(min=1), required=False)
@as_json
@chosen
def command(chosen: Chosen, channel: str, seq: int | None, as_json: bool) -> None:
    """Take one change back.

    SEQ is its number in `pipimem log CHANNEL`; without one it is the newest that still counts.

    Later changes stay; where one of them has touched the same lines, nothing is done. An undo is a change too: its
    number takes it back. What was folded into HISTORY.archive.md stays there too, since that file only grows.
    """
    store = ChannelStore.open(chosen.store(), channel, create=False)
    done = store.undo(seq, Clock().now(), actor="person")
    store.close()
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
    say(f"taken back: change {done.record.sequence} ({done.record.task}, {minute(done.record.time)})")
    say_all(done.outcome.changes, channel)
    if done.record.archived:
        note(f"{File.ARCHIVE} keeps its copy of this text: it only grows, so searching finds it there as well")
    note(f"`pipimem undo {channel} {done.sequence}` brings it back")
