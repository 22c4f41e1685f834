"""`pipimem conflicts`: entries that may contradict each other, to be settled."""

from __future__ import annotations

from dataclasses import asdict

import click

from pipimem.cli.commands.log import change_line
from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import fields, note, one_line, record, records, say, table
from pipimem.runtime.conflict_list import ConflictList
from pipimem.runtime.note_view import ListedEntry
from pipimem.runtime.opened_parts import run_alone

_TEXT = 80
_PAIR = "ID OTHER"


@click.command("conflicts")
@channel
@click.option("--keep", nargs=2, metavar=_PAIR, help="The entry ID holds: take the other one out.")
@click.option("--both", nargs=2, metavar=_PAIR, help="Both hold: list this pair no more.")
@as_json
@chosen
def command(
    chosen: Chosen,
    channel: str,
    keep: tuple[str, str] | None,
    both: tuple[str, str] | None,
    as_json: bool,
) -> None:
    """List entries that may contradict each other.

    Pairs of CHANNEL's MEMORY.md, the older one first. `--keep` and `--both` settle a pair;
    `pipimem undo` takes that back.
    """
    if keep and both:
        raise click.UsageError("give --keep or --both")
    pair = keep or both
    if pair:
        _settle(chosen, channel, pair, both=both is not None, as_json=as_json)
        return
    found = run_alone(chosen.part(ConflictList, channel).conflicts())
    if as_json:
        records(map(asdict, found))
        return
    rows = ((*_row(one.older), *_row(one.newer)) for one in found)
    head = ("older", "since", "entry", "newer", "since", "entry")
    table(head, rows, empty="nothing contradicts anything")
    if found:
        note(f"`pipimem conflicts {channel} --keep ID OTHER` or `--both ID OTHER` settles a pair")


def _settle(
    chosen: Chosen, channel: str, pair: tuple[str, str], *, both: bool, as_json: bool
) -> None:
    with chosen.changing(ConflictList, channel) as listed:
        changes = run_alone(listed.settle(*pair, both=both))
    if as_json:
        names = ("verb", "file", "section", "id", "before", "after")
        record({"channel": channel, "changes": [fields(one, *names) for one in changes]})
        return
    for change in changes:
        say(change_line(change))


def _row(one: ListedEntry) -> tuple[str, str, str]:
    since = f"{one.since:%Y-%m-%d}" if one.since else ""
    return one.id, since, one_line(one.text, _TEXT)
