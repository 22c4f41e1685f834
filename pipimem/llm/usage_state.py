"""The usage of a day: tokens and dollars spent, circuit breakers, the guard against loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from math import inf

from pipimem.errors import BudgetSpent
from pipimem.llm import circuit_breaker
from pipimem.llm.circuit_breaker import CircuitState
from pipimem.llm.loop_guard import LoopGuard
from pipimem.llm.request import Price
from pipimem.notes.usage import Reservation, Usage
from pipimem.settings import BudgetSettings

# A shorter answer would most often be cut, refused and paid for nothing; a usual one takes 300 to
# 1,500 tokens.
LEAST_ANSWER = 1000
# Above this share of a budget its operator should know.
WARN_AT = 0.8


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens, and US dollars as far as prices are known."""

    tokens: float = 0
    dollars: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.dollars + other.dollars)


@dataclass(frozen=True, slots=True)
class Budget:
    """One limit of a day and what was used of it; `share` is 1.0 when it is used up, or 0 large."""

    whose: str
    limit: Amount
    spent: Amount

    @property
    def share(self) -> float:
        """The larger of the shares of tokens and dollars."""
        pairs = (
            (self.spent.tokens, self.limit.tokens),
            (self.spent.dollars, self.limit.dollars),
        )
        return max(spent / limit if limit else 1.0 for spent, limit in pairs)

    def formatted(self) -> str:
        """The budget in words: `the workspace: 41,000 of 50,000 tokens, $0.0300 of $1.00`."""
        parts = []
        if self.limit.tokens != inf:
            parts.append(f"{self.spent.tokens:,.0f} of {self.limit.tokens:,.0f} tokens")
        if self.limit.dollars != inf:
            parts.append(f"${self.spent.dollars:,.4f} of ${self.limit.dollars:,.2f}")
        return f"{self.whose}: {', '.join(parts) or 'no limit'}"


_NOTHING = Amount()


@dataclass(slots=True)
class UsageState:
    """All that decides whether a request may be sent, made of ledger lines alone.

    So a restart changes nothing. `total` and `channels` are what the local `day` has used, in all
    and by channel; `circuits` are breakers by name.
    """

    settings: BudgetSettings
    day: date
    total: Amount = _NOTHING
    channels: dict[str, Amount] = field(default_factory=dict)
    circuits: dict[str, CircuitState] = field(default_factory=dict)
    loop_guard: LoopGuard = field(default_factory=LoopGuard)

    @classmethod
    def from_ledger(
        cls, settings: BudgetSettings, now: datetime, lines: Iterable[Usage] = ()
    ) -> UsageState:
        """The state on the day of `now`, in the local time of `now`."""
        state = cls(settings, now.date())
        for usage in lines:
            state.count(usage, now)
        return state

    def count(self, usage: Usage, now: datetime, *, own: bool = False) -> None:
        """Takes in one more line of the ledger; lines come in their order.

        `own` if this process made the request. Lines of other days use up no budget.
        """
        when = ended_at(usage, now)
        if when.date() == self.day:
            amount = Amount(usage.tokens, usage.dollars)
            self.total += amount
            self.channels[usage.channel] = self.channels.get(usage.channel, _NOTHING) + amount
        circuit = circuit_breaker.circuit_name(usage.model, usage.task)
        before = self.circuits.get(circuit, CircuitState())
        self.circuits[circuit] = circuit_breaker.updated(before, usage, when)
        self.loop_guard.count(usage, when, own=own)

    def budgets(self, channel: str, reserved: Iterable[Reservation] = ()) -> tuple[Budget, Budget]:
        """The workspace's budget and the channel's; what is `reserved` counts as spent."""
        total, own = self.total, self.channels.get(channel, _NOTHING)
        for reservation in reserved:
            amount = Amount(reservation.tokens, reservation.cost or 0.0)
            total += amount
            if reservation.channel == channel:
                own += amount
        limits = self.settings
        whole = Amount(limits.tokens_per_day, limits.cost_per_day)
        part = Amount(limits.channel_tokens_per_day, limits.channel_cost_per_day)
        return Budget("the workspace", whole, total), Budget(f"channel {channel}", part, own)

    def allow_probes(self, now: datetime) -> None:
        """Lets each blocked model be tried at once: after a restart the cause is often fixed."""
        for circuit, state in self.circuits.items():
            if state.until is not None:
                self.circuits[circuit] = replace(state, until=min(state.until, now))

    def start_day(self, now: datetime) -> None:
        """Sets what is spent to nothing if `now` is on another day."""
        if self.day != now.date():
            self.day, self.total, self.channels = now.date(), _NOTHING, {}


def ended_at(usage: Usage, now: datetime) -> datetime:
    """When an attempt ended, in the offset of `now`; `now` itself if its time is unreadable."""
    try:
        return datetime.fromisoformat(usage.time).astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        return now


def midnight(now: datetime) -> datetime:
    """When the local day of `now` began."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def has_cost_limit(settings: BudgetSettings) -> bool:
    """Whether there is a limit in dollars, so that prices matter."""
    return min(settings.cost_per_day, settings.channel_cost_per_day) != inf


def has_token_limit(settings: BudgetSettings) -> bool:
    """Whether there is a limit in tokens, which also bounds models without a price."""
    return min(settings.tokens_per_day, settings.channel_tokens_per_day) != inf


def granted_tokens(
    budgets: Iterable[Budget],
    tokens_in: int,
    max_tokens: int,
    price: Price | None,
    meanwhile: str = "the offline rules take over",
) -> int:
    """How many tokens an answer may take: `max_tokens`, or the fewer that every budget still has.

    Raises `BudgetSpent` where a prompt of `tokens_in` and a usable answer do not fit; the error
    says what happens `meanwhile`.
    """
    granted: float = max_tokens
    for budget in budgets:
        left = _tokens_left(budget, tokens_in, price)
        if left < min(max_tokens, LEAST_ANSWER):
            raise BudgetSpent(_refusal(budget, tokens_in, meanwhile))
        granted = min(granted, left)
    return int(granted)


def _tokens_left(budget: Budget, tokens_in: int, price: Price | None) -> float:
    """The tokens one budget leaves for an answer; negative where not even the prompt fits."""
    tokens = budget.limit.tokens - budget.spent.tokens - tokens_in
    if budget.limit.dollars == inf or price is None:
        return tokens
    dollars = budget.limit.dollars - budget.spent.dollars - tokens_in * price.prompt
    if not price.answer:
        return tokens if dollars >= 0 else -1
    return min(tokens, dollars / price.answer)


def _refusal(budget: Budget, tokens_in: int, meanwhile: str) -> str:
    why = f"has no room for a request of {tokens_in:,} tokens and its answer"
    if budget.share >= 1:
        why = "is used up"
    return (
        f"Today's budget of {budget.formatted()} (requests under way included) {why}. "
        f"Until midnight {meanwhile}; raise the limit in pipimem.toml, [budget], or wait."
    )
