"""Model calls as the usage ledger keeps them: those that ended, and holds for those under way."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct


class Usage(Struct, frozen=True):
    """One attempt at a model call, failed ones too.

    `cost` is in US dollars, `None` where the price is unknown. `tokens_*` are what the provider
    reported, 0 where it reported nothing; `estimated_*` are our upper guess then, 0 otherwise.
    `latency` is in seconds. `outcome` is `ok`, `refused` (the answer was not accepted), `timeout`,
    `error`, `denied` (no key, or a refused one), `unfit` (the model does not take such a request)
    or `cancelled` (the caller went on without it). `reason` says more, in our own words: it quotes
    nobody, for a forgetting does not look here. `prompt` is a short hash of what was asked.
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
    estimated_in: int = 0
    estimated_out: int = 0
    estimated_cost: float | None = None
    prompt: str = ""

    @property
    def tokens(self) -> int:
        """All tokens a budget counts; cached ones are part of those in."""
        return self.tokens_in + self.tokens_out + self.estimated_in + self.estimated_out

    @property
    def dollars(self) -> float:
        """The known or guessed cost, 0 where there is no price."""
        return (self.cost or 0.0) + (self.estimated_cost or 0.0)

    @property
    def unpriced(self) -> bool:
        """Something was used, and nobody knows what it costs."""
        return self.tokens > 0 and self.cost is None and self.estimated_cost is None


class Reservation(Struct, frozen=True):
    """What a request under way may cost at most, kept on disk while it runs.

    The hold of a process that was killed counts as spent. `until` is the local time after which its
    process must have ended.
    """

    time: str
    until: str
    channel: str
    task: str
    model: str
    tokens_in: int
    tokens_out: int
    cost: float | None
    correlation: str
    prompt: str = ""

    @property
    def tokens(self) -> int:
        """The prompt's and the longest answer's."""
        return self.tokens_in + self.tokens_out


class UsageCursor(Struct):
    """How far the ledger was read: calls since a time, up to `last` with the number `newest`."""

    since: datetime
    newest: int = 0
    last: Usage | None = None
