"""`pipimem blame`: where each entry of a channel's notes comes from."""

from __future__ import annotations

import click

from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen, note_file
from pipimem.cli.printing import fields, minute, note, one_line, record, table
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
    else:
        if found and records and records[0].task == FORGET:
            note(
                f"which change brought what stood before the forgetting of {records[0].time} is not kept any more"
            )
        table(
            ("when", "who", "from", "by", "where", "entry"),
            map(_row, found),
            empty="there is no entry yet",
        )


def _row(one: Origin) -> tuple[str, ...]:
    sources = one.record.sources if one.record else ()
    more = f" +{len(sources) - _SOURCES}" if len(sources) > _SOURCES else ""
    place = f"{one.entry.file} · {one.entry.section}" if one.entry.section else str(one.entry.file)
    return (
        minute(_when(one)),
        _who(one),
        " ".join(sources[-_SOURCES:]) + more,
        _by(one),
        place,
        one_line(one.entry.text, _TEXT),
    )


def _who(one: Origin) -> str:
    """Who said or wrote it: the speaker, else who made the change."""
    if one.record and one.record.speaker and one.record.trust is not Trust.HUMAN:
        return one.record.speaker
    if one.change is None:
        return "by hand" if one.record is None or one.record.trust is Trust.HUMAN else "-"
    return (
        "by hand"
        if one.change.author is Author.EDITOR
        else one.change.actor or str(one.change.author)
    )


def _when(one: Origin) -> str:
    """When it was said, else when it was written down."""
    said = one.record.when if one.record else ""
    return said or (one.change.time if one.change else "")


def _by(one: Origin) -> str:
    if one.change is None:
        return "-"
    again = (
        f", back by {one.brought_back.sequence} ({one.brought_back.task})"
        if one.brought_back
        else ""
    )
    return f"{one.change.sequence} ({one.change.task}){again}"


def _json(one: Origin) -> dict[str, object]:
    entry, known, change = one.entry, one.record, one.change
    names = ("task", "author", "actor", "why", "correlation")
    return {
        **fields(entry, "file", "section"),
        "id": entry.ref,
        "line": entry.start + 1,
        "text": entry.text,
        "who": _who(one),
        "when": _when(one),
        "sources": known.sources if known else (),
        "trust": known.trust if known else Trust.HUMAN,
        "predecessor": known.predecessor if known else "",
        "seq": change.sequence if change else None,
        **(fields(change, *names) if change else dict.fromkeys(names, "")),
        "written": change.time if change else "",
        "brought_back_by": one.brought_back.sequence if one.brought_back else None,
    }
