"""A bot that was killed with `kill -9` has lost nothing that it acknowledged."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from pipimem import Message, Pipimem, StoreError, Text
from pipimem.bots.dingtalk.bot import take_in_left
from pipimem.runtime.arrival_journal import Arrival, ArrivalJournal

from tests.interfaces.bots.conftest import GROUP, Running, ScriptedReplies, said_in
from tests.interfaces.bots.dingtalk.test_arrival_writer_acknowledgements import journal_of, logs_of
from tests.interfaces.bots.dingtalk.test_bot_process import ended, started
from tests.servers.dingtalk import FakeDingTalk

pytestmark = pytest.mark.anyio


async def test_killed_in_a_burst_right_after_a_start_it_loses_nothing(
    workspace: Path, dingtalk: FakeDingTalk
) -> None:
    """Ten first messages of ten conversations at once, killed as soon as all are acknowledged."""
    said: list[str] = []
    for round_ in range(4):
        async with started(workspace, dingtalk.url) as process:
            await dingtalk.connected(round_ + 1)
            before = dingtalk.ack_count
            for number in range(10):
                said.append(f"message {round_}-{number}")
                await dingtalk.say(
                    said[-1], channel=f"cid{round_}-{number}", message_id=f"m{round_}-{number}"
                )
            await dingtalk.until(lambda before=before: dingtalk.ack_count == before + 10)
            process.kill()
            await process.wait()
    async with started(workspace, dingtalk.url) as process:
        await dingtalk.connected(5)
        # All of it is stored before it connects.
        logs = logs_of(workspace)
        assert [text for text in said if logs.count(f'"{text}"') != 1] == []
        # What comes again is known.
        await dingtalk.acked(await dingtalk.say(said[-1], channel="cid3-9", message_id="m3-9"))
        process.terminate()
        assert (await ended(process))[0] == 0
    assert logs_of(workspace).count(f'"{said[-1]}"') == 1
    assert journal_of(workspace) == ""


async def test_killed_and_then_told_to_forget_it_brings_nothing_back(
    workspace: Path, dingtalk: FakeDingTalk
) -> None:
    """What was acknowledged may stand in the journal alone; the next start would store it."""
    channels = [f"cid{number}" for number in range(8)]
    async with Pipimem(workspace, "offline") as pipimem:
        for name in channels:
            await pipimem.channel(name, kind="group", title="发布群")
    for round_ in range(3):
        async with started(workspace, dingtalk.url) as process:
            await dingtalk.connected(round_ + 1)
            before = dingtalk.ack_count
            for name in channels:
                text = f"round {round_}: the vault is behind the mirror"
                await dingtalk.say(text, channel=name, message_id=f"{name}-{round_}")
            await dingtalk.until(lambda before=before: dingtalk.ack_count == before + 8)
            process.kill()
            await process.wait()
        holds = logs_of(workspace) + journal_of(workspace)
        assert all(f'"{name}-{round_}"' in holds for name in channels)
        async with Pipimem(workspace, "offline") as pipimem:
            for name in channels:
                channel = await pipimem.channel(name)
                counts = await channel.notes.forget(Text("the vault is behind the mirror"))
                assert counts["messages"] + counts["arrivals"] >= 1
        assert "vault" not in logs_of(workspace) + journal_of(workspace)
    async with started(workspace, dingtalk.url) as process:
        await dingtalk.connected(4)
        # What comes again is known by its id.
        text = "round 2: the vault is behind the mirror"
        await dingtalk.acked(await dingtalk.say(text, channel="cid0", message_id="cid0-2"))
        process.terminate()
        assert (await ended(process))[0] == 0
    assert "vault" not in logs_of(workspace) + journal_of(workspace)
    assert logs_of(workspace).count('"cid0-2"') == 1


def left(pipimem: Pipimem, *arrivals: Arrival) -> ArrivalJournal:
    """What a killed bot left."""
    ArrivalJournal.of(pipimem, "dingtalk").commit(arrivals, ())
    return ArrivalJournal.of(pipimem, "dingtalk")


def arrival(text: str, name: str, channel: str = GROUP, **more: Any) -> Arrival:
    message = Message.user(text, id=name, speaker="林晓")
    return Arrival(channel, message, "group", "发布群", **more)


async def test_what_was_left_is_remembered_and_not_answered(
    running: Running, dingtalk: FakeDingTalk, workspace: Path
) -> None:
    """In its order, once, also where the transcript has some of it."""
    async with Pipimem(workspace, "offline") as pipimem:
        channel = await pipimem.channel(GROUP, kind="group", title="发布群")
        await channel.talk.append([Message.user("one", id="m1", speaker="林晓")])
        left(pipimem, arrival("one", "m1"), arrival("two", "m2"), arrival("x", "m1", "cidOther"))
    async with running(replies=ScriptedReplies()) as pipimem:
        assert journal_of(workspace) == ""
        assert await said_in(pipimem) == [("user", "林晓", "one"), ("user", "林晓", "two")]
        assert await said_in(pipimem, "cidOther") == [("user", "林晓", "x")]
        await dingtalk.acked(await dingtalk.say("two", message_id="m2"))
    assert dingtalk.said == []


async def test_what_was_taken_back_does_not_come_back(
    running: Running, dingtalk: FakeDingTalk, workspace: Path
) -> None:
    """Neither from the journal, nor from the transcript, nor when it is delivered again."""
    async with Pipimem(workspace, "offline") as pipimem:
        channel = await pipimem.channel(GROUP, kind="group")
        await channel.talk.append([Message.user("the first surprise", id="m1")])
        left(
            pipimem,
            arrival("the second surprise", "m2"),
            arrival("", "m1", is_taken_back=True),
            arrival("", "m2", is_taken_back=True),
            arrival("", "m9", "cidUnknown", is_taken_back=True),
        )
    async with running(replies=ScriptedReplies()) as pipimem:
        await dingtalk.acked(await dingtalk.say("the second surprise", message_id="m2"))
        assert [content for _, _, content in await said_in(pipimem)] == ["", ""]
    assert "surprise" not in logs_of(workspace) + journal_of(workspace)
    assert [info.id for info in pipimem.store.channels()] == [GROUP]


async def test_what_the_disk_refuses_stays_for_the_next_start(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The other channels' messages are stored; the log quotes nobody."""
    real = Pipimem.channel

    async def refuse(self: Pipimem, name: str, **more: Any) -> Any:
        if name == GROUP:
            raise StoreError("the folder cannot be read")
        return await real(self, name, **more)

    caplog.set_level(logging.DEBUG)
    async with Pipimem(workspace, "offline") as pipimem:
        journal = left(pipimem, arrival("one", "m1"), arrival("other", "m2", "cidOther"))
        with monkeypatch.context() as broken:
            broken.setattr(Pipimem, "channel", refuse)
            await take_in_left(pipimem, journal)
        assert await said_in(pipimem, "cidOther") == [("user", "林晓", "other")]
        await take_in_left(pipimem, ArrivalJournal.of(pipimem, "dingtalk"))
        assert await said_in(pipimem) == [("user", "林晓", "one")]
        assert len(await said_in(pipimem, "cidOther")) == 1
    assert journal_of(workspace) == ""
    assert "1 messages of before are not stored yet" in caplog.text
    assert "one" not in [record.getMessage() for record in caplog.records]
