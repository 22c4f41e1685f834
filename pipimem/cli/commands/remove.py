"""`pipimem remove`: a channel gone for good."""

from __future__ import annotations

from pathlib import Path

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import Failed, counted, note, record, say
from pipimem.cli.prompts import confirmed
from pipimem.clock import Clock
from pipimem.errors import ChannelError
from pipimem.runtime.channel_status import channel_status
from pipimem.runtime.opened_parts import require_channel


@click.command("remove")
@channel
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
@chosen
def command(chosen: Chosen, channel: str, yes: bool, as_json: bool) -> None:
    """Delete a channel for good.

    The notes of CHANNEL go, its transcript, and all that is kept of it.

    Nothing brings it back. The ledger of costs keeps its lines. A bot that still runs begins the
    channel anew with the next message.
    """
    store = chosen.store()
    try:
        folder = require_channel(store, channel)
    except ChannelError:
        if not store.is_half_removed(channel):
            raise
        store.finish_removals()  # a person has agreed to it before
        _told(channel, store.folder_of(channel), as_json)
        return
    (info,) = [info for info in store.channels() if info.folder == folder]
    status = channel_status(store, info, Clock().now())
    if status.problem:
        raise Failed(status.problem)
    entries = counted(status.entries, "entry", "entries")
    note(f"{info.folder}: {entries} in MEMORY.md, {counted(status.messages, 'message')}")
    if not yes:
        confirmed(f"Delete {channel} for good?", "nothing was deleted")
    store.remove(info)
    _told(channel, info.folder, as_json)


def _told(channel: str, folder: Path, as_json: bool) -> None:
    if as_json:
        record({"channel": channel, "removed": folder})
    else:
        say(f"{channel} is gone")
