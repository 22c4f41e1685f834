"""What models were asked and what it cost, by day, task, model and channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from math import inf

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipimem.notes.usage import Usage
from pipimem.runtime.health_report import WARN_AT, Budget, Today, today
from pipimem.runtime.usage_sums import By, UsageSum, usage_sum, usage_sums
from pipimem.web.charts import Columns, NamedBars, columns, named_bars
from pipimem.web.pages import Pages
from pipimem.web.request_fields import number_of

_DAYS = 30
_MOST_DAYS = 366
_WEEK = 7
_WAYS: tuple[By, ...] = ("task", "model", "channel")
_WAYS_OF_A_CHANNEL: tuple[By, ...] = ("task", "model")
# A workspace may have thousands of channels; `pipimem usage` names them all.
_MOST_ROWS = 100


@dataclass(frozen=True, slots=True)
class ShownBudget:
    """A budget of today as the page shows it; `channel` is empty for that of the workspace."""

    channel: str
    budget: Budget
    state: str

    @classmethod
    def of(cls, channel: str, budget: Budget) -> ShownBudget:
        """With its state: `used_up`, `above` the share that an operator should know of, or none."""
        if budget.share >= 1:
            return cls(channel, budget, "used_up")
        return cls(channel, budget, "above" if budget.share >= WARN_AT else "")


@dataclass(frozen=True, slots=True)
class Costs:
    """The sums of a time: all, by day with no day left out, and by each other way, highest first.

    `lately` are those of today, of yesterday and of seven days, whatever time is asked for.
    `columns` are the plots by day, one of each measure, `bars` those by each other way.
    """

    lately: Mapping[str, UsageSum]
    total: UsageSum
    by_day: Mapping[str, UsageSum]
    by: Mapping[str, Mapping[str, UsageSum]]
    columns: Mapping[str, Columns]
    bars: Mapping[str, Mapping[str, NamedBars]]


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
        found = await to_thread.run_sync(self._today)
        return self._pages.rendered(
            request,
            "costs.html",
            channel=only or "",
            costs=costs,
            days=days,
            budgets=_budgets(found, only),
            notices=found.notices() if only is None else (),
            no_limit=inf,
        )

    def _today(self) -> Today:
        pipimem = self._pages.pipimem
        return today(pipimem.store, pipimem.settings.budget, _now())

    def _costs(self, days: int, only: str | None) -> Costs:
        midnight = _now().replace(hour=0, minute=0, second=0, microsecond=0)
        since, week = _days_before(midnight, days - 1), _days_before(midnight, _WEEK - 1)
        found = self._pages.pipimem.store.usages(min(since, week), only)
        ways = _WAYS if only is None else _WAYS_OF_A_CHANNEL
        meant = [one for one in found if one.time[:10] >= f"{since:%Y-%m-%d}"]
        by_day = _every_day(found, since, days)
        by = {way: usage_sums(meant, way) for way in ways}
        return Costs(
            _lately(found, midnight),
            usage_sum(meant),
            by_day,
            {way: _highest(sums) for way, sums in by.items()},
            {name: columns(_values(by_day, measure)) for name, measure in _MEASURES.items()},
            {way: _bars(sums) for way, sums in by.items()},
        )


def _tokens(one: UsageSum) -> float:
    return one.tokens_in + one.tokens_out


_MEASURES: Mapping[str, Callable[[UsageSum], float]] = {
    "tokens": _tokens,
    "money": lambda one: one.known_cost + one.estimated_cost,
    "failed": lambda one: one.failed,
}


def _values(
    sums: Mapping[str, UsageSum], measure: Callable[[UsageSum], float]
) -> list[tuple[str, float]]:
    return [(name, measure(one)) for name, one in sums.items()]


def _bars(sums: Mapping[str, UsageSum]) -> Mapping[str, NamedBars]:
    """A plot of each measure."""
    return {name: named_bars(_values(sums, measure)) for name, measure in _MEASURES.items()}


def _highest(sums: Mapping[str, UsageSum]) -> dict[str, UsageSum]:
    """The sums of the most tokens, those first."""
    names = sorted(sums, key=lambda name: -_tokens(sums[name]))
    return {name: sums[name] for name in names[:_MOST_ROWS]}


def _days_before(midnight: datetime, days: int) -> datetime:
    """The beginning of a day before, also over a change of the clock."""
    day = midnight.date() - timedelta(days=days)
    return datetime.combine(day, time.min).astimezone()


def _budgets(found: Today, only: str | None) -> list[ShownBudget]:
    """Those of the workspace and of channels near their end, or that of the one channel alone."""
    named = [(one.whose.removeprefix("channel "), one) for one in found.channels]
    if only is not None:
        return [ShownBudget.of(name, one) for name, one in named if name == only]
    near = [ShownBudget.of(name, one) for name, one in named if one.share >= WARN_AT]
    return [ShownBudget.of("", found.workspace), *near]


def _lately(usages: Sequence[Usage], midnight: datetime) -> dict[str, UsageSum]:
    """The sums of today, of yesterday, and of seven days with today."""
    days = [f"{_days_before(midnight, back):%Y-%m-%d}" for back in range(_WEEK)]
    return {
        "today": usage_sum([one for one in usages if one.time[:10] == days[0]]),
        "yesterday": usage_sum([one for one in usages if one.time[:10] == days[1]]),
        "week": usage_sum([one for one in usages if one.time[:10] in days]),
    }


def _every_day(usages: Sequence[Usage], since: datetime, days: int) -> dict[str, UsageSum]:
    """The sum of each day, of those without a call too."""
    by_name = usage_sums(usages, "day")
    names = [f"{since + timedelta(days=day):%Y-%m-%d}" for day in range(days)]
    return {name: by_name.get(name) or usage_sum([]) for name in names}


def _now() -> datetime:
    return datetime.now().astimezone()
