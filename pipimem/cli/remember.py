"""`pipimem remember`: one thing written to a channel's MEMORY.md because a person asked."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

import click

from pipimem.cli.failing import Failed
from pipimem.cli.opening import Chosen, run
from pipimem.cli.options import as_json, channel, chosen
from pipimem.cli.printing import note, record, say
from pipimem.cli.times import Time
from pipimem.notes.kinds import Kind
from pipimem.store.commits.committing import Committed


@click.command("remember")
@channel
@click.argument("text")
@click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in Kind]),
    default="fact",
    show_default=True,
    help="What it is, which says under which heading it goes.",
)
@click.option("--speaker", default="", help="Whose word it is.")
@click.option("--until", type=Time(to_come=True), help="The last day it holds, as in 2026-03-02 or tomorrow.")
@click.option("--group", is_flag=True, help="The channel is a group, when it is new.")
@as_json
@chosen
def command(
    chosen: Chosen,
    channel: str,
    text: str,
    kind: str,
    speaker: str,
    until: datetime | None,
    group: bool,
    as_json: bool,
) -> None:
    """Write TEXT into a channel's MEMORY.md. CHANNEL is made if it is new."""
    of_kind: Literal["dm", "group"] = "group" if group else "dm"
    last = until.date() if until else None
    done = run(lambda: _remembered(chosen, channel, text, Kind(kind), speaker, last, of_kind))
    changes, refused = done.outcome.changes, done.outcome.refused
    if as_json:
        record(
            {
                "channel": channel,
                "changes": [
                    {"verb": c.verb, "file": str(c.file), "section": c.section, "id": c.id, "text": c.after}
                    for c in changes
                ],
                "refused": [refusal.reason for refusal in refused],
            }
        )
    else:
        for change in changes:
            where = f"{change.file} · {change.section}"
            say(f"{where}: {change.verb}: {change.after or change.before}  [{change.id}]")
        if not changes and not refused:
            say("that stands there already; nothing was changed")
    if refused:
        raise Failed(f"not remembered: {refused[0].reason}")


async def _remembered(
    chosen: Chosen,
    channel: str,
    text: str,
    kind: Kind,
    speaker: str,
    until: date | None,
    channel_kind: Literal["dm", "group"],
) -> Committed:
    async with chosen.opened() as pipimem:
        known = [info.id for info in pipimem.store.channels()]
        opened = await pipimem.channel(channel, kind=channel_kind)
        if channel not in known:
            note(_made(channel, known))
        elif opened.store.identity.kind != channel_kind == "group":
            note(f"{channel} is a {opened.store.identity.kind} already and stays one")
        return await opened.remember(text, kind=kind, speaker=speaker, until=until)


def _made(channel: str, known: list[str]) -> str:
    """Whoever mistyped a name sees it at once."""
    import difflib  # 6 ms, only where a channel is new

    near = difflib.get_close_matches(channel, known, n=1)
    return f"{channel} is new; the channel was made" + (f" (there is also {near[0]})" if near else "")
