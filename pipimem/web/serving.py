"""Runs the web view on a socket until a signal ends it."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from pipimem.serving.http_server import serve_http
from pipimem.serving.stop_signals import stopped_by_signal
from pipimem.serving.token import Token
from pipimem.web.application import web_app
from pipimem.web.pages import Pages


async def serve_pages(
    pages: Pages, listening: socket.socket, token: Token, hosts: Sequence[str]
) -> None:
    """Serve browsers that name one of `hosts` and sign in with the token, until a signal."""
    app = web_app(pages, token, hosts, listening.getsockname()[1])
    async with stopped_by_signal() as stopped:
        await serve_http(app, listening, stopped)
