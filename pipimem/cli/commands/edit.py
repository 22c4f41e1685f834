"""`pipimem edit`: a channel's notes in an editor, and what changed."""

from __future__ import annotations

import click

from pipimem.cli.commands.log import show_changes
from pipimem.cli.options import NOTES, Chosen, channel, chosen, note_file
from pipimem.cli.output import Failed, note, say
from pipimem.clock import Clock
from pipimem.runtime.history import journal_edits, newest_records


@click.command("edit")
@channel
@note_file
@chosen
def command(chosen: Chosen, channel: str, file: str | None) -> None:
    """Open CHANNEL's MEMORY.md, or another FILE, in $EDITOR.

    When the editor ends, what changed is told, and how it is taken back. The bot may go on
    meanwhile: what it writes is merged.
    """
    here = chosen.channel(channel)
    path = here.folder / NOTES[file or "memory"]
    journal_edits(here, Clock().now())
    before = newest_records(here, 1)
    if not path.exists():
        raise Failed(f"{path} is not there yet: nothing was written to it")
    try:
        click.edit(filename=str(path))
    except click.ClickException as error:
        raise Failed(f"{error.message}; set EDITOR to the editor to use") from error
    journal_edits(here, Clock().now())
    after = newest_records(here, 1)
    here.store.close()
    if not after or (before and after[0].sequence == before[0].sequence):
        say("nothing was changed")
        return
    say(f"{path.name}: change {after[0].sequence}")
    show_changes(after[0].changes, channel)
    note(f"`pipimem undo {channel} {after[0].sequence}` takes it back")
