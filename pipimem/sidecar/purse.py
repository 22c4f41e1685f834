"""The arithmetic of a day's budget: what is spent, what is left, and how much a request may ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from pipimem.errors import BudgetSpent
from pipimem.settings import BudgetSettings
from pipimem.sidecar.door import Price

# An answer of less room would most often be cut, refused and paid for nothing; a usual one takes 300 to 1,500 tokens.
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
    """One limit of a day and what was used of it; `share` is 1.0 when all is gone, also of a budget of nothing."""

    whose: str
    limit: Amount
    spent: Amount

    @property
    def share(self) -> float:
        """The larger of the shares of tokens and dollars."""
        pairs = ((self.spent.tokens, self.limit.tokens), (self.spent.dollars, self.limit.dollars))
        return max(spent / limit if limit else 1.0 for spent, limit in pairs)

    def told(self) -> str:
        """The budget in words, as in `the workspace: 41,000 of 50,000 tokens, $0.0300 of $1.00`."""
        parts = []
        if self.limit.tokens != inf:
            parts.append(f"{self.spent.tokens:,.0f} of {self.limit.tokens:,.0f} tokens")
        if self.limit.dollars != inf:
            parts.append(f"${self.spent.dollars:,.4f} of ${self.limit.dollars:,.2f}")
        return f"{self.whose}: {', '.join(parts) or 'no limit'}"


def counts_money(settings: BudgetSettings) -> bool:
    """There is a limit in dollars, so prices matter."""
    return min(settings.cost_per_day, settings.channel_cost_per_day) != inf


def counts_tokens(settings: BudgetSettings) -> bool:
    """There is a limit in tokens, which holds models without a price too."""
    return min(settings.tokens_per_day, settings.channel_tokens_per_day) != inf


def granted(
    budgets: Iterable[Budget],
    tokens_in: int,
    max_tokens: int,
    price: Price | None,
    meanwhile: str = "the embedded rules think",
) -> int:
    """How many tokens an answer to a prompt may take: `max_tokens`, or the fewer that every budget still holds.

    Raises `BudgetSpent` where the prompt and a usable answer do not fit; it says what happens `meanwhile`.
    """
    room: float = max_tokens
    for budget in budgets:
        left = _room(budget, tokens_in, price)
        if left < min(max_tokens, LEAST_ANSWER):
            raise BudgetSpent(_refusal(budget, tokens_in, meanwhile))
        room = min(room, left)
    return int(room)


def _room(budget: Budget, tokens_in: int, price: Price | None) -> float:
    """The tokens an answer may take by one budget; negative where not even the prompt fits."""
    tokens = budget.limit.tokens - budget.spent.tokens - tokens_in
    if budget.limit.dollars == inf or price is None:
        return tokens
    dollars = budget.limit.dollars - budget.spent.dollars - tokens_in * price.prompt
    if not price.answer:
        return tokens if dollars >= 0 else -1
    return min(tokens, dollars / price.answer)


def _refusal(budget: Budget, tokens_in: int, meanwhile: str) -> str:
    spent = budget.share >= 1
    why = (
        "is used up"
        if spent
        else f"has no room for a request of {tokens_in:,} tokens and its answer"
    )
    return (
        f"Today's budget of {budget.told()} (requests under way included) {why}. Until midnight {meanwhile}; "
        "raise the limit in pipimem.toml, [budget], or wait."
    )
