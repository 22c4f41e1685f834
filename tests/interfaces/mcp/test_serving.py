"""The server in a process of its own, driven as its real clients do, over both transports."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.subscriptions import ResourceUpdated
from pipimem.store.workspace import WorkspaceStore

from tests.interfaces.mcp.building import MODERN, OLDER, ROOT, command, environment, over_stdio

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed"),
]

CHANNEL = "张三/AZ==😀"
MEMORY = "pipimem://%E5%BC%A0%E4%B8%89%2FAZ%3D%3D%F0%9F%98%80/memory"
TOKEN = "test-token-0123456789abcdef"
OLDER_SDK = ROOT / ".venv-mcp1" / "bin" / "python"
SECONDS = 60


def folder_of(root: Path) -> Path:
    return WorkspaceStore.open(root).folder_of(CHANNEL)


@dataclass
class Process:
    """A server over HTTP."""

    url: str
    token: str
    process: subprocess.Popen[str]
    told: str

    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {self.token}"}, timeout=SECONDS
        )

    def stop(self) -> str:
        """Ends it by a signal; all it wrote to standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, rest = self.process.communicate(timeout=SECONDS)
        self.told += rest
        return self.told


@contextmanager
def over_http(root: Path, *arguments: str, **variables: str) -> Iterator[Process]:
    """A server on a free port, with the token that it printed, or that of `variables`."""
    process = subprocess.Popen(
        command(root, "--http", "--port", "0", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**variables),
    )
    try:
        assert process.stderr is not None
        token, told = variables.get("PIPIMEM_MCP_TOKEN", ""), ""
        url: re.Match[str] | None = None
        while url is None or not token:
            line = process.stderr.readline()
            assert line, told
            told += line
            url = url or re.search(r"http://\S+/mcp", line)
            shown = re.search(r"the token of this start: (\S+)", line)
            token = shown[1] if shown else token
        yield Process(url[0], token, process, told)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@asynccontextmanager
async def connected(root: Path, transport: str, mode: str) -> AsyncIterator[Client]:
    """A client of the SDK's 2.x line."""
    if transport == "stdio":
        server = stdio_client(over_stdio(root, "--channel", CHANNEL))
        async with Client(server, mode=mode) as client:  # type: ignore[arg-type]
            yield client
        return
    with over_http(root, "--channel", CHANNEL, PIPIMEM_MCP_TOKEN=TOKEN) as server:
        async with server.client() as http:
            streams = streamable_http_client(server.url, http_client=http)
            async with Client(streams, mode=mode) as client:  # type: ignore[arg-type]
                yield client


@pytest.mark.parametrize("mode", [MODERN, OLDER])
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_client_of_today(root: Path, transport: str, mode: str) -> None:
    """Tools, structured output, resources, a change by hand."""
    heard: list[str] = []
    async with connected(root, transport, mode) as client:
        saved = await client.call_tool("memory_save", {"text": "we never deploy on Fridays"})
        assert saved.structured_content["changes"][0]["done"] == "added"
        uris = [found.uri for found in (await client.list_resources()).resources]
        assert MEMORY in uris
        (content,) = (await client.read_resource(MEMORY)).contents
        assert "Fridays" in content.text  # type: ignore[union-attr]
        path = folder_of(root) / "MEMORY.md"
        if mode == MODERN:
            async with client.listen(resource_subscriptions=[MEMORY]) as listening:
                path.write_text(path.read_text() + "\n- typed by hand\n")
                assert await anext(aiter(listening)) == ResourceUpdated(uri=MEMORY)
        else:
            await client.subscribe_resource(MEMORY)
        (content,) = (await client.read_resource(MEMORY)).contents
        assert ("typed by hand" in content.text) is (mode == MODERN)  # type: ignore[union-attr]
        refused = await client.call_tool("memory_save", {"channel": "other", "text": "we moved"})
        assert refused.is_error
    assert heard == []
    assert not list(root.glob("channels/other*"))


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_an_older_client(root: Path, transport: str) -> None:
    """The SDK 1.x, in an environment of its own: most hosts have it."""
    script = [str(OLDER_SDK), str(Path(__file__).with_name("older_client.py")), transport]
    folder = str(folder_of(root))
    if transport == "stdio":
        words = command(root, "--channel", CHANNEL)
        seen = _run_older([*script, folder, *words])
    else:
        with over_http(root, "--channel", CHANNEL, PIPIMEM_MCP_TOKEN=TOKEN) as server:
            seen = _run_older([*script, folder, server.url, TOKEN])
    assert seen["sdk"].startswith("1.")
    assert seen["protocol"] == "2025-11-25"
    assert seen["subscribe"] is True
    assert seen["tools"]["memory_search"] == [True, True]
    assert seen["tools"]["memory_forget"] == [True, False]
    assert len(seen["tools"]) == 5
    assert seen["saved"]["changes"][0]["done"] == "added"
    assert seen["error"] is True
    assert MEMORY in seen["uris"]
    assert "Fridays" in seen["memory"]
    assert seen["updated"] == [MEMORY]
    assert "typed by hand" in seen["after"]
    assert "memory_search" in seen["prompt"]


