"""A conversation through every observed operation, with words that nobody but memory may see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pipimem import Message, Observer, Pipimem, Settings, Text
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.settings import MaintenanceSettings, ObservabilitySettings

from tests.journeys.test_over_http import respond
from tests.runtime.building import workspace
from tests.servers.openai import OpenAIServer

CHANNEL = "cid7Marmalade/AZ=="
SECRET, PRIVATE, SAID = "sk-live-51Hq8Zebra9Kx2Lm4Np6Rt8Vw0", "divorce lawyer", "pomegranate"
TEXT = f"The {SAID} release is on Friday, the key is {SECRET}. <private>my {PRIVATE}</private>"
# Nothing of these is in a label, an attribute or a line by default.
UNSPEAKABLE = (SECRET, PRIVATE, SAID, "Marmalade", "Dana")
MODEL = "openai/test"


@asynccontextmanager
async def model_on_loopback(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenAIServer]:
    """A server that answers as a plain model; litellm asks it."""
    with OpenAIServer(respond) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        yield server


@asynccontextmanager
async def remembering(
    tmp_path: Path, *observers: Observer, observability: ObservabilitySettings | None = None
) -> AsyncIterator[tuple[Pipimem, Channel]]:
    """A workspace with one channel, and who is told of what is done in it."""
    settings = Settings(
        maintenance=MaintenanceSettings(enabled=False),
        observability=observability or ObservabilitySettings("never"),
    )
    async with Pipimem(workspace(tmp_path), MODEL, settings=settings) as pipimem:
        for observer in observers:
            pipimem.add_observer(observer)
        yield pipimem, await pipimem.channel(CHANNEL, kind="group")


async def talk(channel: Channel, *, forgets: bool = True) -> None:
    """Every operation there is, once at least."""
    for text in (TEXT, f"When is the {SAID} release?"):
        turn = await channel.before_turn(text, speaker="Dana")
        await channel.after_turn(
            turn, [Message.user(text, speaker="Dana"), Message.assistant(f"The {SAID}: noted.")]
        )
    await channel.notes.remember(f"the {SAID} is red", speaker="Dana")
    receipt = await channel.before_compaction()
    assert receipt.state == "consolidated", receipt
    await channel.compacted(receipt)
    await channel.talk.search(SAID)
    await channel.before_turn(f"What did I say about the {SAID}?", speaker="Dana")
    turn = await channel.before_turn("And on Saturday?", speaker="Dana")
    await channel.after_turn(turn, [Message.user("And on Saturday?", speaker="Dana")])
    await upkeep_of(channel).maintain(forced=True)
    if forgets:
        await channel.notes.forget(Text(f"the {SAID} is red"))
