"""The page of one channel: a file of its notes, with what is known of each entry."""

from __future__ import annotations

from typing import TypedDict

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipimem.notes.kinds import NOTE_FILES, Kind
from pipimem.notes.operations import Trust
from pipimem.web.pages import Pages
from pipimem.web.request_fields import file_of, number_of

# A page of more takes longer than a person waits; the next ones are a click away.
_BLOCKS = 75


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
        wanted = _filter_of(request)
        # Before the notes are read: what is written from here on is heard of.
        stamp = await channel.notes.stamp()
        view = await channel.notes.view(file, begin=begin, count=_BLOCKS, **wanted)
        after = begin + len(view.blocks)
        return self._pages.rendered(
            request,
            "channel.html",
            channel=channel.id,
            file=file,
            files=NOTE_FILES,
            view=view,
            stamp=stamp,
            before=max(0, begin - _BLOCKS) if begin else None,
            after=after if after < view.total else None,
            kinds=list(Kind),
            trusts=list(Trust),
            wanted=wanted,
            is_filtered=any(wanted.values()),
        )

    async def _source(self, request: Request) -> Response:
        """The file as it may be edited, and its mark."""
        channel, file = await self._pages.channel(request), file_of(request)
        view = await channel.notes.view(file, count=0)
        return JSONResponse({"text": view.text, "etag": view.etag, "hides": view.hides})


class _Filter(TypedDict):
    """Which entries are meant, as `Channel.files.view` takes it."""

    kind: Kind | None
    trust: Trust | None
    words: str


def _filter_of(request: Request) -> _Filter:
    """Which entries the form of the page asks for. Raises `HTTPException` for what it cannot."""
    said = request.query_params
    kind, trust = said.get("kind", ""), said.get("trust", "")
    try:
        return {
            "kind": Kind(kind) if kind else None,
            "trust": Trust(trust) if trust else None,
            "words": said.get("words", "").strip(),
        }
    except ValueError as error:
        raise HTTPException(400, "There is no such kind or trust.") from error
