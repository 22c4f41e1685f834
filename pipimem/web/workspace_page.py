"""The page of a workspace: its channels."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pipimem.web.pages import Pages, url


class WorkspacePage:
    """`/`: the channels; where one alone is shown, it leads there."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The page."""
        return [Route("/", self._page, methods=["GET"])]

    async def _page(self, request: Request) -> Response:
        if self._pages.only is not None:
            return RedirectResponse(url("/channel", id=self._pages.only), 303)
        channels = await self._pages.pipimem.channels()
        return self._pages.rendered(request, "channels.html", channels=channels)
