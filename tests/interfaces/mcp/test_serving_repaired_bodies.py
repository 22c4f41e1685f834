"""Bodies as the SDK can read them."""

from __future__ import annotations

import json

import anyio
import pytest
from pipimem.mcp import serving as module
from pipimem.mcp.serving import RepairedBodies
from starlette.types import Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (rb'{"text": "half a sign \ud83d"}', {"text": "half a sign �"}),
        (rb'{"text": "a whole one \ud83d\ude00"}', {"text": "a whole one 😀"}),
        (rb'{"text": "a word \\ud83d"}', {"text": "a word \\ud83d"}),
        (b'{"text": "plain"}', {"text": "plain"}),
    ],
)
@pytest.mark.parametrize("size", [5, 1000])
async def test_a_body_with_half_a_character_is_read(
    body: bytes, read: dict[str, str], size: int
) -> None:
    """Models cut emoji in half; over standard input that is read, too. It may come in pieces."""
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    messages: list[Message] = [
        {"type": "http.request", "body": piece, "more_body": place < len(pieces) - 1}
        for place, piece in enumerate(pieces)
    ]
    found = b""

    async def receive() -> Message:
        return messages.pop(0)

    async def inside(_scope: Scope, receive: Receive, _send: Send) -> None:
        nonlocal found
        found = (await receive())["body"]

    async def send(_message: Message) -> None:
        pass

    await RepairedBodies(inside)({"type": "http", "method": "POST"}, receive, send)
    assert json.loads(found) == read


async def test_a_body_that_breaks_off_is_told_of() -> None:
    """The client is gone: there is nothing to answer."""
    messages: list[Message] = [
        {"type": "http.request", "body": b'{"te', "more_body": True},
        {"type": "http.disconnect"},
    ]
    kinds: list[str] = []

    async def receive() -> Message:
        return messages.pop(0)

    async def inside(_scope: Scope, receive: Receive, _send: Send) -> None:
        kinds.append((await receive())["type"])

    async def send(_message: Message) -> None:
        pass

    await RepairedBodies(inside)({"type": "http", "method": "POST"}, receive, send)
    assert kinds == ["http.disconnect"]


async def test_a_body_that_never_ends_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that stops in the middle holds no request open; the connection ends."""
    monkeypatch.setattr(module, "_LONGEST_SECONDS", 0.05)
    sent: list[Message] = []

    async def receive() -> Message:
        await anyio.sleep(0.02)
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def inside(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError("half a body is nobody's business")

    async def send(message: Message) -> None:
        sent.append(message)

    await RepairedBodies(inside)({"type": "http", "method": "POST"}, receive, send)
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


async def test_of_a_body_that_is_too_long_no_more_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is handed on as soon as it is known to be; the SDK answers 413."""
    monkeypatch.setattr(module, "_LONGEST_BODY", 1000)
    found, read = b"", 0

    async def receive() -> Message:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b"x" * 100, "more_body": True}

    async def inside(_scope: Scope, receive: Receive, _send: Send) -> None:
        nonlocal found
        found = (await receive())["body"]

    async def send(_message: Message) -> None:
        pass

    await RepairedBodies(inside)({"type": "http", "method": "POST"}, receive, send)
    assert (len(found), read) == (1100, 11)
