"""MCP over HTTP and the web view: channels apart, nothing private written, masked words kept.

What tests/promises says of the Python API and the command line, at the servers that people and
models reach.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.promises.front_door import Message, folder_of, log, note, remember, undo
from tests.promises.rooms import (
    ASYNCIO,
    opened,
    require_human_files,
    say,
    traces,
    write_human_files,
)
from tests.promises.test_masked import NOTES, typed
from tests.promises.test_never_written import HIDDEN
from tests.promises.test_off_the_record_in_words import KNOWN, talk

pytestmark = ASYNCIO
ROOT = Path(__file__).parents[3]
TOKEN = "test-token-0123456789abcdef"
SECONDS = 60
TOOLS: dict[str, list[dict[str, Any]]] = {
    "memory_search": [
        {"query": "falcon gate kestrel"},
        {"around": "id-theirs"},
        {"ids": ["id-theirs", "log:id-theirs"]},
    ],
    "memory_save": [{"text": "the falcon gate is shut"}],
    "memory_update": [{"id": "id-theirs", "text": "the falcon gate is ajar"}],
    "memory_forget": [{"ids": ["id-theirs"]}, {"query": "falcon gate"}],
    "memory_feedback": [{"id": "id-theirs", "helpful": True}],
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with SOUL.md, AGENTS.md and MEMORY.md of people."""
    (tmp_path / "workspace" / "channels").mkdir(parents=True)
    write_human_files(tmp_path / "workspace")
    return tmp_path / "workspace"


@contextmanager
def serving(workspace: Path, *arguments: str) -> Iterator[str]:
    """Run a server of ours on a free port; gives its address."""
    command = [sys.executable, "-m", "pipimem", "--workspace", str(workspace), *arguments]
    tokens = {"PIPIMEM_MCP_TOKEN": TOKEN, "PIPIMEM_UI_TOKEN": TOKEN}
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "PIPIMEM_MODEL": "offline", **tokens}
    with subprocess.Popen(
        [*command, "--port", "0"], stderr=subprocess.PIPE, text=True, env=variables
    ) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if found := re.search(r"http://127\.0\.0\.1:\d+(?:/mcp)?", line):
                    yield found[0]
                    break
        finally:
            process.terminate()
            process.wait(SECONDS)


@asynccontextmanager
async def mcp_client(workspace: Path, *arguments: str) -> AsyncIterator[Client]:
    """A client of `pipimem mcp --http`."""
    with serving(workspace, "mcp", "--http", *arguments) as url:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            yield client


@contextmanager
def browser(workspace: Path) -> Iterator[httpx2.Client]:
    """A client of `pipimem ui` that has signed in."""
    with (
        serving(workspace, "ui", "--no-browser") as url,
        httpx2.Client(base_url=url, headers={"Origin": url}, timeout=SECONDS) as client,
    ):
        answer = client.post("/sign-in", json={"token": TOKEN})
        assert answer.status_code == 204, answer.text
        yield client


def save(
    client: httpx2.Client, draft: str, base: dict[str, Any], channel: str = "room"
) -> httpx2.Response:
    """Save MEMORY.md as the page's script does."""
    return client.put(
        "/channel/file",
        params={"id": channel, "file": "MEMORY.md"},
        headers={"If-Match": f'"{base["etag"]}"'},
        json={"draft": draft, "base": base["text"]},
    )


def source(client: httpx2.Client, channel: str = "room") -> dict[str, Any]:
    """MEMORY.md as it may be edited, and its mark."""
    answer = client.get("/channel/source", params={"id": channel, "file": "MEMORY.md"})
    assert answer.status_code == 200, answer.text
    value: dict[str, Any] = answer.json()
    return value


async def two_channels(workspace: Path) -> None:
    """Channels whose ids look alike, each with a word of its own."""
    for name, word, message in (
        ("a/b", "kestrelmine", "id-mine"),
        ("A/B", "kestreltheirs", "id-theirs"),
    ):
        async with opened(workspace, name) as channel:
            await remember(channel, f"the falcon gate opens with {word}")
            said = Message.user(f"the falcon gate wants {word}", id=message, speaker="Dana")
            await channel.after_turn(None, [said, Message.assistant("ok")])


@pytest.mark.parametrize("only", [True, False], ids=["one channel", "many"])
async def test_no_tool_and_no_resource_over_http_tells_of_another_channel(
    workspace: Path, only: bool
) -> None:
    """Whether the server is of one channel or of all: with ids of the other's messages, too."""
    await two_channels(workspace)
    told = ""
    async with mcp_client(workspace, *(["--channel", "a/b"] if only else [])) as client:
        where = {} if only else {"channel": "a/b"}
        for tool, calls in TOOLS.items():
            for arguments in calls:
                result = await client.call_tool(tool, {**where, **arguments})
                told += f"{result.content} {result.structured_content}"
        if only:
            for resource in (await client.list_resources()).resources:
                told += str(resource) + str(await client.read_resource(resource.uri))
            refused = await client.call_tool("memory_search", {"channel": "A/B", "query": "falcon"})
            assert refused.is_error
            told += str(refused)
    assert "kestrelmine" in told
    assert "kestreltheirs" not in told
    require_human_files(workspace)


