"""`pipimem remember`: one thing written to a channel's MEMORY.md because a person asked."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen, run
from pipimem.cli.printing import Failed, fields, note, record, say
from pipimem.cli.times import Time
from pipimem.notes.kinds import Kind
from pipimem.notes.notes import Outcome
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
@click.option(
    "--until", type=Time(to_come=True), help="The last day it holds, as in 2026-03-02 or tomorrow."
)
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

    async def remembered() -> Committed:
        async with chosen.opened() as pipimem:
            known = [info.id for info in pipimem.store.channels()]
            opened = await pipimem.channel(channel, kind=of_kind)
            if channel not in known:
                note(_made(channel, known))
            elif opened.store.identity.kind != of_kind == "group":
                note(f"{channel} is a {opened.store.identity.kind} already and stays one")
            return await opened.remember(text, kind=Kind(kind), speaker=speaker, until=last)

    _tell(run(remembered).outcome, channel, as_json)


def _tell(done: Outcome, channel: str, as_json: bool) -> None:
    if as_json:
        changes = [
            {**fields(one, "verb", "file", "section", "id"), "text": one.after}
            for one in done.changes
        ]
        record(
            {
                "channel": channel,
                "changes": changes,
                "refused": [refusal.reason for refusal in done.refused],
            }
        )
    else:
        for one in done.changes:
            say(f"{one.file} · {one.section}: {one.verb}: {one.after or one.before}  [{one.id}]")
        if not done.changes and not done.refused:
            say("that stands there already; nothing was changed")
    if done.refused:
        raise Failed(f"not remembered: {done.refused[0].reason}")


def _made(channel: str, known: list[str]) -> str:
    """Whoever mistyped a name sees it at once."""
    import difflib  # 6 ms, only where a channel is new

    near = difflib.get_close_matches(channel, known, n=1)
    return f"{channel} is new; the channel was made" + (
        f" (there is also {near[0]})" if near else ""
    )
