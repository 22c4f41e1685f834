"""`pipimem diff`: what changed in a channel's notes between two moments."""

from __future__ import annotations

import click

from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen, note_file
from pipimem.cli.output import note, record, say
from pipimem.cli.times import past_moment
from pipimem.runtime.history import ChannelHistory, Point
from pipimem.runtime.opened_parts import run_alone


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
    history = chosen.part(ChannelHistory, channel)
    found = run_alone(history.compare(since, until, file=NOTES[file] if file else None))
    if as_json:
        between = {"since": found.since.number, "until": found.until.number}
        for name in [file] if file else NOTES:
            diff = found.diffs[NOTES[name]]
            record({"channel": channel, "file": name, **between, "diff": diff})
    elif any(found.diffs.values()):
        say("\n".join(filter(None, found.diffs.values())))
    else:
        note(f"nothing changed between {found.since} and {found.until}")
