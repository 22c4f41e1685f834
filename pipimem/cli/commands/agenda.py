"""`pipimem agenda`: what is due, overdue, and promised by whom."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

import click

from pipimem.cli.options import Chosen, as_json, chosen
from pipimem.cli.output import fields, note, one_line, records, table
from pipimem.errors import PipimemError, worded
from pipimem.runtime.agenda_list import AgendaItem, AgendaList
from pipimem.runtime.opened_parts import run_alone

_TEXT = 100


@click.command("agenda")
@click.argument("channel", required=False)
@as_json
@chosen
def command(chosen: Chosen, channel: str | None, as_json: bool) -> None:
    """List what is due, overdue, and promised by whom.

    The open loops of CHANNEL, or of every channel, by day and person: overdue ones first, those
    without a day last.
    """
    names = [channel] if channel else [info.id for info in chosen.store().channels()]
    found = [(name, item) for name in names for item in _items(chosen, name, only=bool(channel))]
    found.sort(key=lambda each: (each[1].due or date.max, each[1].person.casefold()))
    if as_json:
        records({"channel": name, **_json(item)} for name, item in found)
        return
    rows = ((_day(item), item.person, name, *_entry(item)) for name, item in found)
    table(("due", "who", "channel", "id", "entry"), rows, empty="nothing is open")


def _items(chosen: Chosen, name: str, *, only: bool) -> Iterable[AgendaItem]:
    """Return the open loops of a channel; one of many that cannot be read is passed over."""
    try:
        return run_alone(chosen.part(AgendaList, name).agenda())
    except PipimemError as error:
        if only:
            raise
        note(f"{name}: {worded(error)}")
        return ()


def _json(item: AgendaItem) -> dict[str, object]:
    due = item.due.isoformat() if item.due else None
    about = {"due": due, "overdue": item.is_overdue, "today": item.is_today, "person": item.person}
    return {**about, **fields(item.entry, "id", "section", "text", "since")}


def _day(item: AgendaItem) -> str:
    if item.due is None:
        return ""
    passed = " (overdue)" if item.is_overdue else " (today)" if item.is_today else ""
    return f"{item.due:%Y-%m-%d}{passed}"


def _entry(item: AgendaItem) -> tuple[str, str]:
    return item.entry.id, one_line(item.entry.text, _TEXT)
