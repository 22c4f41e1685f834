"""`pipimem edit`: a channel's notes in an editor, and what changed."""

from __future__ import annotations

import click

from pipimem.cli.commands.log import show_changes
from pipimem.cli.options import NOTES, Chosen, channel, chosen, note_file
from pipimem.cli.output import Failed, note, say
from pipimem.runtime.history import ChannelHistory, LoggedChange
from pipimem.runtime.opened_parts import run_alone
from pipimem.runtime.stored_files import StoredFiles


@click.command("edit")
@channel
@note_file
@chosen
def command(chosen: Chosen, channel: str, file: str | None) -> None:
    """Open CHANNEL's MEMORY.md, or another FILE, in $EDITOR.

    When the editor ends, what changed is told, and how it is taken back. The bot may go on
    meanwhile: what it writes is merged.
    """
    path = chosen.part(StoredFiles, channel).path(NOTES[file or "memory"])
    with chosen.changing(ChannelHistory, channel) as history:
        before = _newest(history)
        if not path.exists():
            raise Failed(f"{path} is not there yet: nothing was written to it")
        try:
            click.edit(filename=str(path))
        except click.ClickException as error:
            raise Failed(f"{error.message}; set EDITOR to the editor to use") from error
        after = _newest(history)
    if after is None or (before is not None and after.number == before.number):
        say("nothing was changed")
        return
    say(f"{path.name}: change {after.number}")
    show_changes(after.changes, channel)
    note(f"`pipimem undo {channel} {after.number}` takes it back")


def _newest(history: ChannelHistory) -> LoggedChange | None:
    """Return the newest change, an edit by hand until now among them."""
    run_alone(history.record_edits())
    return next(iter(run_alone(history.log(1))), None)
