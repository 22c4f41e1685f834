"""`pipimem diff`: what changed in a channel's notes between two moments."""

from __future__ import annotations

from difflib import unified_diff

import click

from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen, note_file
from pipimem.cli.output import Failed, note, record, say
from pipimem.cli.times import moment, past_moment
from pipimem.notes.files import File
from pipimem.runtime.change_history import Past, Point
from pipimem.text.markdown.lines import split_lines, without_ending


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
    past = chosen.channel(channel).past()
    first = _before_newest(past) if since is None else past.sequence_at(since)
    last = None if until is None else past.sequence_at(until)
    old, new = moment(past, first), "now" if last is None else moment(past, last)
    found = {}
    for name in [file] if file else NOTES:
        found[name] = "\n".join(_diff(past, NOTES[name], (first, old), (last, new)))
    if as_json:
        for name, text in found.items():
            between = {"since": first, "until": last}
            record({"channel": channel, "file": name, **between, "diff": text})
    elif any(found.values()):
        say("\n".join(filter(None, found.values())))
    else:
        note(f"nothing changed between {old} and {new}")


def _before_newest(past: Past) -> int:
    """The number of the change before the newest.

    A hand edit that is in no journal yet is newer than all that are.
    """
    if not past.records:
        return 0
    if past.base != past.current:
        return past.records[-1].sequence
    for one in reversed(past.records):
        if one.files:
            return max(past.begins, one.sequence - 1)
    return past.begins


def _diff(
    past: Past, file: File, since: tuple[int, str], until: tuple[int | None, str]
) -> list[str]:
    """The lines of a diff between two moments, each a change (`None`: now) and its words."""
    old = past.text_after(file, since[0])
    new = past.current[file] if until[0] is None else past.text_after(file, until[0])
    if old is None or new is None:
        raise Failed(
            f"what {file} was then cannot be told any more, because a part of .pipimem/ is gone; "
            "choose a later point"
        )
    before, after = _bare_lines(old), _bare_lines(new)
    if before == after and old != new:
        return [f"--- {file}", f"+++ {file}", "only line ends changed"]
    names = f"{file}  {since[1]}", f"{file}  {until[1]}"
    return list(unified_diff(before, after, *names, lineterm=""))


def _bare_lines(text: str) -> list[str]:
    return [without_ending(line) for line in split_lines(text)]
