"""The application: every page behind the guard, and what an error looks like."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from pipimem.errors import NothingFound, PipimemError, worded
from pipimem.resources import web_folder
from pipimem.runtime.channel_overview import ChannelOverview
from pipimem.serving.open_streams import OpenStreams
from pipimem.serving.token import Token
from pipimem.web.changes_page import ChangesPage
from pipimem.web.channel_page import ChannelPage
from pipimem.web.costs_page import CostsPage
from pipimem.web.editing import Editing
from pipimem.web.entry_page import EntryPage
from pipimem.web.events import ChangeEvents
from pipimem.web.guard import BrowserSession, PageGuard
from pipimem.web.health_page import HealthPage
from pipimem.web.pages import Pages
from pipimem.web.playground_page import PlaygroundPage
from pipimem.web.sentences import sentence
from pipimem.web.sign_in import SignIn
from pipimem.web.talk_page import TalkPage
from pipimem.web.workspace_page import WorkspacePage


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
