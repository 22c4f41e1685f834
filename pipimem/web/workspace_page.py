"""The pages of a workspace: its channels with the state of each, and its health."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

from anyio import to_thread
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pipimem.errors import PipimemError
from pipimem.notes.kinds import File
from pipimem.runtime.channel_overview import ORDERS, ChannelOverview, Order, OverviewPage
from pipimem.runtime.health_report import Finding, findings, grouped
from pipimem.web.pages import Pages, url
from pipimem.web.request_fields import number_of


class HealthPage:
    """`/health`: findings, the wrong ones first. There is none where one channel alone is shown."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The page, for those who may see the workspace."""
        if self._pages.only is not None:
            return []
        return [Route("/health", self._page, methods=["GET"])]

    async def _page(self, request: Request) -> Response:
        found = await to_thread.run_sync(self._findings)
        failing = await to_thread.run_sync(self._pages.pipimem.store.failing)
        return self._pages.rendered(
            request,
            "health.html",
            findings=grouped(found),
            failing=[problem.sentence(name) for name, problem in failing],
            problems=sum(one.wrong for one in found),
        )

    def _findings(self) -> Sequence[Finding]:
        pipimem = self._pages.pipimem
        now = datetime.now().astimezone()
        root = pipimem.store.root
        found = [_placed(one, f"{root}/") for one in findings(root, "", now)]
        return sorted(found, key=lambda one: not one.wrong)


def _placed(one: Finding, root: str) -> Finding:
    """A finding with its place as seen from the workspace."""
    return replace(one, where=one.where.removeprefix(root))


_ON_A_PAGE = 25
# Each is kept in memory: 20 MB where it has 5,000 entries.
_WARMED = 5
# Shorter ones are read and shown in 50 ms.
_LONG = 500


class WorkspacePage:
    """`/`: the channels; where one alone is shown, it leads there."""

    def __init__(self, pages: Pages, overview: ChannelOverview) -> None:
        self._pages = pages
        self._overview = overview

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
        response.background = BackgroundTask(self._after, page)
        return response

    async def _after(self, page: OverviewPage) -> None:
        """Look through the channels again, and read long notes that may be opened next."""
        if page.is_old:
            await to_thread.run_sync(self._overview.refresh)
        long = [row for row in page.rows if row.status and row.status.entries >= _LONG]
        await self._read([row.info.id for row in long])

    async def _read(self, channels: Iterable[str]) -> None:
        """Read the notes of channels, so that their first page does not wait for it."""
        with suppress(PipimemError, OSError):  # whoever asks is told
            for name in channels:
                channel = await self._pages.pipimem.channel(name, create=False)
                await channel.notes.view(File.MEMORY, count=0)

    async def warm(self) -> None:
        """Read before anybody asks what the first pages need.

        That is the templates, all channels (of thousands it takes seconds), and the notes of those
        with the newest talk, or of the only one.
        """
        await to_thread.run_sync(self._pages.prepare, abandon_on_cancel=True)
        with suppress(PipimemError, OSError):  # whoever asks is told
            await self._read(await self._first_ones())

    async def _first_ones(self) -> list[str]:
        """The ids of the channels that are probably looked at first."""
        if self._pages.only is not None:
            return [self._pages.only]
        newest = partial(self._overview.page, count=_WARMED)
        page = await to_thread.run_sync(newest, abandon_on_cancel=True)
        return [row.info.id for row in page.rows]


def _order(request: Request) -> Order:
    name = request.query_params.get("order", "talk")
    for order in ORDERS:
        if name == order:
            return order
    raise HTTPException(400, "There is no such order.")
