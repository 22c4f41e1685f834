"""What an attempt cost in the end: the provider's word where it gave one, else the most it can have been."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime

from pipimem.errors import ModelTimeout
from pipimem.notes.usage import Hold, Usage
from pipimem.sidecar.door import Completion, ContextOverflow, KeyRefused, ParameterRefused, Price
from pipimem.sidecar.unbilled import surely_unbilled
from pipimem.text.tokens import estimate

# More than any bill has; the ledger takes no larger number.
_MOST_TOKENS = 10**12


@dataclass(slots=True)
class Attempt:
    """A request that was let out: its hold, and what came of it."""

    name: str
    hold: Hold
    price: Price | None
    completion: Completion | None = None
    error: BaseException | None = None


def settled(usage: Usage, attempt: Attempt) -> Usage:
    """The line of the ledger for an attempt that ended."""
    usage = replace(usage, prompt=attempt.hold.prompt)
    if attempt.completion is not None:
        return _delivered(usage, attempt.completion, attempt)
    usage = replace(usage, outcome=_outcome(attempt.error))
    if attempt.error is not None and surely_unbilled(attempt.error):
        return usage
    hold = attempt.hold
    return replace(usage, estimated_in=hold.tokens_in, estimated_out=hold.tokens_out, estimated_cost=hold.cost)


def abandoned(hold: Hold, now: datetime) -> Usage:
    """The line for a request whose process died: as if all that was reserved had been used."""
    return Usage(
        time=now.isoformat(timespec="seconds"),
        channel=hold.channel,
        task=hold.task,
        model=hold.model,
        tokens_in=0,
        tokens_out=0,
        tokens_cached=0,
        cost=None,
        latency=0.0,
        outcome="cancelled",
        correlation=hold.correlation,
        reason=f"asked at {hold.time} by a process that ended before the answer came",
        estimated_in=hold.tokens_in,
        estimated_out=hold.tokens_out,
        estimated_cost=hold.cost,
    )


def _delivered(usage: Usage, completion: Completion, attempt: Attempt) -> Usage:
    """An answer came: each count that is missing from the bill is guessed, and then the cost with it."""
    tokens_in, tokens_out = _count(completion.tokens_in), _count(completion.tokens_out)
    guess_in = 0 if tokens_in else attempt.hold.tokens_in
    guess_out = 0 if tokens_out else estimate(completion.text)
    told = not guess_in and not guess_out
    cost = _dollars(completion.cost) if told else None
    guess = None
    if cost is None and attempt.price:
        guess = attempt.price.of(tokens_in + guess_in, tokens_out + guess_out)
    return replace(
        usage,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_cached=min(_count(completion.tokens_cached), tokens_in),
        cost=cost,
        estimated_in=guess_in,
        estimated_out=guess_out,
        estimated_cost=guess,
    )


def _outcome(error: BaseException | None) -> str:
    match error:
        case ModelTimeout():
            return "timeout"
        case KeyRefused():
            return "denied"
        case ContextOverflow() | ParameterRefused():
            return "unfit"
        case Exception():
            return "error"
        case _:
            return "cancelled"


def _count(tokens: int) -> int:
    """A server's number as one that sums can take: a negative one would give budget back."""
    return min(max(0, int(tokens)), _MOST_TOKENS)


def _dollars(cost: float | None) -> float | None:
    return cost if cost is not None and math.isfinite(cost) and cost >= 0 else None
