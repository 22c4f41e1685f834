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

    async def told(request: Request, error: Exception) -> Response:
        return _told(pages, request, error)

    channels = WorkspacePage(pages)

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(channels.warm)
            yield
            tasks.cancel_scope.cancel()

    app = Starlette(
        routes=[*channels.routes(), *_routes(pages, token, session)],
        lifespan=running,
        exception_handlers={HTTPException: told, PipimemError: told, OSError: told},
    )
    return OpenStreams(PageGuard(app, session, hosts, pages.read_only))


def _routes(pages: Pages, token: Token, session: BrowserSession) -> list[BaseRoute]:
    return [
        *SignIn(pages, token, session).routes(),
        *ChannelPage(pages).routes(),
        *EntryPage(pages).routes(),
        *Editing(pages).routes(),
        *ChangesPage(pages).routes(),
        *TalkPage(pages).routes(),
        *PlaygroundPage(pages).routes(),
        *CostsPage(pages).routes(),
        *HealthPage(pages).routes(),
        *ChangeEvents(pages).routes(),
        Route("/favicon.ico", _favicon),
        Mount("/static", StaticFiles(directory=web_folder("static"))),
    ]


async def _favicon(_request: Request) -> Response:
    return FileResponse(web_folder("static") / "favicon.svg", media_type="image/svg+xml")


def _told(pages: Pages, request: Request, error: Exception) -> Response:
    """What went wrong, as a page for eyes and as JSON for a script."""
    if isinstance(error, HTTPException):
        status, why = error.status_code, error.detail
    else:
        status, why = 404 if isinstance(error, NothingFound) else 409, worded(error)
    if "text/html" in request.headers.get("accept", ""):
        return pages.rendered(request, "problem.html", status, why=why)
    return JSONResponse({"problem": sentence(why, pages.language(request))}, status)
