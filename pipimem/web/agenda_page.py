"""The pages of what is open in a channel: its agenda, and entries that contradict each other."""

from __future__ import annotations

from itertools import groupby

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipimem.runtime.agenda_list import AgendaItem
from pipimem.web.pages import Pages
from pipimem.web.request_fields import json_object, matched, number_of, text_of

# Nobody settles more at once.
_PAIRS = 20


class AgendaPage:
    """`/agenda`: the open loops of a channel, by day."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The page."""
        return [Route("/agenda", self._page, methods=["GET"])]

    async def _page(self, request: Request) -> Response:
        channel = await self._pages.channel(request)
        items = await channel.notes.agenda()
        return self._pages.rendered(
            request,
            "agenda.html",
            channel=channel.id,
            days=[(day, list(group)) for day, group in groupby(items, _day)],
        )


def _day(item: AgendaItem) -> tuple[str, bool, bool]:
    day = f"{item.due:%Y-%m-%d}" if item.due else ""
    return day, item.is_overdue, item.is_today


class ConflictsPage:
    """`/conflicts`: pairs of entries by the page; a `POST` of two ids settles one."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The page, and what its buttons ask for."""
        return [
            Route("/conflicts", self._page, methods=["GET"]),
            Route("/conflicts", self._settle, methods=["POST"]),
        ]

    async def _page(self, request: Request) -> Response:
        channel = await self._pages.channel(request)
        begin = number_of(request, "from", 0, least=0)
        found = await channel.notes.conflicts()
        after = begin + _PAIRS
        return self._pages.rendered(
            request,
            "conflicts.html",
            channel=channel.id,
            pairs=found[begin:after],
            total=len(found),
            after=after if after < len(found) else None,
        )

    async def _settle(self, request: Request) -> Response:
        """Keep one entry, or both; If-Match names the one that is kept."""
        channel, fields = await self._pages.channel(request), await json_object(request)
        keep, other, both = text_of(fields, "keep"), text_of(fields, "other"), fields.get("both")
        if not isinstance(both, bool):
            raise HTTPException(400, "both must be true or false.")
        if matched(request) != keep:
            raise HTTPException(412, "If-Match must name the entry that is kept.")
        changes = await channel.notes.settle(keep, other, both=both)
        return JSONResponse({"settled": len(changes)})
