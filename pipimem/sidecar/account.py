"""The account of a day: the usage ledger folded into what is spent, how each model stands, and what was asked last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from pipimem.notes.usage import Usage
from pipimem.settings import BudgetSettings
from pipimem.sidecar import breaker
from pipimem.sidecar.breaker import Standing
from pipimem.sidecar.purse import Purse
from pipimem.sidecar.repeats import Repeats


@dataclass(slots=True)
class Account:
    """Everything that decides whether a request may be sent; made of ledger lines alone, so a restart changes nothing."""

    purse: Purse
    standings: dict[str, Standing] = field(default_factory=dict)
    repeats: Repeats = field(default_factory=Repeats)

    @classmethod
    def opened(cls, settings: BudgetSettings, now: datetime, lines: Iterable[Usage] = ()) -> Account:
        """The account of the day of `now`, in the local time of `now`."""
        account = cls(Purse(settings, now.date()))
        for usage in lines:
            account.count(usage, now)
        return account

    def count(self, usage: Usage, now: datetime) -> None:
        """One more line of the ledger, in the order they were written; the purse takes those of its day."""
        when = ended(usage, now)
        if when.date() == self.purse.day:
            self.purse.count(usage)
        circuit = breaker.circuit(usage.model, usage.task)
        self.standings[circuit] = breaker.after(self.standings.get(circuit, Standing()), usage, when)
        self.repeats.count(usage, when)

    def forgive(self, now: datetime) -> None:
        """Let each model that is left alone be tried at once: a restart is most often a hand that mended something."""
        for circuit, standing in self.standings.items():
            if standing.until is not None:
                self.standings[circuit] = replace(standing, until=min(standing.until, now))

    def turn(self, now: datetime) -> bool:
        """Begin a new purse if it is another day; whether it is."""
        if self.purse.day == now.date():
            return False
        self.purse = Purse(self.purse.settings, now.date())
        return True


def ended(usage: Usage, now: datetime) -> datetime:
    """When an attempt ended, in the offset of `now`; `now` for a time nobody can read."""
    try:
        return datetime.fromisoformat(usage.time).astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        return now


def midnight(now: datetime) -> datetime:
    """When the local day of `now` began."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
