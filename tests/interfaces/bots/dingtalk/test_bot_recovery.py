"""A bot that was killed with `kill -9` has lost nothing that it acknowledged."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.interfaces.bots.conftest import GROUP, Running, ScriptedReplies, said_in
from tests.interfaces.bots.dingtalk.test_bot_acknowledgements import logs_of
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
        logs = logs_of(workspace)
        assert [text for text in said if logs.count(f'"{text}"') != 1] == []
        # What comes again is known.
        await dingtalk.acked(await dingtalk.say(said[-1], channel="cid3-9", message_id="m3-9"))
        process.terminate()
        assert (await ended(process))[0] == 0
    assert logs_of(workspace).count(f'"{said[-1]}"') == 1


async def test_what_an_older_bot_left_is_remembered_and_not_answered(
    running: Running, dingtalk: FakeDingTalk, workspace: Path
) -> None:
    """Delivered again it is known."""
    left = Path(__file__).parents[3] / "fixtures" / "dingtalk-arrivals-0.2.jsonl"
    (workspace / ".pipimem").mkdir(exist_ok=True)
    shutil.copy(left, workspace / ".pipimem" / "dingtalk-arrivals.jsonl")
    async with running(replies=ScriptedReplies()) as pipimem:
        assert await said_in(pipimem) == [("user", "林晓", "one"), ("user", "林晓", "two")]
        await dingtalk.acked(await dingtalk.say("two", message_id="m2"))
        assert len(await said_in(pipimem)) == 2
    assert GROUP in [info.id for info in pipimem.store.channels()]
    assert dingtalk.said == []
