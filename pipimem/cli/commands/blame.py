"""`pipimem blame`: where each entry of a channel's notes comes from."""

from __future__ import annotations

import click

from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen, note_file
from pipimem.cli.output import fields, minute, note, one_line, records, table
from pipimem.runtime.history import ChannelHistory, EntryOrigin
from pipimem.runtime.opened_parts import run_alone

_TEXT = 80
_SOURCES = 3


@click.command("blame")
@channel
@note_file
@as_json
@chosen
def command(chosen: Chosen, channel: str, file: str | None, as_json: bool) -> None:
    """Show who wrote each entry, and from what.

    For each entry of CHANNEL's notes, or of one FILE: who, when, from which messages, by which
    change.
    """
    history = chosen.part(ChannelHistory, channel)
    found = run_alone(history.blame(NOTES[file] if file else None))
    if as_json:
        records(map(_json, found))
        return
    began = run_alone(history.forgotten())
    if found and began:
        note(f"which change brought what stood before the forgetting of {began} is not kept")
    head = ("when", "who", "from", "by", "where", "entry")
    table(head, map(_row, found), empty="there is no entry yet")


def _row(one: EntryOrigin) -> tuple[str, ...]:
    sources = one.sources
    more = f" +{len(sources) - _SOURCES}" if len(sources) > _SOURCES else ""
    messages = " ".join(sources[-_SOURCES:]) + more
    place = " · ".join(filter(None, (str(one.file), one.section)))
    return minute(one.when), one.who, messages, _by(one), place, one_line(one.text, _TEXT)


def _by(one: EntryOrigin) -> str:
    if one.made_by is None:
        return "-"
    by = f"{one.made_by.number} ({one.made_by.task})"
    if one.brought_back:
        return f"{by}, back by {one.brought_back.number} ({one.brought_back.task})"
    return by


def _json(one: EntryOrigin) -> dict[str, object]:
    change = one.made_by
    names = ("task", "author", "actor", "why", "correlation")
    return {
        **fields(one, "file", "section", "id", "line", "text", "who", "when", "sources"),
        **fields(one, "trust", "predecessor", "heard_by"),
        "seq": one.change,
        **(fields(change, *names) if change else dict.fromkeys(names, "")),
        "written": change.time if change else "",
        "brought_back_by": one.brought_back.number if one.brought_back else None,
    }
