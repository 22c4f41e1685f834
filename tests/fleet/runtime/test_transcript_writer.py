"""Turns while the database is gone: kept on the host, recalled there, taken in in order, once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.faults.journeys import runtime as opened_runtime
from benchmarks.fleet.postgres import Server
from pipimem import Message, Visible
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.state.postgres import FleetDatabase

pytestmark = pytest.mark.anyio


@pytest.fixture
def outage(server: Server, database: FleetDatabase) -> Iterator[Server]:
    """A server that a test stops; it runs again at the end."""
    assert database.statements
    yield server
    if not server.is_running:
        server.start()


async def said(channel: Channel, text: str) -> None:
    """A turn, with its two halves."""
    turn = await channel.before_turn(text)
    await channel.after_turn(turn, [Message.user(text), Message.assistant(f"noted: {text}")])


def texts(channel: Channel) -> list[str]:
    return [message.content for message in upkeep_of(channel).store.transcript.messages()]


async def test_talk_waits_for_the_database(root: Path, outage: Server) -> None:
    """Each turn ends, nothing is lost, doubled or out of order, also by another host."""
    async with opened_runtime(root) as one:
        channel = await one.channel("team")
        await said(channel, "before the outage")
        outage.stop()
        for number in range(3):
            await said(channel, f"turn {number} of the outage")
        waiting = [message.content for message in upkeep_of(channel).store.transcript.spooled()]
        assert waiting[::2] == [f"turn {number} of the outage" for number in range(3)]
        receipt = await channel.before_compaction()
        assert (receipt.may_compact, receipt.state) == (True, "deferred")
        outage.start()
        async with opened_runtime(root) as two:
            await said(await two.channel("team"), "after the outage")
        expected = [
            text
            for what in ("before the outage", *waiting[::2], "after the outage")
            for text in (what, f"noted: {what}")
        ]
        assert texts(channel) == expected
        assert list(upkeep_of(channel).store.transcript.spooled()) == []


async def test_what_waits_is_recalled_at_once(root: Path, outage: Server) -> None:
    """On this host a later turn is shown what was said in the outage."""
    async with opened_runtime(root) as pipimem:
        channel = await pipimem.channel("team")
        await said(channel, "good morning")
        outage.stop()
        await said(channel, "the spare key lies under the blue flowerpot")
        turn = await channel.before_turn("where is the spare key?", visible=Visible.NOTHING)
    assert "blue flowerpot" in turn.recalled


async def test_private_words_do_not_wait(root: Path, outage: Server) -> None:
    """What is never written is not written beside the transcript either."""
    async with opened_runtime(root) as pipimem:
        channel = await pipimem.channel("team")
        outage.stop()
        await said(
            channel,
            "my pin <private>4711</private> is known, api_key=sk-abcdef1234567890abcdef1234567890",
        )
        outage.start()
    written = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    assert b"4711" not in written
    assert b"sk-abcdef1234567890" not in written


async def test_a_turn_asks_the_database_one_question_before_the_model(
    root: Path, database: FleetDatabase
) -> None:
    """Whether anything changed: `before_turn` reads files alone."""
    assert database.statements
    async with opened_runtime(root) as pipimem:
        channel = await pipimem.channel("team")
        await said(channel, "the kettle is in the small kitchen")
        await channel.notes.remember("the kettle is in the small kitchen")
        fleet = upkeep_of(channel).store.workspace.fleet
        assert fleet is not None
        before = fleet.database.statements
        turn = await channel.before_turn("where is the kettle?")
        assert "small kitchen" in turn.context
        assert fleet.database.statements <= before + 2
