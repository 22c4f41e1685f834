"""`pipimem diff`: what changed in a channel's notes between two moments."""

from __future__ import annotations

from difflib import unified_diff

import click

from pipimem.cli.options import NOTES, Chosen, as_json, channel, chosen, note_file
from pipimem.cli.printing import Failed, note, record, say
from pipimem.cli.times import When, moment
from pipimem.notes.files import File
from pipimem.store.channel import ChannelStore
from pipimem.store.looking_back.past import Past, Point
from pipimem.text.lines import split_lines, without_ending


@click.command("diff")
@channel
@note_file
@click.option(
    "--since",
    type=When(),
    metavar="WHEN|SEQ",
    help="From here: a time, as in 2026-03-02 or yesterday, or right after a change.",
)
@click.option("--until", type=When(), metavar="WHEN|SEQ", help="Up to here; now by default.")
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
    past = ChannelStore.open(chosen.store(), channel, create=False).past()
    first = past.sequence_at(since) if since is not None else _before_newest(past)
    last = past.sequence_at(until) if until is not None else None
    told = (moment(past, first), "now" if last is None else moment(past, last))
    found = {name: _between(past, NOTES[name], first, last) for name in ([file] if file else NOTES)}
    for name, (old, new) in found.items():
        lines = list(_lines(NOTES[name], old, new, told))
        if as_json:
            text = "\n".join(lines)
            record({"channel": channel, "file": name, "since": first, "until": last, "diff": text})
        elif lines:
            say("\n".join(lines))
    if not as_json and all(old == new for old, new in found.values()):
        note(f"nothing changed between {told[0]} and {told[1]}")


def _before_newest(past: Past) -> int:
    """What the newest change began with; a hand edit nobody has journalled yet is newer than all."""
    if past.left != past.now or not past.records:
        return past.records[-1].sequence if past.records else 0
    newest = next((one.sequence for one in reversed(past.records) if one.files), 1)
    return max(past.begins, newest - 1)


def _between(past: Past, file: File, first: int, last: int | None) -> tuple[str, str]:
    old = past.text_after(file, first)
    new = past.now[file] if last is None else past.text_after(file, last)
    if old is None or new is None:
        raise Failed(
            f"what {file} was then cannot be told any more, because a part of .pipimem/ is gone; choose a later point"
        )
    return old, new


def _lines(file: File, old: str, new: str, told: tuple[str, str]) -> list[str]:
    before, after = (list(map(without_ending, split_lines(text))) for text in (old, new))
    if before == after and old != new:
        return [f"--- {file}", f"+++ {file}", "only line ends changed"]
    return list(
        unified_diff(before, after, f"{file}  {told[0]}", f"{file}  {told[1]}", lineterm="")
    )
