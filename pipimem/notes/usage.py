"""One call of a model, as the usage ledger keeps it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """One attempt at a model, failed ones too; `cost` is in US dollars, `None` where the price is unknown.

    `tokens_*` are what the provider reported, 0 where it reported nothing. `latency` is in seconds. `outcome` is `ok`,
    `refused` (the answer was not accepted), `timeout` or `error`; `reason` says more.
    """

    time: str
    channel: str
    task: str
    model: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost: float | None
    latency: float
    outcome: str
    correlation: str
    reason: str = ""
