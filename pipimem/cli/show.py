"""`pipimem show`: the files of a channel as they stand."""

from __future__ import annotations

import sys

import click

from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen
from pipimem.cli.printing import one_line, record, say
from pipimem.notes.files import File
from pipimem.notes.message import Message
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.files import read_text

_FILES = {**NOTES, "archive": File.ARCHIVE}
_LOG = "log"


@click.command("show")
@channel
@click.argument("file", type=click.Choice([*_FILES, _LOG]), required=False)
@as_json
@chosen
def command(chosen: Chosen, channel: str, file: str | None, as_json: bool) -> None:
    """Show a channel's three files, or one of them.

    Without a name SESSION, MEMORY and HISTORY. `archive` is the history that was folded, `log` the transcript.
    """
    store = ChannelStore.open(chosen.store(), channel, create=False)
    if file == _LOG:
        _log(store, as_json)
        return
    for name in [file] if file else NOTES:
        path = store.folder / _FILES[name]
        text = read_text(path, store.workspace.root) or ""
        if as_json:
            record({"channel": channel, "file": name, "path": path, "text": text})
        elif file:
            _verbatim(text)
        else:
            say(f"── {path} ──")
            say(text.strip() or "(empty)")
            say("")


def _verbatim(text: str) -> None:
    """Byte for byte into a pipe; a terminal gets it without what it would obey."""
    if sys.stdout.isatty():
        say(text.rstrip("\n"))
    else:
        click.echo(text.encode("utf-8", "replace"), nl=False)


def _log(store: ChannelStore, as_json: bool) -> None:
    for message in store.transcript.messages():
        if as_json:
            record(message_json(message))
        else:
            say(_line(message))


def message_json(message: Message) -> dict[str, object]:
    """A message as its line in the transcript."""
    return {
        "id": message.id,
        "n": message.number,
        "ts": message.time,
        "role": message.role,
        "name": message.speaker,
        "content": message.content,
    }


def _line(message: Message) -> str:
    time = message.time.strftime("%Y-%m-%d %H:%M") if message.time else "-"
    return (
        f"{message.number}  {time}  {message.speaker or message.role}: {one_line(message.content)}"
    )
