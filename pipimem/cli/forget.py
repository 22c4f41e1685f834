"""`pipimem forget`: a text or an entry removed from everything a channel keeps."""

from __future__ import annotations

import click

from pipimem.cli.failing import Failed
from pipimem.cli.forgettable import Forgettable, forgettable
from pipimem.cli.opening import Chosen
from pipimem.cli.options import as_json, channel, chosen
from pipimem.cli.printing import note, one_line, record, say
from pipimem.clock import Clock
from pipimem.store.channel import ChannelStore

# Beyond this a list is not read any more.
_LISTED = 10


@click.command("forget")
@channel
@click.argument("what", metavar="TEXT|ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--keep-transcript", is_flag=True, help="Leave log.jsonl as it is.")
@as_json
@chosen
def command(chosen: Chosen, channel: str, what: str, yes: bool, keep_transcript: bool, as_json: bool) -> None:
    """Remove a text or an entry for good.

    All that CHANNEL keeps is searched: files, archive, older versions, journal, transcript. It is not learnt again from
    older talk. An ID is as `recall`, `remember` and `log --json` give it.
    """
    store = ChannelStore.open(chosen.store(), channel, create=False)
    for line in lines_of(forgettable(store, what, keep_transcript=keep_transcript)):
        note(line)
    if not yes and not _confirmed():
        raise Failed("nothing was forgotten")
    counts = store.forget(what, keep_transcript=keep_transcript, now=Clock().now(), actor="person")
    store.close()
    if as_json:
        record({"channel": channel, **counts})
    elif any(counts.values()):
        say(told(counts))
    if not any(counts.values()):
        raise Failed(f"nothing in {channel} holds {one_line(what, 60)!r}; it will not be learnt from older talk either")


def _confirmed() -> bool:
    try:
        return click.confirm("Forget this for good?", err=True)
    except click.Abort:
        raise Failed("nothing was forgotten: nobody answered. Say --yes to forget without being asked") from None


def lines_of(found: Forgettable) -> list[str]:
    """What would go, for eyes."""
    if not found:
        return ["The files as they stand do not hold it; older versions and the journal may."]
    lines = [f"- {entry.file} · {entry.section}: {one_line(entry.text, 100)}" for entry in found.entries[:_LISTED]]
    lines += [f"- log.jsonl, {message.id}: {one_line(message.content, 100)}" for message in found.messages[:_LISTED]]
    more = len(found.entries) + len(found.messages) - len(lines)
    return ["This would go:", *lines, *([f"- and {more} more"] if more else [])]


def told(counts: dict[str, int]) -> str:
    """The counts of a forgetting as a sentence."""
    return "forgotten: " + ", ".join(f"{count} in {place}" for place, count in counts.items() if count)
