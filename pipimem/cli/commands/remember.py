"""`pipimem remember`: one thing written to a channel's MEMORY.md because a person asked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

import click

from pipimem.cli.options import Chosen, as_json, channel, chosen
from pipimem.cli.output import Failed, fields, nearest, note, record, say
from pipimem.cli.running import opened_runtime, run
from pipimem.cli.times import coming_day
from pipimem.clock import Clock
from pipimem.notes.kinds import Kind
from pipimem.runtime.intake import Intake, rememberable
from pipimem.runtime.notes import Remembered


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
    "--until",
    type=coming_day,
    metavar="DAY",
    help="The last day it holds, as in 2026-03-02 or tomorrow.",
)
@click.option(
    "--due",
    type=coming_day,
    metavar="DAY",
    help="The day it is to be done: an open loop, for `pipimem agenda`.",
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
    due: datetime | None,
    group: bool,
    as_json: bool,
) -> None:
    """Write TEXT into a channel's MEMORY.md. CHANNEL is made if it is new."""
    of_kind: Literal["dm", "group"] = "group" if group else "dm"
    last, day = (given.date() if given else None for given in (until, due))
    known = {info.id: info.kind for info in chosen.store().channels()}

    # Before the channel is made: a text with nothing to keep makes none.
    settings = chosen.settings()
    intake = Intake(settings.private, secrets=settings.secrets)
    rememberable(text, speaker, Clock().now(), intake)

    async def remembered() -> Remembered:
        async with opened_runtime(chosen) as pipimem:
            room = await pipimem.channel(channel, kind=of_kind)
            if channel not in known:
                note(_made(channel, known))
            elif group and known[channel] != of_kind:
                note(f"{channel} is a {known[channel]} already and stays one")
            return await room.notes.remember(
                text, kind=Kind(kind), speaker=speaker, until=last, due=day
            )

    done = run(remembered)
    if as_json:
        record(_json(done, channel))
    else:
        _show(done)
    if done.refused:
        raise Failed(f"not remembered: {done.refused[0]}")


def _json(done: Remembered, channel: str) -> dict[str, object]:
    names = ("verb", "file", "section", "id")
    changes = [{**fields(one, *names), "text": one.after} for one in done.changes]
    kept = {"changes": changes, "refused": done.refused, "quoted": done.quoted}
    return {"channel": channel, **kept}


def _show(done: Remembered) -> None:
    for one in done.changes:
        say(f"{one.file} · {one.section}: {one.verb}: {one.after or one.before}  [{one.id}]")
    if done.quoted:
        say("it reads like an instruction to the bot, so it is kept as a quote among the facts")
    if not done.changes and not done.refused:
        say("that stands there already; nothing was changed")


def _made(channel: str, known: Iterable[str]) -> str:
    """That the channel was made; whoever mistyped a name sees the other at once."""
    near = nearest(channel, known)
    return f"{channel} is new; the channel was made" + (f" (there is also {near})" if near else "")
