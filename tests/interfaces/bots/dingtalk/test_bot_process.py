"""`pipimem dingtalk` as a process: started, stopped, and what it says when it cannot start."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.interfaces.bots.conftest import GROUP
from tests.servers.dingtalk import CLIENT_ID, CLIENT_SECRET, FakeDingTalk
from tests.servers.openai import OpenAIServer, Reply

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def started(
    workspace: Path, url: str, *words: str, model: str = "offline", **variables: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The command, with what it needs in its environment."""
    environment = os.environ | {
        "DINGTALK_CLIENT_ID": CLIENT_ID,
        "DINGTALK_CLIENT_SECRET": CLIENT_SECRET,
        "DINGTALK_OPENAPI_ENDPOINT": url,
    }
    command = ["-m", "pipimem", "--workspace", str(workspace), "--model", model, "dingtalk", *words]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        env=environment | variables,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    """How it ended, and all that it said."""
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, (out + err).decode()


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_with_the_files_whole(
    workspace: Path, dingtalk: FakeDingTalk, name: signal.Signals
) -> None:
    """What was said before it is answered and stored."""
    async with started(workspace, dingtalk.url) as process:
        await dingtalk.connected(1)
        await dingtalk.say("周五不许发布")
        await dingtalk.until(lambda: bool(dingtalk.said))
        process.send_signal(name)
        code, said = await ended(process)
    assert (code, said.splitlines()[-1]) == (0, "stopped; the files are whole")
    assert CLIENT_SECRET not in said
    (log,) = workspace.glob("channels/*/log.jsonl")
    assert len(log.read_text("utf-8").splitlines()) == 2


async def test_a_killed_bot_answers_no_message_twice(
    workspace: Path, dingtalk: FakeDingTalk
) -> None:
    """The gateway delivers again what it got no acknowledgement for."""
    async with started(workspace, dingtalk.url) as process:
        await dingtalk.connected(1)
        await dingtalk.say("one", message_id="msg1==")
        await dingtalk.until(lambda: len(dingtalk.said) == 1)
        process.kill()
        await process.wait()
    async with started(workspace, dingtalk.url) as process:
        await dingtalk.connected(2)
        await dingtalk.say("one", message_id="msg1==")
        await dingtalk.say("two", message_id="msg2==")
        await dingtalk.until(lambda: len(dingtalk.said) == 2)
        process.terminate()
        await ended(process)
    (log,) = workspace.glob("channels/*/log.jsonl")
    assert [line.count("msg1==") for line in log.read_text("utf-8").splitlines()].count(1) == 1


async def test_a_model_answers_through_litellm(workspace: Path, dingtalk: FakeDingTalk) -> None:
    """It is shown what memory has, who speaks, and what was said before; no id is in it."""
    with OpenAIServer(lambda request: Reply(f"answer {request.number}")) as server:
        url = f"{server.url}/v1"
        openai = {"OPENAI_API_KEY": "sk-test", "OPENAI_API_BASE": url}
        async with started(workspace, dingtalk.url, model="openai/gpt-test", **openai) as process:
            await dingtalk.connected(1)
            await dingtalk.say("hello")
            await dingtalk.until(lambda: len(dingtalk.said) == 1, 60)
            await dingtalk.say("and now?", senderNick="Tom")
            await dingtalk.until(lambda: len(dingtalk.said) == 2, 60)
            process.terminate()
            await ended(process)
        requests = server.requests
    assert [said.text for said in dingtalk.said] == ["answer 1", "answer 2"]
    contents = [message.content for message in requests[1].messages[1:]]
    assert contents == ["林晓: hello", "answer 1", "Tom: and now?"]
    prompt = requests[1].system
    assert "MEMORY.md" in prompt
    for name in ("staff-lin", "LWCP", GROUP, "cidgroup", str(workspace / "channels")):
        assert name not in prompt


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"DINGTALK_CLIENT_SECRET": ""}, "DINGTALK_CLIENT_SECRET must be set"),
        ({"DINGTALK_CLIENT_ID": " "}, "DINGTALK_CLIENT_ID must be set"),
        ({"DINGTALK_OPENAPI_ENDPOINT": "http://example.com"}, "must be an https:// address"),
        ({"DINGTALK_CLIENT_SECRET": "wrong-secret"}, "HTTP 401"),
    ],
)
async def test_what_is_missing_is_told_in_one_sentence(
    workspace: Path, dingtalk: FakeDingTalk, variables: dict[str, str], said: str
) -> None:
    """Exit 1, and no traceback."""
    async with started(workspace, dingtalk.url, **variables) as process:
        code, text = await ended(process)
    assert code == 1
    assert said in text
    assert "Traceback" not in text
    assert "wrong-secret" not in text


