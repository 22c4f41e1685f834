"""`pipimem list`: the entries of MEMORY.md with what is known of them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import minute, one_line, records, table
from pipimem.cli.times import past_time
from pipimem.clock import Clock
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Trust
from pipimem.runtime.note_view import EntryList, ListedEntry
from pipimem.runtime.opened_parts import run_alone

_TEXT = 100


@click.command("list")
@channel
@click.option("--kind", type=click.Choice([str(kind) for kind in Kind]), help="Only of this kind.")
@click.option(
    "--trust", type=click.Choice([str(trust) for trust in Trust]), help="Only of this trust."
)
@click.option(
    "--older-than",
    type=past_time,
    metavar="TIME",
    help="Only what was known before, as in 30d or 2026-03-02.",
)
@as_json
@chosen
def command(
    chosen: Chosen,
    channel: str,
    kind: str | None,
    trust: str | None,
    older_than: datetime | None,
    as_json: bool,
) -> None:
    """List the entries of CHANNEL's MEMORY.md.

    For each its kind, how it is trusted, since when it is known, how often it was recalled, and the
    day on which it expires unless it is recalled before.
    """
    found = run_alone(
        chosen.part(EntryList, channel).entries(
            kind=Kind(kind) if kind else None,
            trust=Trust(trust) if trust else None,
            older_than=Clock().now() - older_than if older_than else None,
        )
    )
    if as_json:
        records(map(asdict, found))
        return
    head = ("id", "kind", "trust", "since", "recalls", "expires", "entry")
    table(head, map(_row, found), empty="there is no such entry")


def _row(one: ListedEntry) -> tuple[object, ...]:
    since = minute(one.since.isoformat())[:10] if one.since else ""
    expires = f"{one.expires:%Y-%m-%d}" if one.expires else ""
    text = one_line(one.text, _TEXT)
    return one.id, one.kind or "", one.trust, since, one.recalls, expires, text
