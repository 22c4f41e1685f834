"""What an attempt cost in the end: the provider's word where it gave one, else the most it can have been."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from pipimem.errors import AnswerRefused, ModelTimeout, ModelUnavailable, SidecarError
from pipimem.notes.usage import Hold, Usage
from pipimem.sidecar.door import (
    Completion,
    ContextOverflow,
    KeyRefused,
    ModelBusy,
    ParameterRefused,
    Price,
)
from pipimem.text.secrets import redacted
from pipimem.text.tokens import estimate

# More than any bill has; the ledger takes no larger number.
_MOST_TOKENS = 10**12
_REASON_CHARS = 200
# By name, so that httpx stays behind the door: the server answered with an error status, or was never reached.
# Anything else (a broken or unreadable answer, a timeout) may stand on the provider's bill.
_NOT_SERVED = frozenset({"HTTPStatusError", "ConnectError", "ConnectTimeout", "PoolTimeout"})


def billed(
    hold: Hold,
    price: Price | None,
    completion: Completion | None,
    error: BaseException | None,
    now: datetime,
    latency: float,
) -> Usage:
    """The line of the ledger for an attempt that ended at `now` with an answer, an error, or both (a refused answer).

    What the provider did not report is estimated: each missing count of an answer by itself, and all that was held
    where no answer came and the request may have been served.
    """
    outcome, reason = _ended(error)
    usage = replace(
        _line(hold, now, outcome), latency=round(latency, 3), reason=reason, prompt=hold.prompt
    )
    if completion is not None:
        return _delivered(usage, hold, price, completion)
    if error is not None and _surely_unbilled(error):
        return usage
    return _with_all_held(usage, hold)


def abandoned(hold: Hold, now: datetime) -> Usage:
    """The line for a request whose process died: as if all that was reserved had been used."""
    reason = f"asked at {hold.time} by a process that ended before the answer came"
    return replace(_with_all_held(_line(hold, now, "cancelled"), hold), reason=reason)


def _line(hold: Hold, now: datetime, outcome: str) -> Usage:
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
        outcome=outcome,
        correlation=hold.correlation,
    )


def _with_all_held(usage: Usage, hold: Hold) -> Usage:
    return replace(
        usage, estimated_in=hold.tokens_in, estimated_out=hold.tokens_out, estimated_cost=hold.cost
    )


def _delivered(usage: Usage, hold: Hold, price: Price | None, completion: Completion) -> Usage:
    """An answer came: each count that is missing from the bill is guessed, and then the cost with it."""
    tokens_in, tokens_out = _count(completion.tokens_in), _count(completion.tokens_out)
    guess_in = 0 if tokens_in else hold.tokens_in
    guess_out = 0 if tokens_out else estimate(completion.text)
    is_told = not guess_in and not guess_out
    cost = _dollars(completion.cost) if is_told else None
    guess = None
    if cost is None and price:
        guess = price.of(tokens_in + guess_in, tokens_out + guess_out)
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


def _ended(error: BaseException | None) -> tuple[str, str]:
    """The outcome of an attempt and its reason, without secrets: providers quote keys, models what they were shown."""
    match error:
        case None:
            return "ok", ""
        case AnswerRefused():
            outcome = "refused"
        case ModelTimeout():
            outcome = "timeout"
        case KeyRefused():
            outcome = "denied"
        case ContextOverflow() | ParameterRefused():
            outcome = "unfit"
        case SidecarError():
            outcome = "error"
        case Exception():
            return "error", "interrupted"
        case _:
            return "cancelled", "the caller gave up"
    return outcome, redacted(str(error))[:_REASON_CHARS]


def _surely_unbilled(error: BaseException) -> bool:
    """Whether the provider refused the request or never had it; all else may have been billed."""
    if not isinstance(error, ModelUnavailable):
        return False
    # What is no `ModelBusy` was refused in so many words: the key, the model's name, the request itself.
    return not isinstance(error, ModelBusy) or any(
        type(cause).__name__ in _NOT_SERVED for cause in _causes(error)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    while (cause := error.__cause__ or error.__context__) is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        error = cause


def _count(tokens: int) -> int:
    """A server's number as one that sums can take: a negative one would give budget back."""
    return min(max(0, int(tokens)), _MOST_TOKENS)


def _dollars(cost: float | None) -> float | None:
    return cost if cost is not None and math.isfinite(cost) and cost >= 0 else None
