"""The page of a workspace: its channels, and how each stands."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from anyio import to_thread
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pipimem.errors import PipimemError
from pipimem.runtime.channel_overview import ORDERS, ChannelOverview, Order
from pipimem.web.pages import Pages, url
from pipimem.web.request_fields import number_of

_ON_A_PAGE = 25


class WorkspacePage:
    """`/`: the channels; where one alone is shown, it leads there."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._overview = ChannelOverview(pages.pipimem.store, pages.pipimem.clock)

    def routes(self) -> list[Route]:
        """The page."""
        return [Route("/", self._page, methods=["GET"])]

    async def _page(self, request: Request) -> Response:
        if self._pages.only is not None:
            return RedirectResponse(url("/channel", id=self._pages.only), 303)
        words = request.query_params.get("words", "").strip()
        order, begin = _order(request), number_of(request, "from", 0, least=0)
        page = await to_thread.run_sync(
            partial(self._overview.page, words, order=order, begin=begin, count=_ON_A_PAGE)
        )
        after = begin + len(page.rows)
        response = self._pages.rendered(
            request,
            "channels.html",
            page=page,
            words=words,
            order=order,
            orders=ORDERS,
            budget=self._pages.pipimem.settings.budget,
            before=max(0, begin - _ON_A_PAGE) if begin else None,
            after=after if after < page.total else None,
            waits=page.is_old or any(row.status is None for row in page.rows),
        )
        if page.is_old:
            response.background = BackgroundTask(self._overview.refresh)
        return response

    async def warm(self) -> None:
        """Find the channels before anybody asks: of thousands it takes seconds."""
        with suppress(PipimemError, OSError):  # whoever asks is told
            await to_thread.run_sync(self._overview.refresh, abandon_on_cancel=True)


def _order(request: Request) -> Order:
    name = request.query_params.get("order", "talk")
    if name not in ORDERS:
        raise HTTPException(400, "There is no such order.")
    return "name" if name == "name" else "talk"
