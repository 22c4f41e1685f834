"""`pipimem diff`: what changed in a channel's notes between two moments."""

from __future__ import annotations

import click

from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen, note_file
from pipimem.cli.output import note, record, say
from pipimem.cli.times import past_moment
from pipimem.runtime.history import Point, before_newest, moment, past_of, unified


@click.command("diff")
@channel
@note_file
@click.option(
    "--since",
    type=past_moment,
    metavar="WHEN|SEQ",
    help="From here: a time, as in 2026-03-02 or yesterday, or right after a change.",
)
@click.option("--until", type=past_moment, metavar="WHEN|SEQ", help="Up to here; now by default.")
@as_json
@chosen
def command(
    chosen: Chosen,
    channel: str,
    file: str | None,
    since: Point | None,
    until: Point | None,
    as_json: bool,
) -> None:
    """Show what changed, as a diff.

    In CHANNEL's notes, or in one FILE; by default the newest change.
    """
    past = past_of(chosen.channel(channel))
    first = before_newest(past) if since is None else past.sequence_at(since)
    last = None if until is None else past.sequence_at(until)
    names = [file] if file else [*NOTES]
    found = unified(past, [NOTES[name] for name in names], first, last)
    if as_json:
        for name in names:
            between = {"since": first, "until": last}
            record({"channel": channel, "file": name, **between, "diff": found[NOTES[name]]})
    elif any(found.values()):
        say("\n".join(filter(None, found.values())))
    else:
        note(f"nothing changed between {moment(past, first)} and {moment(past, last)}")
