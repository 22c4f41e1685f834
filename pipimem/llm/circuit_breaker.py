"""The circuit breaker of a model, computed from its lines in the usage ledger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pipimem.notes.usage import Usage
from pipimem.text.dates.bounds import later

# A failure weighs four, a refused answer one. Twenty are five failures in a row: a task tries three
# times, so one bad minute of a provider does not open the breaker, two tasks in a row do. Or twenty
# refused answers: one window that a model cannot cope with is halved and set aside in fewer; a
# model that gives twenty useless answers in a row over all channels is no use to anybody.
_LIMIT = 20
_WEIGHTS = {"timeout": 4, "error": 4, "refused": 1, "denied": _LIMIT}
# The first pause lets a provider restart; the longest still finds within the hour that it is back.
_FIRST_PAUSE = timedelta(minutes=1)
_LONGEST_PAUSE = timedelta(hours=1)


def circuit_name(model: str, task: str) -> str:
    """The name of the breaker a request is under: the model's own, or its separate one for rerank.

    A rerank has seconds where other tasks have minutes, so its failures say little about them.
    """
    return f"{model} (rerank)" if task == "rerank" else model


@dataclass(frozen=True, slots=True)
class CircuitState:
    """The weight of a model's failures since its last accepted answer; blocked before `until`.

    `is_denied` says that the key was the last reason.
    """

    failures: int = 0
    pause: timedelta = timedelta()
    until: datetime | None = None
    reason: str = ""
    is_denied: bool = False

    @property
    def tripped(self) -> bool:
        """Whether it failed too often; after `until` one request at a time may probe it."""
        return self.until is not None

    def open_at(self, now: datetime) -> bool:
        """Whether no request may be sent."""
        return self.until is not None and now < self.until


def updated(state: CircuitState, usage: Usage, now: datetime) -> CircuitState:
    """The state after an attempt that ended at `now`.

    Outcomes that say nothing about the model (such as `cancelled`) leave it as it is, and so do
    requests that were already under way when the breaker opened.
    """
    if usage.outcome == "ok":
        return CircuitState()
    weight = _WEIGHTS.get(usage.outcome, 0)
    if not weight or state.open_at(now):
        return state
    failures = min(state.failures + weight, _LIMIT)
    counted = replace(
        state, failures=failures, reason=usage.reason, is_denied=usage.outcome == "denied"
    )
    if failures < _LIMIT:
        return counted
    pause = min(state.pause * 2 or _FIRST_PAUSE, _LONGEST_PAUSE)
    return replace(counted, pause=pause, until=later(now, pause))


def formatted(circuit: str, state: CircuitState, now: datetime) -> str:
    """The state in words, for errors and `status`; the last failure's reason comes first."""
    if state.until is None:
        return f"{circuit}: fine"
    if now < state.until:
        until = f"{state.until:%H:%M:%S}"
        return f"{state.reason} ({circuit} {why(state)} and is left alone until {until}.)"
    return f"{state.reason} ({circuit} {why(state)}; one request may try whether it is back.)"


def why(state: CircuitState) -> str:
    """Why it is left alone, after the name of the model."""
    return "has no key that is taken" if state.is_denied else "failed too often"
