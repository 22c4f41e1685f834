"""The page of one channel: a file of its notes, with what is known of each entry."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipimem.notes.files import NOTE_FILES
from pipimem.notes.kinds import Kind
from pipimem.web.pages import Pages
from pipimem.web.request_fields import file_of, number_of

# A page of more takes longer than a person waits; the next ones are a click away.
_BLOCKS = 150


class ChannelPage:
    """`/channel`: one file, its entries by the page; `/channel/source`: the file to be edited."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The page and the source."""
        return [
            Route("/channel", self._page, methods=["GET"]),
            Route("/channel/source", self._source, methods=["GET"]),
        ]

    async def _page(self, request: Request) -> Response:
        channel, file = await self._pages.channel(request), file_of(request)
        begin = number_of(request, "from", 0, least=0)
        view = await channel.files.view(file, begin=begin, count=_BLOCKS)
        after = begin + len(view.blocks)
        return self._pages.rendered(
            request,
            "channel.html",
            channel=channel.id,
            file=file,
            files=NOTE_FILES,
            view=view,
            before=max(0, begin - _BLOCKS) if begin else None,
            after=after if after < view.total else None,
            kinds=list(Kind),
        )

    async def _source(self, request: Request) -> Response:
        """The file as it may be edited, and its mark."""
        channel, file = await self._pages.channel(request), file_of(request)
        view = await channel.files.view(file, count=0)
        return JSONResponse({"text": view.text, "etag": view.etag, "hides": view.hides})
