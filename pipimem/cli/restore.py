"""`pipimem restore`: a channel's notes as they stood at a moment, as one change."""

from __future__ import annotations

from dataclasses import asdict

import click

from pipimem.cli.log import say_all
from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.printing import confirmed, note, record, say
from pipimem.cli.times import When, moment
from pipimem.clock import Clock
from pipimem.notes.files import File
from pipimem.store.channel import ChannelStore
from pipimem.store.looking_back import undoing
from pipimem.store.looking_back.past import Past, Point


@click.command("restore")
@channel
@click.option(
    "--to",
    type=When(exact=True),
    metavar="TIME|SEQ",
    required=True,
    help="A time in digits, or right after a change.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
@chosen
def command(chosen: Chosen, channel: str, to: Point, yes: bool, as_json: bool) -> None:
    """Put the notes back to how they stood.

    At a time, or right after a change of CHANNEL; the putting back is itself one change.

    People's later edits are named first; all that stands now is kept as a version, and `pipimem undo` brings it back.
    """
    store = ChannelStore.open(chosen.store(), channel, create=False)
    now = Clock().now()
    store.journal_edits(now)
    past = store.past()
    sequence = past.sequence_at(to)
    for line in _warnings(past, sequence):
        note(line)
    if not yes:
        confirmed(f"Put the notes back to {moment(past, sequence)}?", "nothing was restored")
    done = store.restore(sequence, now, actor="person")
    store.close()
    if as_json:
        changes = [asdict(change) for change in done.outcome.changes]
        edits = [edit.sequence for edit in done.edits]
        record(
            {
                "channel": channel,
                "to": done.to,
                "seq": done.sequence,
                "edits": edits,
                "changes": changes,
            }
        )
    elif not done.outcome.texts:
        say("the notes stand as they stood then; nothing was changed")
    else:
        say(f"the notes stand as they stood {moment(past, sequence)}")
        say_all(done.outcome.changes, channel)
        note(f"`pipimem undo {channel} {done.sequence}` brings back what stood before")


def _warnings(past: Past, sequence: int) -> list[str]:
    """What would go: how many changes, and every hand edit with the lines it brought."""
    later = [one for one in past.records if one.sequence > sequence and one.files]
    lines = [f"{len(later)} changes came after that"]
    for edit in undoing.edits_after(past.records, sequence):
        lines.append(f"edited by hand, change {edit.sequence} ({edit.time}):")
        lines += [
            f"  {file}: {mark} {text.rstrip()}"
            for file, change in edit.files.items()
            if file is not File.ARCHIVE
            for splice in change.splices
            for mark, side in (("-", splice.removed), ("+", splice.added))
            for text in side
            if text.strip()
        ]
    return lines
