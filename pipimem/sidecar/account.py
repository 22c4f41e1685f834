"""The account of a day: the usage ledger folded into what is spent, how each model stands, and what was asked last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from pipimem.notes.usage import Hold, Usage
from pipimem.settings import BudgetSettings
from pipimem.sidecar import breaker
from pipimem.sidecar.breaker import Standing
from pipimem.sidecar.purse import Amount, Budget
from pipimem.sidecar.repeats import Repeats

_NOTHING = Amount()


@dataclass(slots=True)
class Account:
    """Everything that decides whether a request may be sent; made of ledger lines alone, so a restart changes nothing.

    `total` and `channels` are what the local `day` has used, in all and by channel.
    """

    settings: BudgetSettings
    day: date
    total: Amount = _NOTHING
    channels: dict[str, Amount] = field(default_factory=dict)
    standings: dict[str, Standing] = field(default_factory=dict)
    repeats: Repeats = field(default_factory=Repeats)

    @classmethod
    def opened(
        cls, settings: BudgetSettings, now: datetime, lines: Iterable[Usage] = ()
    ) -> Account:
        """The account of the day of `now`, in the local time of `now`."""
        account = cls(settings, now.date())
        for usage in lines:
            account.count(usage, now)
        return account

    def count(self, usage: Usage, now: datetime) -> None:
        """One more line of the ledger, in the order they were written; lines of other days use up nothing."""
        when = ended(usage, now)
        if when.date() == self.day:
            amount = Amount(usage.tokens, usage.dollars)
            self.total += amount
            self.channels[usage.channel] = self.channels.get(usage.channel, _NOTHING) + amount
        circuit = breaker.circuit(usage.model, usage.task)
        self.standings[circuit] = breaker.after(
            self.standings.get(circuit, Standing()), usage, when
        )
        self.repeats.count(usage, when)

    def budgets(self, channel: str, held: Iterable[Hold] = ()) -> tuple[Budget, Budget]:
        """The workspace's and the channel's; with `held`, as if every request under way cost all it may."""
        total, own = self.total, self.channels.get(channel, _NOTHING)
        for hold in held:
            amount = Amount(hold.tokens, hold.cost or 0.0)
            total += amount
            own = own + amount if hold.channel == channel else own
        limits = self.settings
        return (
            Budget("the workspace", Amount(limits.tokens_per_day, limits.cost_per_day), total),
            Budget(
                f"channel {channel}",
                Amount(limits.channel_tokens_per_day, limits.channel_cost_per_day),
                own,
            ),
        )

    def forgive(self, now: datetime) -> None:
        """Let each model that is left alone be tried at once: a restart is most often a hand that mended something."""
        for circuit, standing in self.standings.items():
            if standing.until is not None:
                self.standings[circuit] = replace(standing, until=min(standing.until, now))

    def turn(self, now: datetime) -> None:
        """Begin at nothing if it is another day."""
        if self.day != now.date():
            self.day, self.total, self.channels = now.date(), _NOTHING, {}


def ended(usage: Usage, now: datetime) -> datetime:
    """When an attempt ended, in the offset of `now`; `now` for a time nobody can read."""
    try:
        return datetime.fromisoformat(usage.time).astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        return now


def midnight(now: datetime) -> datetime:
    """When the local day of `now` began."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
