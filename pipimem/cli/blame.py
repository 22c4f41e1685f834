"""`pipimem blame`: where each entry of a channel's notes comes from."""

from __future__ import annotations

import click

from pipimem.cli.notefiles import NOTES, note_file
from pipimem.cli.opening import Chosen
from pipimem.cli.options import as_json, channel, chosen
from pipimem.cli.printing import note, one_line, record, table
from pipimem.notes.operations import Author, Trust
from pipimem.store.channel import ChannelStore
from pipimem.store.journal.records import FORGET
from pipimem.store.looking_back.origins import Origin, origins

_TEXT = 80
_SOURCES = 3


@click.command("blame")
@channel
@note_file
@as_json
@chosen
def command(chosen: Chosen, channel: str, file: str | None, as_json: bool) -> None:
    """Show who wrote each entry, and from what.

    For each entry of CHANNEL's notes, or of one FILE: who, when, from which messages, by which change.
    """
    store = ChannelStore.open(chosen.store(), channel, create=False)
    notes = store.notes()
    records = list(store.journal_records())
    found = origins(notes, records, [NOTES[file]] if file else NOTES.values())
    if as_json:
        for one in found:
            record(_json(one))
    elif not found:
        note("there is no entry yet")
    else:
        if records and records[0].task == FORGET:
            note(f"which change brought what stood before the forgetting of {records[0].time} is not kept any more")
        table(("when", "who", "from", "by", "where", "entry"), [_row(one) for one in found])


def _row(one: Origin) -> tuple[str, ...]:
    sources = one.record.sources if one.record else ()
    more = f" +{len(sources) - _SOURCES}" if len(sources) > _SOURCES else ""
    place = f"{one.entry.file} · {one.entry.section}" if one.entry.section else str(one.entry.file)
    when = _when(one)[:16].replace("T", " ")
    return when, _who(one), " ".join(sources[-_SOURCES:]) + more, _by(one), place, one_line(one.entry.text, _TEXT)


def _who(one: Origin) -> str:
    """Who said or wrote it: the speaker, else who made the change."""
    if one.record and one.record.speaker and one.record.trust is not Trust.HUMAN:
        return one.record.speaker
    if one.change is None:
        return "by hand" if one.record is None or one.record.trust is Trust.HUMAN else "-"
    return "by hand" if one.change.author is Author.EDITOR else one.change.actor or str(one.change.author)


def _when(one: Origin) -> str:
    """When it was said, else when it was written down."""
    said = one.record.when if one.record else ""
    return said or (one.change.time if one.change else "")


def _by(one: Origin) -> str:
    if one.change is None:
        return "-"
    again = f", back by {one.brought_back.sequence} ({one.brought_back.task})" if one.brought_back else ""
    return f"{one.change.sequence} ({one.change.task}){again}"


def _json(one: Origin) -> dict[str, object]:
    known, change = one.record, one.change
    return {
        "file": str(one.entry.file),
        "section": one.entry.section,
        "id": one.entry.ref,
        "line": one.entry.start + 1,
        "text": one.entry.text,
        "who": _who(one),
        "when": _when(one),
        "sources": list(known.sources) if known else [],
        "trust": str(known.trust) if known else str(Trust.HUMAN),
        "predecessor": known.predecessor if known else "",
        "seq": change.sequence if change else None,
        "task": change.task if change else "",
        "author": str(change.author) if change else "",
        "actor": change.actor if change else "",
        "why": change.why if change else "",
        "correlation": change.correlation if change else "",
        "written": change.time if change else "",
        "brought_back_by": one.brought_back.sequence if one.brought_back else None,
    }
