"""What is still being answered when a server stops."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from pipimem.serving.http_server import OpenStreams
from starlette.types import Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """The server runs on asyncio alone."""
    return "asyncio"


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


async def test_an_open_stream_ends_with_a_whole_answer() -> None:
    """uvicorn logs a traceback for one that it has to cut."""
    sent: list[Any] = []
    began = anyio.Event()

    async def stream(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        began.set()
        await anyio.sleep_forever()

    async def send(message: Message) -> None:
        sent.append(message)

    streams = OpenStreams(stream)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(streams, {"type": "http", "method": "GET"}, _nothing, send)
        await began.wait()
        streams.close()
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert not sent[1].get("more_body", False)


async def test_a_request_whose_body_never_ends_is_answered_at_the_end() -> None:
    """A call under way is not ended with the streams, but with what goes on longer than it may."""
    sent: list[Any] = []
    began = anyio.Event()

    async def endless(_scope: Scope, _receive: Receive, _send: Send) -> None:
        began.set()
        await anyio.sleep_forever()

    async def send(message: Message) -> None:
        sent.append(message)

    requests = OpenStreams(endless)
    scope = {"type": "http", "method": "POST", "headers": []}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(requests, scope, _nothing, send)
        await began.wait()
        requests.close()
        await anyio.wait_all_tasks_blocked()
        assert sent == []
        requests.close_all()
    assert [message.get("status") for message in sent] == [503, None]
