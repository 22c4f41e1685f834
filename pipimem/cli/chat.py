"""`pipimem chat`: talk to a bot with memory in the terminal."""

from __future__ import annotations

from typing import Literal

import click

from pipimem.cli.failing import Failed
from pipimem.cli.opening import Chosen, run
from pipimem.cli.options import channel, chosen, kind
from pipimem.cli.printing import note
from pipimem.cli.talking import Talk
from pipimem.cli.typed import typed
from pipimem.runtime.pipimem import Pipimem
from pipimem.sidecar.contracts import Assistant


@click.command("chat")
@channel
@kind
@click.option("--speaker", default="", help="Your name in the conversation.")
@chosen
def command(chosen: Chosen, channel: str, kind: Literal["dm", "group"], speaker: str) -> None:
    """Talk to a bot that has this memory.

    What memory puts before each message is shown. /help lists what else can be typed. CHANNEL is made if it is new.
    Without a model nothing replies; what memory found stands in its place.
    """
    if problem := run(lambda: _chatted(chosen, channel, kind, speaker)):
        raise Failed(problem)


async def _chatted(chosen: Chosen, name: str, kind: Literal["dm", "group"], speaker: str) -> str:
    """Talk until the end of the input; gives why the last turn had no reply, empty if it had one."""
    async with chosen.opened(settings=chosen.settings(idle=True)) as pipimem:
        channel = await pipimem.channel(name, kind=kind)
        talk = Talk(channel, _replying(pipimem), pipimem.store, speaker)
        note(f"{name} · {pipimem.assistant.name} · /help for more, /quit or Ctrl-D to end")
        async for line in typed("you> "):
            if not await talk.goes_on(line):
                break
        return talk.problem


def _replying(pipimem: Pipimem) -> Assistant | None:
    """The assistant if it can talk: the embedded rules cannot."""
    return pipimem.assistant if pipimem.assistant.paid else None
