"""The arithmetic of a day's budget."""

from __future__ import annotations

from datetime import datetime
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.errors import BudgetSpent
from pipimem.llm.request import Price
from pipimem.llm.usage_state import Amount, Budget, UsageState, granted_tokens
from pipimem.notes.usage import Reservation, Usage
from pipimem.settings import BudgetSettings, Limit

from tests.cases import each

NOW = datetime.fromisoformat("2026-03-02T09:00:00+08:00")
DAY = NOW.date()
PRICE = Price(prompt=0.001, answer=0.01)


def limits(
    tokens: float = inf, cost: float = inf, own_tokens: float = inf, own_cost: float = inf
) -> BudgetSettings:
    return BudgetSettings(Limit(tokens), Limit(cost), Limit(own_tokens), Limit(own_cost))


def used(tokens: int, cost: float | None = None, channel: str = "room") -> Usage:
    time = "2026-03-02T09:00:00+08:00"
    return Usage(time, channel, "refresh", "openai/m", tokens, 0, 0, cost, 1.0, "ok", "c")


def held(tokens: int, cost: float | None = None, channel: str = "room") -> Reservation:
    time = "2026-03-02T09:00:00+08:00"
    return Reservation(time, time, channel, "refresh", "openai/m", tokens, 0, cost, "c")


def budget(tokens: float, spent: float = 0, dollars: float = inf, paid: float = 0.0) -> Budget:
    return Budget("the workspace", Amount(tokens, dollars), Amount(spent, paid))


def test_the_workspace_counts_all_channels_and_a_channel_its_own() -> None:
    """What is under way counts with all it may cost."""
    account = UsageState(limits(1000, 10, 500, 5), DAY)
    account.count(used(100, 0.5), NOW)
    account.count(used(40, 0.25, "hall"), NOW)
    whole, own = account.budgets("room", [held(7, 0.125), held(3, None, "hall")])
    assert (whole.spent, own.spent) == (Amount(150, 0.875), Amount(107, 0.625))
    assert (whole.limit, own.limit) == (Amount(1000, 10), Amount(500, 5))


def test_the_larger_share_counts() -> None:
    """A budget is as full as its fuller half; a budget of nothing is full from the start."""
    assert budget(1000, 500, 10.0, 9.0).share == 0.9
    assert budget(1000, 800).share == 0.8
    assert budget(0).share == 1.0


def test_an_answer_is_cut_to_what_is_left() -> None:
    """Of the tokens, or of the tokens the dollars still buy; the tighter budget decides."""
    assert granted_tokens([budget(100_000)], 2000, 8000, None) == 8000
    assert granted_tokens([budget(100_000), budget(10_000, 5000)], 2000, 8000, None) == 3000
    assert granted_tokens([budget(inf, 0, 20.0, 1.0)], 2000, 8000, PRICE) == 1700
    assert granted_tokens([budget(inf, 0, 1.0)], 500, 8000, Price(0.001, 0.0)) == 8000


@each(
    ("of", "price", "said"),
    [
        (budget(10_000, 10_000), None, "the workspace: 10,000 of 10,000 tokens .* is used up"),
        (budget(10_000, 8_500), None, "has no room for a request of 2,000 tokens"),
        (budget(inf, 0, 1.0, 0.5), PRICE, r"\$0.5000 of \$1.00 .* has no room"),
        (budget(0), None, "is used up"),
    ],
)
def test_a_request_without_room_for_a_usable_answer_is_refused(
    of: Budget, price: Price | None, said: str
) -> None:
    """It would be cut, refused and paid for nothing; the error says which budget and what to do."""
    with pytest.raises(BudgetSpent, match=said):
        granted_tokens([of], 2000, 8000, price)


def test_a_short_answer_needs_no_more_room_than_it_takes() -> None:
    """A rerank asks for few tokens."""
    assert granted_tokens([budget(2300)], 2000, 200, None) == 200


@given(
    st.lists(
        st.tuples(st.integers(1, 5000), st.integers(1, 9000), st.sampled_from(["room", "hall"])),
        max_size=60,
    ),
    st.integers(0, 60_000),
    st.integers(0, 30_000),
)
def test_no_row_of_granted_requests_exceeds_a_budget(
    requests: list[tuple[int, int, str]], tokens: int, own: int
) -> None:
    """Whatever is asked by whom: if each takes all it was granted_tokens, no limit is passed."""
    account = UsageState(limits(tokens, inf, own), DAY)
    for prompt, answer, channel in requests:
        try:
            account.count(
                used(
                    prompt + granted_tokens(account.budgets(channel), prompt, answer, None),
                    None,
                    channel,
                ),
                NOW,
            )
        except BudgetSpent:
            continue
    assert account.total.tokens <= tokens
    assert all(amount.tokens <= own for amount in account.channels.values())
