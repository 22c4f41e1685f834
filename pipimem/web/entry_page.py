"""The page of one entry: what it says, what is known of it, why it is there, the talk around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipimem import Item
from pipimem.errors import NothingFound
from pipimem.notes.kinds import File
from pipimem.runtime.history import EntryOrigin, LoggedChange
from pipimem.runtime.note_view import NoteBlock
from pipimem.web.pages import Pages
from pipimem.web.request_fields import file_of

if TYPE_CHECKING:
    from pipimem.runtime.channel import Channel

# Of an entry that was merged of many messages the first ones tell enough.
_MOST_SOURCES = 5
_AROUND = 2


@dataclass(frozen=True, slots=True)
class TalkAround:
    """The messages around one that an entry rests on; `None` where that is kept no more."""

    message: str
    around: Sequence[Item] | None


class EntryPage:
    """`/entry`: one entry of a file, by its section and its id."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The page."""
        return [Route("/entry", self._page, methods=["GET"])]

    async def _page(self, request: Request) -> Response:
        channel, file = await self._pages.channel(request), file_of(request)
        section, name = request.query_params.get("section", ""), request.query_params.get("entry")
        for block in (await channel.notes.view(file)).blocks:
            if block.entry and block.entry.id == name and section in ("", block.section):
                return await self._shown(request, channel, file, block)
        raise HTTPException(404, self._pages.texts(request)["entry"]["gone"])

    async def _shown(
        self, request: Request, channel: Channel, file: File, block: NoteBlock
    ) -> Response:
        assert block.entry is not None
        origin = await _origin(channel, file, block.entry.id)
        sources = block.entry.sources[:_MOST_SOURCES]
        return self._pages.rendered(
            request,
            "entry_page.html",
            channel=channel.id,
            file=file,
            block=block,
            entry=block.entry,
            origin=origin,
            change=await _change(channel, origin),
            talks=[TalkAround(source, await _around(channel, source)) for source in sources],
            more=len(block.entry.sources) - len(sources),
            shown=channel.notes.shown,
        )


async def _origin(channel: Channel, file: File, name: str) -> EntryOrigin | None:
    """Where the entry comes from."""
    for origin in await channel.history.blame(file):
        if origin.id == name:
            return origin
    return None


async def _change(channel: Channel, origin: EntryOrigin | None) -> LoggedChange | None:
    """The change that brought it, as far as changes are kept."""
    if origin is None or origin.change is None:
        return None
    try:
        return await channel.history.change(origin.change)
    except NothingFound:
        return None


async def _around(channel: Channel, message: str) -> Sequence[Item] | None:
    try:
        return await channel.talk.timeline(message, around=_AROUND)
    except NothingFound:
        return None
