"""`pipimem restore`: a channel's notes as they stood at a moment, as one change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

import click

from pipimem.cli.commands.log import show_changes
from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import counted, note, record, say
from pipimem.cli.prompts import confirmed
from pipimem.cli.times import exact_moment
from pipimem.clock import Clock
from pipimem.notes.kinds import File
from pipimem.runtime.history import (
    Past,
    Point,
    edits_after,
    journal_edits,
    moment,
    past_of,
    restored,
)
from pipimem.text.markdown.line_edits import Splice

_NOT = "nothing was restored"


@click.command("restore")
@channel
@click.option(
    "--to",
    type=exact_moment,
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

    People's later edits are named first; all that stands now is kept as a version, and `pipimem
    undo` brings it back.
    """
    here = chosen.channel(channel)
    now = Clock().now()
    journal_edits(here, now)
    past = past_of(here)
    sequence = past.sequence_at(to)
    for line in _warnings(past, sequence):
        note(line)
    if not yes:
        confirmed(f"Put the notes back to {moment(past, sequence)}?", _NOT)
        if sequence == past.begins:
            confirmed("All that was learnt goes out of the notes. Really?", _NOT)
    done = restored(here, sequence, now)
    here.store.close()
    if as_json:
        changes = [asdict(change) for change in done.outcome.changes]
        edits = [edit.sequence for edit in done.edits]
        where = {"channel": channel, "to": done.to, "seq": done.sequence}
        record({**where, "edits": edits, "changes": changes})
    elif not done.outcome.texts:
        say("the notes stand as they stood then; nothing was changed")
    else:
        say(f"the notes stand as they stood {moment(past, sequence)}")
        show_changes(done.outcome.changes, channel)
        note(f"`pipimem undo {channel} {done.sequence}` brings back what stood before")


def _warnings(past: Past, sequence: int) -> Iterator[str]:
    """What would go: how many changes, and every hand edit with the lines it brought."""
    later = [one for one in past.records if one.sequence > sequence and one.files]
    yield f"{counted(len(later), 'change')} came after that"
    for edit in edits_after(past.records, sequence):
        yield f"edited by hand, change {edit.sequence} ({edit.time}):"
        for file, change in edit.files.items():
            if file is not File.ARCHIVE:
                yield from _edited(file, change.splices)


def _edited(file: File, splices: Iterable[Splice]) -> Iterator[str]:
    for splice in splices:
        for mark, side in (("-", splice.removed), ("+", splice.added)):
            yield from (f"  {file}: {mark} {line.rstrip()}" for line in side if line.strip())
