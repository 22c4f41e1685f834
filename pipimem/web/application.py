"""The application: every page behind the guard, and what an error looks like."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from pipimem.errors import NothingFound, PipimemError, worded
from pipimem.resources import web_folder
from pipimem.runtime.channel_overview import ChannelOverview
from pipimem.serving.access import Token
from pipimem.serving.http_server import OpenStreams, serve_http, stopped_by_signal
from pipimem.web.agenda_page import AgendaPage, ConflictsPage
from pipimem.web.changes_page import ChangesPage
from pipimem.web.channel_page import ChannelPage
from pipimem.web.costs_page import CostsPage
from pipimem.web.editing import Editing
from pipimem.web.entry_page import EntryPage
from pipimem.web.guard import BrowserSession, PageGuard, SignIn
from pipimem.web.pages import Pages
from pipimem.web.playground_page import PlaygroundPage
from pipimem.web.sentences import sentence
from pipimem.web.talk_page import TalkPage
from pipimem.web.workspace_page import HealthPage, WorkspacePage

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


def web_app(pages: Pages, token: Token, hosts: Sequence[str], port: int) -> OpenStreams:
    """The application for browsers that name one of `hosts` and sign in with the token."""
    session = BrowserSession(port)

    async def error_page(request: Request, error: Exception) -> Response:
        return _error_page(pages, request, error)

    overview = ChannelOverview(pages.pipimem.store, pages.pipimem.clock)
    channels = WorkspacePage(pages, overview)

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(channels.warm)
            yield
            tasks.cancel_scope.cancel()

    app = Starlette(
        routes=[*channels.routes(), *_routes(pages, overview, token, session)],
        lifespan=running,
        exception_handlers={
            HTTPException: error_page,
            PipimemError: error_page,
            OSError: error_page,
        },
    )
    return OpenStreams(PageGuard(app, session, hosts, pages.read_only))


def _routes(
    pages: Pages, overview: ChannelOverview, token: Token, session: BrowserSession
) -> list[BaseRoute]:
    return [
        *SignIn(pages, token, session).routes(),
        *ChannelPage(pages).routes(),
        *EntryPage(pages).routes(),
        *Editing(pages).routes(),
        *ChangesPage(pages).routes(),
        *TalkPage(pages).routes(),
        *AgendaPage(pages).routes(),
        *ConflictsPage(pages).routes(),
        *PlaygroundPage(pages, overview).routes(),
        *CostsPage(pages).routes(),
        *HealthPage(pages).routes(),
        *ChangeEvents(pages).routes(),
        Route("/favicon.ico", _favicon),
        Mount("/static", StaticFiles(directory=web_folder("static"))),
    ]


async def _favicon(_request: Request) -> Response:
    return FileResponse(web_folder("static") / "favicon.svg", media_type="image/svg+xml")


def _error_page(pages: Pages, request: Request, error: Exception) -> Response:
    """What went wrong, as a page for eyes and as JSON for a script."""
    if isinstance(error, HTTPException):
        status, why = error.status_code, error.detail
    else:
        status, why = 404 if isinstance(error, NothingFound) else 409, worded(error)
    if "text/html" in request.headers.get("accept", ""):
        return pages.rendered(request, "problem.html", status, why=why)
    return JSONResponse({"problem": sentence(why, pages.language(request))}, status)


async def serve_pages(
    pages: Pages, listening: socket.socket, token: Token, hosts: Sequence[str]
) -> None:
    """Serve browsers that name one of `hosts` and sign in with the token, until a signal."""
    app = web_app(pages, token, hosts, listening.getsockname()[1])
    async with stopped_by_signal() as stopped:
        await serve_http(app, listening, stopped)
