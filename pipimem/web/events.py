"""Tells open pages that something was written, by whoever: server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import anyio
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from pipimem.errors import PipimemError
from pipimem.web.pages import Pages

if TYPE_CHECKING:
    from pipimem.runtime.channel import Channel

# A few stats, while a page is open: noticed on every file system, and without the three watches for
# each channel of a workspace that inotify would need.
_LOOK_EVERY = 0.1
# A line now and then: a browser that is gone is noticed by it.
_SILENCE = 15.0


class ChangeEvents:
    """`/events`: an event `changed` whenever a file of the channel was written."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The stream."""
        return [Route("/events", self._stream, methods=["GET"])]

    async def _stream(self, request: Request) -> Response:
        channel = await self._pages.channel(request)
        return StreamingResponse(_events(channel), media_type="text/event-stream")


async def _events(channel: Channel) -> AsyncIterator[str]:
    known = await _stamp(channel)
    yield f"retry: 1000\nevent: hello\ndata: {known}\n\n"
    silent = 0.0
    while True:
        await anyio.sleep(_LOOK_EVERY)
        found = await _stamp(channel)
        silent += _LOOK_EVERY
        if found != known:
            known, silent = found, 0.0
            yield f"event: changed\ndata: {known}\n\n"
        elif silent >= _SILENCE:
            silent = 0.0
            yield ": still here\n\n"


async def _stamp(channel: Channel) -> str:
    try:
        return await channel.notes.stamp()
    except (PipimemError, OSError):  # the folder is gone, or comes back
        return ""
