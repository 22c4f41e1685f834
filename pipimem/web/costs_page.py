"""What models were asked and what it cost, by day, task, model and channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipimem.notes.usage import Usage
from pipimem.runtime.health_report import Today, today
from pipimem.runtime.usage_sums import By, UsageSum, usage_sum, usage_sums
from pipimem.web.charts import Columns, columns
from pipimem.web.pages import Pages
from pipimem.web.request_fields import number_of

_DAYS = 30
_MOST_DAYS = 366
_WAYS: tuple[By, ...] = ("task", "model", "channel")
_WAYS_OF_A_CHANNEL: tuple[By, ...] = ("task", "model")


@dataclass(frozen=True, slots=True)
class Costs:
    """The sums of a time: all, by day with no day left out, and by each other way."""

    total: UsageSum
    by_day: Mapping[str, UsageSum]
    by: Mapping[str, Mapping[str, UsageSum]]
    tokens: Columns
    money: Columns
    failed: Columns


class CostsPage:
    """`/costs`: sums and plots of the last days, of one channel where only that is shown."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The page."""
        return [Route("/costs", self._page, methods=["GET"])]

    async def _page(self, request: Request) -> Response:
        days = min(number_of(request, "days", _DAYS), _MOST_DAYS)
        only = self._pages.only
        costs = await to_thread.run_sync(self._costs, days, only)
        budgets = await to_thread.run_sync(self._today) if only is None else None
        return self._pages.rendered(
            request,
            "costs.html",
            channel=only or "",
            costs=costs,
            days=days,
            budgets=budgets,
        )

    def _today(self) -> Today:
        pipimem = self._pages.pipimem
        return today(pipimem.store, pipimem.settings.budget, _now())

    def _costs(self, days: int, only: str | None) -> Costs:
        midnight = _now().replace(hour=0, minute=0, second=0, microsecond=0)
        since = midnight - timedelta(days=days - 1)
        found = list(self._pages.pipimem.store.usages(since))
        ways = _WAYS
        if only is not None:
            found = [one for one in found if one.channel == only]
            ways = _WAYS_OF_A_CHANNEL
        by_day = _every_day(found, since, days)
        return Costs(
            usage_sum(found),
            by_day,
            {way: usage_sums(found, way) for way in ways},
            _plot(by_day, lambda one: one.tokens_in + one.tokens_out),
            _plot(by_day, lambda one: one.known_cost + one.estimated_cost),
            _plot(by_day, lambda one: one.failed),
        )


def _every_day(usages: Sequence[Usage], since: datetime, days: int) -> dict[str, UsageSum]:
    """The sum of each day, of those without a call too."""
    told = usage_sums(usages, "day")
    names = [f"{since + timedelta(days=day):%Y-%m-%d}" for day in range(days)]
    return {name: told.get(name) or usage_sum([]) for name in names}


def _plot(by_day: Mapping[str, UsageSum], value: Callable[[UsageSum], float]) -> Columns:
    return columns([(day, value(one)) for day, one in by_day.items()])


def _now() -> datetime:
    return datetime.now().astimezone()
