"""Standard output carries the protocol alone, and what was asked is answered to the end."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse
from pipimem.mcp import stdio
from pipimem.mcp.stdio import stdio_streams

pytestmark = pytest.mark.anyio


@dataclass
class _Wire:
    """Both ends of the two pipes."""

    received: MemoryObjectReceiveStream[SessionMessage | Exception]
    sent: MemoryObjectSendStream[SessionMessage]
    into: int
    out: int
    stopped: anyio.Event
    server_end: int
    open: set[int] = field(default_factory=set)

    async def write(self, data: bytes) -> None:
        await to_thread.run_sync(os.write, self.into, data)

    async def next(self) -> SessionMessage | Exception:
        with anyio.fail_after(60):
            return await self.received.receive()

    async def answer(self, name: int, result: dict[str, object]) -> None:
        message = JSONRPCResponse(jsonrpc="2.0", id=name, result=result)
        await self.sent.send(SessionMessage(message))

    async def line(self) -> bytes:
        """The next line that the client reads."""
        found = b""
        with anyio.fail_after(60):
            while not found.endswith(b"\n"):
                await anyio.wait_readable(self.out)
                found += os.read(self.out, 1 << 20)
        return found

    def close(self, descriptor: int) -> None:
        if descriptor in self.open:
            self.open.remove(descriptor)
            os.close(descriptor)


@asynccontextmanager
async def wire() -> AsyncIterator[_Wire]:
    read_from, into = os.pipe()
    out, write_to = os.pipe()
    stopped = anyio.Event()
    try:
        async with stdio_streams(stopped, read_from, write_to) as (received, sent):
            at = _Wire(received, sent, into, out, stopped, write_to, {into, out})
            yield at
            at.close(into)
            await sent.aclose()
    finally:
        for descriptor in (*at.open, read_from, write_to):
            os.close(descriptor)


def request(name: int, method: str = "tools/call", **params: object) -> bytes:
    message = {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


async def test_messages_go_to_and_fro() -> None:
    """A line each, also where it comes in pieces and is longer than a pipe."""
    async with wire() as at:
        line = request(1, text="窑炉" * 50_000)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at.write, line + request(2))
            first, second = await at.next(), await at.next()
        assert isinstance(first, SessionMessage)
        assert isinstance(first.message, JSONRPCRequest)
        assert first.message.params == {"text": "窑炉" * 50_000}
        assert isinstance(second, SessionMessage)
        long = {"text": "周五" * 100_000}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at.answer, 1, long)
            assert json.loads(await at.line())["result"] == long
        await at.answer(2, {})
        assert json.loads(await at.line())["id"] == 2


async def test_what_else_prints_does_not_reach_the_client(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It goes to standard error, while the server runs."""
    async with wire() as at:
        os.write(at.server_end, b"loading a model ...\n")
        await at.write(request(1))
        await at.next()
        await at.answer(1, {})
        assert json.loads(await at.line())["id"] == 1
    assert capfd.readouterr().err == "loading a model ...\n"


@pytest.mark.parametrize(
    ("garbage", "code"),
    [
        (b"no json", -32700),
        (b"[1, 2", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"{}", -32600),
        (b'"text"', -32600),
        (b"null", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
    ],
)
async def test_garbage_is_answered_and_the_next_message_is_read(garbage: bytes, code: int) -> None:
    """A client that waits for an answer would wait for ever."""
    async with wire() as at:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at.write, garbage + b"\n\n" + request(1))
            told = json.loads(await at.line())
        assert (told["id"], told["error"]["code"]) == (None, code)
        assert isinstance(await at.next(), SessionMessage)
        await at.answer(1, {})


async def test_half_a_character_is_no_garbage() -> None:
    """A model that cuts an emoji in two loses the half, not the call."""
    async with wire() as at:
        await at.write(request(1, text="kiln \ud83d"))
        found = await at.next()
        assert isinstance(found, SessionMessage)
        assert isinstance(found.message, JSONRPCRequest)
        assert found.message.params == {"text": "kiln \ufffd"}
        await at.answer(1, {})


