"""The circuit breaker of a model, as a fold over its lines in the usage ledger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pipimem.notes.usage import Usage
from pipimem.text.dates.bounds import later

# A failure weighs four, a refused answer one. Twenty are five failures in a row: a thought tries three times, so one
# bad minute of a provider does not open the breaker, two thoughts in a row do. Or twenty refused answers: one window
# that a model cannot cope with is halved and set aside in fewer; a model that gives twenty useless answers in a row
# over all channels is no use to anybody.
_LIMIT = 20
_WEIGHTS = {"timeout": 4, "error": 4, "refused": 1, "denied": _LIMIT}
# The first pause lets a provider restart; the longest still finds within the hour that it is back.
_FIRST_PAUSE = timedelta(minutes=1)
_LONGEST_PAUSE = timedelta(hours=1)


def circuit(model: str, task: str) -> str:
    """Whose breaker a request is under: the model's. A rerank has seconds where other tasks have minutes, so what it
    fails at says little about them: it has one of its own."""
    return f"{model} (rerank)" if task == "rerank" else model


@dataclass(frozen=True, slots=True)
class Standing:
    """How a model stands: the weight of its failures since its last accepted answer, and until when it is left alone."""

    failures: int = 0
    pause: timedelta = timedelta()
    until: datetime | None = None
    reason: str = ""

    @property
    def tripped(self) -> bool:
        """It failed too often; after `until` one request at a time may find out whether it is back."""
        return self.until is not None

    def open_at(self, now: datetime) -> bool:
        """No request may be sent."""
        return self.until is not None and now < self.until


def after(standing: Standing, usage: Usage, now: datetime) -> Standing:
    """The standing once an attempt ended at `now`; what says nothing about the model changes nothing."""
    if usage.outcome == "ok":
        return Standing()
    weight = _WEIGHTS.get(usage.outcome, 0)
    if not weight or standing.open_at(now):  # what was under way when it opened is no new proof
        return standing
    counted = replace(
        standing, failures=min(standing.failures + weight, _LIMIT), reason=usage.reason
    )
    if counted.failures < _LIMIT:
        return counted
    pause = min(standing.pause * 2 or _FIRST_PAUSE, _LONGEST_PAUSE)
    return replace(counted, pause=pause, until=later(now, pause))


def told(circuit: str, standing: Standing, now: datetime) -> str:
    """The state in words, for errors and `status`: what went wrong last stands first."""
    if not standing.tripped or standing.until is None:
        return f"{circuit}: fine"
    if standing.open_at(now):
        return f"{standing.reason} ({circuit} failed too often and is left alone until {standing.until:%H:%M:%S}.)"
    return (
        f"{standing.reason} ({circuit} failed too often; one request may try whether it is back.)"
    )
