"""`pipimem show`: the files of a channel as they stand."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen
from pipimem.cli.output import one_line, record, records, say
from pipimem.cli.results import FORGOTTEN
from pipimem.notes.kinds import File
from pipimem.notes.message import Message
from pipimem.runtime.opened_parts import run_alone
from pipimem.runtime.stored_files import StoredFiles

_FILES = {**NOTES, "archive": File.ARCHIVE}
_LOG = "log"


@click.command("show")
@channel
@click.argument("file", type=click.Choice([*_FILES, _LOG]), required=False)
@click.option(
    "-n", "count", type=click.IntRange(min=1), help="With log: only so many of the newest messages."
)
@click.option("--session", help="With log: only the messages of this session.")
@as_json
@chosen
def command(
    chosen: Chosen,
    channel: str,
    file: str | None,
    count: int | None,
    session: str | None,
    as_json: bool,
) -> None:
    """Show a channel's three files, or one of them.

    Without a name SESSION, MEMORY and HISTORY. `archive` is the history that was folded, `log` the
    transcript.
    """
    if file != _LOG and (count is not None or session is not None):
        raise click.UsageError("-n and --session are for `show CHANNEL log`")
    stored = chosen.part(StoredFiles, channel)
    if file == _LOG:
        messages = run_alone(stored.messages(count, session=session))
        if as_json:
            records(map(_json, messages))
        else:
            _lines(messages)
        return
    _show_files(stored, channel, file, as_json=as_json)


def _show_files(stored: StoredFiles, channel: str, file: str | None, *, as_json: bool) -> None:
    texts = {name: run_alone(stored.text(_FILES[name])) for name in ([file] if file else NOTES)}
    if as_json:
        for name, text in texts.items():
            about = {"channel": channel, "file": name, "path": stored.path(_FILES[name])}
            record({**about, "text": text})
    elif file:
        _verbatim(texts[file])
    else:
        for name, text in texts.items():
            say(f"── {stored.path(_FILES[name])} ──\n{text.strip() or '(empty)'}\n")


def _verbatim(text: str) -> None:
    """Byte for byte into a pipe; a terminal gets it without what it would obey."""
    if sys.stdout.isatty():
        say(text.rstrip("\n"))
    else:
        click.echo(text.encode("utf-8", "replace"), nl=False)


def _lines(messages: Iterable[Message]) -> None:
    for message in messages:
        time = f"{message.time:%Y-%m-%d %H:%M}" if message.time else "-"
        who = message.speaker or message.role
        say(f"{message.id}  {time}  {who}: {one_line(message.content) or FORGOTTEN}")


def _json(message: Message) -> dict[str, object]:
    """A message as its line in the transcript."""
    return {
        "id": message.id,
        "n": message.number,
        "ts": message.time,
        "role": message.role,
        "name": message.speaker,
        "content": message.content,
        "session": message.session,
    }
