"""What is in front of the protocol over HTTP: host, origin and token, before anything is read."""

from __future__ import annotations

from typing import Any

import pytest
from pipimem.mcp.serving import RequestGuard
from pipimem.serving.access import Token, loopback_hosts
from starlette.types import Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio

TOKEN = "test-token-0123456789abcdef"
HOST = ("host", "127.0.0.1:8377")
SHOWN = ("authorization", f"Bearer {TOKEN}")


async def _inside(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"in"})


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


async def _status(*headers: tuple[str, str], method: str = "POST") -> int:
    """The status of a request with these headers."""
    sent: list[Any] = []

    async def send(message: Message) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    scope = {"type": "http", "method": method, "path": "/mcp", "headers": raw}
    guard = RequestGuard(_inside, Token(TOKEN), loopback_hosts(8377))
    await guard(scope, _nothing, send)
    return int(sent[0]["status"])


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS"])
async def test_host_origin_and_token_decide_whatever_is_asked(method: str) -> None:
    """Each has a status of its own, the host before the page, the page before the token."""
    assert await _status(HOST, SHOWN, method=method) == 200
    assert await _status(HOST, method=method) == 401
    assert await _status(("host", "evil.example"), SHOWN, method=method) == 421
    assert await _status(HOST, SHOWN, ("origin", "http://evil.example"), method=method) == 403
    foreign = (("host", "evil.example"), ("origin", "http://evil.example"))
    assert await _status(*foreign, method=method) == 421
    assert await _status(HOST, foreign[1], method=method) == 403


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        [("host", "")],
        [HOST, HOST],
        [HOST, ("host", "evil.example")],
        [("host", "127.0.0.1")],
        [("host", "127.0.0.1:80")],
        [("host", "127.0.0.1:8377.evil.example")],
        [("host", "evil.example@127.0.0.1:8377")],
        [("host", "[::2]:8377")],
        [("host", "0.0.0.0:8377")],
    ],
)
async def test_a_host_that_is_not_ours_or_not_one(hosts: list[tuple[str, str]]) -> None:
    """421, as for each name that is resolved to this machine without being ours."""
    assert await _status(SHOWN, *hosts) == 421


@pytest.mark.parametrize(
    "tokens",
    [
        [SHOWN, SHOWN],
        [SHOWN, ("authorization", "Bearer other")],
        [("authorization", "")],
        [("authorization", f"Bearer {TOKEN}, Bearer other")],
        [("authorization", "Bearer \xff\xfe")],
        [("x-authorization", f"Bearer {TOKEN}")],
        [("cookie", f"token={TOKEN}")],
    ],
)
async def test_a_token_that_is_not_shown_as_one(tokens: list[tuple[str, str]]) -> None:
    """401; two of them could be read as one by us and as the other by a proxy."""
    assert await _status(HOST, *tokens) == 401


async def test_two_origins_are_foreign_if_one_is() -> None:
    """403."""
    own = ("origin", "http://127.0.0.1:8377")
    assert await _status(HOST, SHOWN, own) == 200
    assert await _status(HOST, SHOWN, own, ("origin", "http://evil.example")) == 403