async def test_a_stop_during_a_turn_takes_no_longer_than_it_may(
    workspace: Path, dingtalk: FakeDingTalk
) -> None:
    """A model that does not answer holds nobody up, and no model is asked any more."""
    with OpenAIServer(lambda _: Reply("late", delay=30.0)) as server:
        openai = {"OPENAI_API_KEY": "sk-test", "OPENAI_API_BASE": f"{server.url}/v1"}
        words = ("--grace", "1")
        async with started(
            workspace, dingtalk.url, *words, model="openai/gpt-test", **openai
        ) as process:
            await dingtalk.connected(1)
            await dingtalk.say("hello")
            await dingtalk.until(lambda: bool(server.requests), 60)
            process.terminate()
            code, said = await ended(process)
    assert code == 0
    assert "1 conversations did not end in time" in said
    (log,) = workspace.glob("channels/*/log.jsonl")
    assert "hello" in log.read_text("utf-8")


async def test_a_second_bot_on_the_workspace_is_refused(
    workspace: Path, dingtalk: FakeDingTalk
) -> None:
    """DingTalk would share messages out among both; with the first one gone, even killed, it may."""
    async with started(workspace, dingtalk.url) as first:
        await dingtalk.connected(1)
        async with started(workspace, dingtalk.url) as second:
            code, said = await ended(second)
        assert code == 1
        assert f"(process {first.pid}). Stop it first." in said
        first.kill()
        await first.wait()
    async with started(workspace, dingtalk.url) as third:
        await dingtalk.connected(2)
        third.terminate()
        assert (await ended(third))[0] == 0


async def test_it_is_ready_while_the_stream_connection_stands(
    workspace: Path, dingtalk: FakeDingTalk
) -> None:
    """`/readyz` says so when it ends; `/healthz` and the metrics go on."""
    async with started(workspace, dingtalk.url, "--metrics", "127.0.0.1:0") as process:
        await dingtalk.connected(1)
        assert process.stderr is not None
        url = ""
        while not url:
            line = (await process.stderr.readline()).decode()
            assert line
            if line.startswith("metrics at "):
                url = line.split()[2].removesuffix("/metrics,")
        async with aiohttp.ClientSession() as session:
            await dingtalk.say("周五不许发布")
            await dingtalk.until(lambda: bool(dingtalk.said))
            async with session.get(f"{url}/readyz") as answer:
                assert (answer.status, await answer.text()) == (200, "ready\n")
            async with session.get(f"{url}/metrics") as answer:
                text = await answer.text()
            assert 'pipimem_operations_total{operation="turn",outcome="ok"} 1\n' in text
            assert "周五" not in text
            assert GROUP not in text
            dingtalk.refuse = 503
            dingtalk.break_off()
            async with asyncio.timeout(20):
                status = 200
                while status == 200:
                    async with session.get(f"{url}/readyz") as answer:
                        status, told = answer.status, await answer.text()
            assert (status, told) == (503, "there is no Stream connection\n")
            async with session.get(f"{url}/healthz") as answer:
                assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        assert (await ended(process))[0] == 0