def _run_older(words: list[str]) -> dict[str, Any]:
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


# ── who may come in ───────────────────────────────────────────────────────────────────────────────


def test_only_who_shows_the_token_comes_in(root: Path) -> None:
    """Under a name of ours and from no foreign page; the token stands in no line but its own."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with over_http(root, PIPIMEM_DEBUG="1") as server:
        port = server.url.split(":")[2].split("/")[0]
        right = {"Authorization": f"Bearer {server.token}", "Accept": "application/json"}

        def status(url: str = server.url, **headers: str) -> int:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            return httpx2.post(url, json=body, headers=given).status_code

        assert status() == 401
        assert status(Authorization="Bearer wrong-token-0123456789") == 401
        assert status(Authorization=f"Basic {server.token}") == 401
        assert status(Cookie=f"token={server.token}") == 401
        assert status(f"{server.url}?token={server.token}") == 401
        assert status(server.url.replace("/mcp", "/")) == 401
        assert status(**right, Host="evil.example") == 421
        assert status(**right, Host=f"evil.example:{port}") == 421
        assert status(**right, Host=f"127.0.0.1.evil.example:{port}") == 421
        assert status(**right, Host="127.0.0.1") == 421
        assert status(Host=f"evil.example:{port}") == 421
        assert status(**right, Origin="https://evil.example") == 403
        assert status(**right, Origin="null") == 403
        assert status(**right, Origin=f"https://127.0.0.1:{port}") == 403
        assert status(Origin="https://evil.example") == 403
        assert status(**right, Origin=f"http://127.0.0.1:{port}") not in (401, 403, 421)
        assert status(**right, Host=f"localhost:{port}") not in (401, 403, 421)
        assert status(**right) not in (401, 403, 421)
        told = server.stop()
    assert server.process.returncode == 0
    assert told.count(server.token) == 1
    assert "Traceback" not in told


def test_a_body_beyond_all_bounds_is_refused(root: Path) -> None:
    """413, as soon as it is known to be too long; the server goes on."""
    with over_http(root) as server:
        right = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}

        def endless() -> Iterator[bytes]:
            for _ in range(200):
                yield b" " * (1 << 20)

        try:
            is_refused = (
                httpx2.post(server.url, content=endless(), headers=right).status_code == 413
            )
        except httpx2.TransportError:
            is_refused = True  # the connection was ended under what was still coming
        assert is_refused
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        accepts = right | {"Accept": "application/json, text/event-stream"}
        assert httpx2.post(server.url, json=ping, headers=accepts).status_code < 500
        told = server.stop()
    assert "Traceback" not in told


def test_a_foreign_page_learns_nothing_from_a_preflight(root: Path) -> None:
    """No answer of ours lets another origin in."""
    with over_http(root) as server:
        answer = httpx2.options(
            server.url,
            headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
        )
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_it_is_reached_from_this_machine_alone(root: Path) -> None:
    """Unless somebody says otherwise, and then it says so."""
    with over_http(root) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert "other machines" not in server.stop()
    with over_http(root, "--host", "0.0.0.0", "--allow-host", "memory.lan") as server:
        port = server.url.split(":")[2].split("/")[0]
        url = f"http://127.0.0.1:{port}/mcp"
        headers = {"Authorization": f"Bearer {server.token}"}
        named = httpx2.post(url, json={}, headers={**headers, "Host": f"memory.lan:{port}"})
        assert named.status_code not in (401, 403, 421)
        foreign = httpx2.post(url, json={}, headers={**headers, "Host": f"other.lan:{port}"})
        assert foreign.status_code == 421
        assert "other machines reach it" in server.stop()


def test_the_token_of_a_file(root: Path, tmp_path: Path) -> None:
    """Which nobody else may read; it is not printed."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    arguments = ("--token-file", str(file))
    with over_http(root, *arguments, PIPIMEM_MCP_TOKEN="not-this-one-0123456789") as server:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx2.post(server.url, json={}, headers=headers).status_code != 401
        assert TOKEN not in server.stop()
    file.chmod(0o644)
    done = subprocess.run(
        command(root, "--http", "--port", "0", *arguments),
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 1
    assert f"`chmod 600 {file}`" in done.stderr
    assert TOKEN not in done.stderr


def test_a_port_that_is_taken_is_told(root: Path) -> None:
    """In a sentence."""
    with over_http(root) as server:
        port = server.url.split(":")[2].split("/")[0]
        done = subprocess.run(
            command(root, "--http", "--port", port),
            capture_output=True,
            text=True,
            env=environment(),
            check=False,
        )
    assert done.returncode == 1
    assert "in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_does_the_idle_work_where_nobody_else_does(root: Path) -> None:
    """As a bot does that has the workspace open: `pipimem watch` names it."""
    (root / "pipimem.toml").write_text("[maintenance]\nidle_seconds = 1\n")
    lock = root / ".pipimem" / "idle.lock"
    with over_http(root) as server:
        until = time.monotonic() + SECONDS
        while not lock.exists() or str(server.process.pid) not in lock.read_text():
            assert time.monotonic() < until
            time.sleep(0.1)


# ── how it ends ───────────────────────────────────────────────────────────────────────────────────

GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _save(number: int) -> dict[str, Any]:
    arguments = {"text": f"kiln number {number} takes eleven hours"}
    params = {"name": "memory_save", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def test_all_that_was_asked_before_the_end_is_done_and_answered(root: Path) -> None:
    """`printf … | pipimem mcp` works; standard output has nothing but the protocol."""
    greeted = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    asked = [GREETING, greeted, *(_save(number) for number in range(2, 22))]
    done = subprocess.run(
        command(root, "--channel", CHANNEL),
        input="".join(map(_line, asked)),
        capture_output=True,
        text=True,
        env=environment(),
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(1, 22))
    assert all("result" in answer for answer in answers)
    assert (folder_of(root) / "MEMORY.md").read_text().count("eleven hours") == 20


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_the_client_waits(root: Path, stop: signal.Signals) -> None:
    """What was saved is on disk, and there is no traceback."""
    process = subprocess.Popen(
        command(root, "--channel", CHANNEL),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(_line(GREETING))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.stdin.write(_line(_save(2)))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 2
        process.send_signal(stop)
        assert process.wait(timeout=SECONDS) == 0
        assert process.stdout.read() == ""
        assert "Traceback" not in process.stderr.read()
    assert "eleven hours" in (folder_of(root) / "MEMORY.md").read_text()


@pytest.mark.parametrize("mode", [MODERN, OLDER])
async def test_a_signal_ends_it_while_streams_are_open(root: Path, mode: str) -> None:
    """Of a client that listens, and of an older one that has its stream open."""
    with over_http(root, "--channel", CHANNEL) as server:
        async with server.client() as http:
            streams = streamable_http_client(server.url, http_client=http)
            client = Client(streams, mode=mode)  # type: ignore[arg-type]
            try:
                async with client:
                    if mode == MODERN:
                        async with client.listen(resource_subscriptions=[MEMORY]) as listening:
                            server.process.send_signal(signal.SIGTERM)
                            with pytest.raises(StopAsyncIteration):
                                await anext(aiter(listening))
                    else:
                        await client.subscribe_resource(MEMORY)
                        server.process.send_signal(signal.SIGTERM)
                    server.process.wait(timeout=SECONDS)
            except (ExceptionGroup, httpx2.HTTPError):
                pass  # its server is gone
        assert server.process.returncode == 0
        told = server.stop()
    assert "Traceback" not in told
    assert "stopped; the files are whole" in told


# ── the official inspector ────────────────────────────────────────────────────────────────────────

INSPECTOR = os.environ.get("PIPIMEM_MCP_INSPECTOR") or shutil.which("mcp-inspector") or ""
inspected = pytest.mark.skipif(
    not INSPECTOR,
    reason="no MCP Inspector: `npm i node@22 @modelcontextprotocol/inspector@2.12.0`, and "
    "PIPIMEM_MCP_INSPECTOR=…/node_modules/.bin/mcp-inspector",
)


def _inspect(*words: str) -> Any:
    beside = str(Path(INSPECTOR).parent)  # the Node that npm installed with it
    done = subprocess.run(
        [INSPECTOR, "--cli", *words],
        capture_output=True,
        text=True,
        env=environment(PATH=f"{beside}{os.pathsep}{os.environ['PATH']}"),
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@inspected
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_official_inspector(root: Path, transport: str) -> None:
    """Its command line lists and calls all that there is."""
    if transport == "stdio":
        words = ["-e", f"PYTHONPATH={ROOT}", *command(root, "--channel", CHANNEL)]
        _drive_inspector(words)
        return
    with over_http(root, "--channel", CHANNEL, PIPIMEM_MCP_TOKEN=TOKEN) as server:
        words = [server.url, "--transport", "http"]
        words += ["--header", f"Authorization: Bearer {TOKEN}"]
        _drive_inspector(words)


def _drive_inspector(words: list[str]) -> None:
    tools = _inspect(*words, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools][:2] == ["memory_search", "memory_save"]
    assert all(tool["outputSchema"] for tool in tools)
    called = ["--tool-name", "memory_save", "--tool-arg", "text=we never deploy on Fridays"]
    saved = _inspect(*words, "--method", "tools/call", *called)
    assert saved["structuredContent"]["changes"][0]["done"] == "added"
    resources = _inspect(*words, "--method", "resources/list")["resources"]
    assert MEMORY in [resource["uri"] for resource in resources]
    read = _inspect(*words, "--method", "resources/read", "--uri", MEMORY)
    assert "Fridays" in read["contents"][0]["text"]
    templates = _inspect(*words, "--method", "resources/templates/list")["resourceTemplates"]
    assert len(templates) == 4
    prompts = _inspect(*words, "--method", "prompts/list")["prompts"]
    assert len(prompts) == 3


def test_metrics_beside_it_need_no_token(root: Path) -> None:
    """On an address of their own, over HTTP; they name no conversation."""
    with over_http(root, "--channel", CHANNEL, "--metrics", "127.0.0.1:0") as server:
        found = re.search(r"metrics at (http://127\.0\.0\.1:\d+)/metrics", server.told)
        assert found, server.told
        assert found[1] not in server.url
        with urllib.request.urlopen(f"{found[1]}/metrics", timeout=SECONDS) as answer:
            text = answer.read().decode()
        with urllib.request.urlopen(f"{found[1]}/readyz", timeout=SECONDS) as answer:
            assert answer.read() == b"ready\n"
    assert "pipimem_channels 1\n" in text
    assert CHANNEL not in text
