"""The application over memory, and a client that has signed in."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import httpx
from pipimem import Channel, Pipimem
from pipimem.serving.access import Token, loopback_hosts
from pipimem.serving.http_server import OpenStreams
from pipimem.web.application import web_app
from pipimem.web.pages import Pages

from tests.runtime.building import settings

# As platforms have them.
CHANNEL = "cid6KeBBLoveM/AZ=="
TOKEN = "test-token-0123456789abcdef"
PORT = 8378
ORIGIN = f"http://127.0.0.1:{PORT}"
JSON = "application/json"


@dataclass
class Browser:
    """A client of the application; `get` and `change` are of the channel."""

    app: OpenStreams
    pipimem: Pipimem
    channel: Channel
    client: httpx.AsyncClient

    @property
    def folder(self) -> Path:
        """Where the channel's files lie."""
        return self.pipimem.store.folder_of(self.channel.id)

    def write(self, text: str, name: str = "MEMORY.md") -> None:
        """Saves a file as an editor does."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def read(self, name: str = "MEMORY.md") -> str:
        """A file as it stands."""
        return (self.folder / name).read_text("utf-8")

    async def sign_in(self, token: str = TOKEN) -> httpx.Response:
        """Exchanges the token for the cookie, as the script of the page does."""
        body = json.dumps({"token": token})
        return await self.client.post("/sign-in", content=body, headers={"Content-Type": JSON})

    async def get(self, path: str, **query: str) -> httpx.Response:
        """What a path says of the channel."""
        return await self.client.get(path, params={"id": self.channel.id, **query})

    async def page(self, path: str, **query: str) -> str:
        """The page of the channel that a browser shows, with entities as they read."""
        answer = await self.get(path, **query)
        assert answer.status_code == 200, answer.text
        return unescape(answer.text)

    async def change(
        self, method: str, path: str, match: str, body: dict[str, Any], **query: str
    ) -> httpx.Response:
        """A change with its precondition."""
        return await self.client.request(
            method,
            path,
            params={"id": self.channel.id, **query},
            headers={"If-Match": f'"{match}"', "Content-Type": JSON, "Origin": ORIGIN},
            content=json.dumps(body),
        )


@asynccontextmanager
async def browsing(
    root: Path,
    *,
    only: str | None = None,
    read_only: bool = False,
    language: str = "en",
    signed_in: bool = True,
) -> AsyncIterator[Browser]:
    """A browser that looks at a workspace with one channel."""
    async with Pipimem(root, "offline", settings=settings()) as pipimem:
        channel = await pipimem.channel(only or CHANNEL, kind="group", title="The release room")
        app = web_app(Pages(pipimem, only, read_only), Token(TOKEN), loopback_hosts(PORT), PORT)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url=ORIGIN,
            headers={"Accept": "text/html", "Accept-Language": language},
        ) as client:
            browser = Browser(app, pipimem, channel, client)
            if signed_in:
                assert (await browser.sign_in()).status_code == 204
            yield browser
