"""`pipimem blame`: where each entry of a channel's notes comes from."""

from __future__ import annotations

import click

from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen, note_file
from pipimem.cli.output import fields, minute, note, one_line, records, table
from pipimem.notes.ledger import Record
from pipimem.notes.operations import Trust
from pipimem.runtime.history import Origin, forgotten_at, origins_of, wrote

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
    here = chosen.channel(channel)
    found = origins_of(here, [NOTES[file]] if file else NOTES.values())
    if as_json:
        records(map(_json, found))
        return
    began = forgotten_at(here)
    if found and began:
        note(f"which change brought what stood before the forgetting of {began} is not kept")
    head = ("when", "who", "from", "by", "where", "entry")
    table(head, map(_row, found), empty="there is no entry yet")


def _row(one: Origin) -> tuple[str, ...]:
    sources = one.sources
    more = f" +{len(sources) - _SOURCES}" if len(sources) > _SOURCES else ""
    messages = " ".join(sources[-_SOURCES:]) + more
    place = " · ".join(filter(None, (str(one.entry.file), one.entry.section)))
    text = one_line(one.entry.text, _TEXT)
    who, when = wrote(one)
    return minute(when), who, messages, _by(one), place, text


def _by(one: Origin) -> str:
    if one.change is None:
        return "-"
    by = f"{one.change.sequence} ({one.change.task})"
    if one.brought_back:
        return f"{by}, back by {one.brought_back.sequence} ({one.brought_back.task})"
    return by


def _json(one: Origin) -> dict[str, object]:
    entry, change = one.entry, one.change
    known = one.record or Record(trust=Trust.HUMAN)
    names = ("task", "author", "actor", "why", "correlation")
    who, when = wrote(one)
    return {
        **fields(entry, "file", "section"),
        "id": entry.ref,
        "line": entry.start + 1,
        "text": entry.text,
        "who": who,
        "when": when,
        "sources": one.sources,
        **fields(known, "trust", "predecessor"),
        "heard_by": one.heard_by,
        "seq": change.sequence if change else None,
        **(fields(change, *names) if change else dict.fromkeys(names, "")),
        "written": change.time if change else "",
        "brought_back_by": one.brought_back.sequence if one.brought_back else None,
    }