async def test_a_line_without_an_end_does_not_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It counts as garbage, once, and what comes behind it is read."""
    monkeypatch.setattr(stdio, "_LONGEST_LINE", 100_000)
    async with wire() as at:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at.write, b'{"jsonrpc": "' + b"x" * 1_000_000 + b'"}\n' + request(1))
            assert json.loads(await at.line())["error"]["code"] == -32700
            assert isinstance(await at.next(), SessionMessage)
        await at.answer(1, {})


@pytest.mark.parametrize("how", ["end", "signal"])
async def test_calls_under_way_are_answered_at_the_end(how: str) -> None:
    """The input ends, or a signal comes: the server hears of the end once nobody waits."""
    async with wire() as at:
        await at.write(request(1) + request(2) + request(3, "subscriptions/listen"))
        for _ in range(3):
            await at.next()
        if how == "end":
            at.close(at.into)
        else:
            at.stopped.set()
        with anyio.move_on_after(0.2):
            await at.received.receive()
            raise AssertionError
        await at.answer(1, {})
        assert json.loads(await at.line())["id"] == 1
        await at.answer(2, {})
        with anyio.fail_after(60), pytest.raises(anyio.EndOfStream):
            await at.received.receive()


async def test_a_call_that_was_called_off_is_not_waited_for() -> None:
    """Nobody answers it."""
    async with wire() as at:
        cancelled = {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 1},
        }
        await at.write(request(1) + json.dumps(cancelled).encode() + b"\n")
        await at.next()
        await at.next()
        at.close(at.into)
        with anyio.fail_after(60), pytest.raises(anyio.EndOfStream):
            await at.received.receive()


async def test_a_call_that_never_ends_is_waited_for_so_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that hangs would hang for ever."""
    monkeypatch.setattr(stdio, "_GRACE", 0.1)
    async with wire() as at:
        await at.write(request(1))
        await at.next()
        at.close(at.into)
        with anyio.fail_after(60), pytest.raises(anyio.EndOfStream):
            await at.received.receive()


async def test_a_client_that_is_gone_ends_the_server() -> None:
    """There is nobody to answer, and nothing raises."""
    async with wire() as at:
        await at.write(request(1))
        await at.next()
        at.close(at.out)
        await at.answer(1, {})
        with anyio.fail_after(60), pytest.raises(anyio.EndOfStream):
            await at.received.receive()


async def test_a_client_that_reads_nothing_does_not_hold_the_end_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its pipe is full, and a signal comes."""
    monkeypatch.setattr(stdio, "_GRACE", 0.1)
    monkeypatch.setattr(stdio, "_LAST_WORDS", 0.1)
    with anyio.fail_after(60):
        async with wire() as at:
            await at.write(request(1))
            await at.next()
            long = {"text": "x" * (1 << 20)}
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(at.answer, 1, long)
                tasks.start_soon(at.answer, 2, long)
                await anyio.sleep(0.1)
                at.stopped.set()


async def test_input_may_be_a_file(tmp_path: Path) -> None:
    """`pipimem mcp < requests.jsonl`."""
    path = tmp_path / "requests.jsonl"
    path.write_bytes(request(1) + request(2).rstrip())
    out, write_to = os.pipe()
    with path.open("rb") as file:
        async with stdio_streams(anyio.Event(), file.fileno(), write_to) as (received, sent):
            for name in (1, 2):
                found = await received.receive()
                assert isinstance(found, SessionMessage)
                assert isinstance(found.message, JSONRPCRequest)
                assert found.message.id == name
                answer = JSONRPCResponse(jsonrpc="2.0", id=name, result={})
                await sent.send(SessionMessage(answer))
            await sent.aclose()
    os.close(out)
    os.close(write_to)
