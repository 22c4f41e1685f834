"""`pipimem restore`: a channel's notes as they stood at a moment, as one change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import click

from pipimem.cli.commands.log import show_changes
from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import counted, note, record, say
from pipimem.cli.prompts import confirmed
from pipimem.cli.times import exact_moment
from pipimem.runtime.history import ChannelHistory, Point, RestorePreview
from pipimem.runtime.opened_parts import run_alone

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
    with chosen.changing(ChannelHistory, channel) as history:
        preview = run_alone(history.preview_restore(to))
        for line in _warnings(preview):
            note(line)
        if not yes:
            confirmed(f"Put the notes back to {preview.to}?", _NOT)
            if preview.is_start:
                confirmed("All that was learnt goes out of the notes. Really?", _NOT)
        assert preview.to.number is not None
        done = run_alone(history.restore(preview.to.number))
    if as_json:
        changes = [asdict(change) for change in done.changes]
        edits = [edit.number for edit in preview.edits]
        where = {"channel": channel, "to": preview.to.number, "seq": done.number}
        record({**where, "edits": edits, "changes": changes})
    elif not done.files:
        say("the notes stand as they stood then; nothing was changed")
    else:
        say(f"the notes stand as they stood {preview.to}")
        show_changes(done.changes, channel)
        note(f"`pipimem undo {channel} {done.number}` brings back what stood before")


def _warnings(preview: RestorePreview) -> Iterator[str]:
    """What would go: how many changes, and every hand edit with the lines it brought."""
    yield f"{counted(preview.changes, 'change')} came after that"
    for edit in preview.edits:
        yield f"edited by hand, change {edit.number} ({edit.time}):"
        for line in edit.lines:
            yield f"  {line.file}: {line.sign} {line.text}"