async def test_no_tool_over_http_writes_what_is_hidden(workspace: Path) -> None:
    """Private stretches and secrets in arguments: nowhere in the workspace."""
    async with opened(workspace) as channel:
        await remember(channel, "tea is green")
    async with mcp_client(workspace) as client:
        where = {"channel": "room"}
        await client.call_tool("memory_save", {**where, "text": "the lantern is lit"})
        for text in HIDDEN.values():
            await client.call_tool("memory_save", {**where, "text": f"of a lantern: {text}"})
            await client.call_tool("memory_search", {**where, "query": text})
    assert traces(workspace, HIDDEN) == {}
    assert "the lantern is lit" in note(workspace, "room")
    require_human_files(workspace)


async def test_a_models_forget_over_http_is_undoable(workspace: Path) -> None:
    """What a person typed stays; the entry that went comes back."""
    async with opened(workspace) as channel:
        await remember(channel, "tea is green")
        path = folder_of(workspace, "room") / "MEMORY.md"
        path.write_text(path.read_text() + "- typed by hand\n")
        await say(channel, "hello")
    async with mcp_client(workspace, "--channel", "room") as client:
        for query in ("tea green", "typed by hand"):
            found = await client.call_tool("memory_search", {"query": query, "where": "notes"})
            ids = re.findall(r"memory:\w+", json.dumps(found.structured_content))
            await client.call_tool("memory_forget", {"ids": list(dict.fromkeys(ids))})
    assert "- typed by hand" in note(workspace, "room")
    async with opened(workspace) as channel:
        while "tea is green" not in note(workspace, "room"):
            assert (await log(channel))[0].number < 20
            await undo(channel)
    assert "- typed by hand" in note(workspace, "room")


async def test_what_is_off_the_record_is_not_told_over_http(workspace: Path) -> None:
    """Neither by a search nor by the id of the message."""
    async with opened(workspace) as channel:
        await talk(channel, KNOWN[0])
    async with mcp_client(workspace, "--channel", "room") as client:
        told = str(await client.call_tool("memory_search", {"query": "quetzal resign"}))
        told += str(await client.call_tool("memory_search", {"ids": ["said"]}))
    assert "quetzal" not in told


async def test_the_web_view_changes_no_other_byte(workspace: Path) -> None:
    """A note with masked words, read and saved by the page: its own line changes, and no page
    shows a secret.
    """
    path = typed(workspace)
    (workspace / "pipimem.toml").write_text('[secrets]\nwords = ["Quetzal"]\n')
    with browser(workspace) as client:
        base = source(client)
        page = unescape(client.get("/channel", params={"id": "room"}).text)
        assert "lantern release is on Thursday" in page
        for word in ("hunter2Xy9Qw", "Zx8kQ2vv9", "Quetzal", "platypus"):
            assert word not in page
            assert word not in base["text"]
        draft = base["text"].replace("on Thursday", "on Monday")
        assert save(client, draft, base).status_code == 200
        # A page that was opened before: nothing is written, and both texts are shown.
        assert save(client, base["text"], base).status_code == 412
    assert path.read_bytes().decode() == NOTES.replace("on Thursday", "on Monday")
    require_human_files(workspace)


async def test_the_web_view_shows_one_channel_and_takes_no_stranger(workspace: Path) -> None:
    """Pages of a channel have no word of another; without the cookie there is no page at all."""
    await two_channels(workspace)
    with browser(workspace) as client:
        pages = [
            client.get(path, params={"id": "a/b"}).text
            for path in ("/channel", "/talk", "/changes", "/health", "/channel/source")
        ]
        told = unescape("".join(pages))
        assert "kestrelmine" in told
        assert "kestreltheirs" not in told
        client.cookies.clear()
        answer = client.get("/channel", params={"id": "a/b"})
        assert "kestrelmine" not in answer.text


async def test_a_forget_in_the_web_view_is_a_persons(workspace: Path) -> None:
    """It removes each byte, as `pipimem forget` does; an old page saved after it brings none back."""
    async with opened(workspace) as channel:
        await remember(channel, "the code is quokkapass")
        await remember(channel, "tea is green")
    with browser(workspace) as client:
        base = source(client)
        answer = client.post(
            "/channel/forget",
            params={"id": "room"},
            headers={"If-Match": "*"},
            json={"text": "quokkapass"},
        )
        assert answer.status_code == 200, answer.text
        assert save(client, base["text"], base).status_code == 412
    assert traces(workspace, ["quokkapass"]) == {}
    assert "tea is green" in note(workspace, "room")
