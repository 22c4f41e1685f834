"""The circuit breaker as a fold over ledger lines."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from pipimem.llm.usage_state import CircuitState, circuit_name, formatted, updated
from pipimem.notes.usage import Usage

from tests.cases import each

MORNING = datetime.fromisoformat("2026-03-02T09:00:00+08:00")


def ended(outcome: str, reason: str = "boom") -> Usage:
    return Usage(
        MORNING.isoformat(), "room", "refresh", "openai/m", 0, 0, 0, None, 1.0, outcome, "c", reason
    )


def folded(
    outcomes: Iterable[str], standing: CircuitState | None = None, now: datetime = MORNING
) -> CircuitState:
    standing = standing or CircuitState()
    for outcome in outcomes:
        standing = updated(standing, ended(outcome), now)
    return standing


@each(
    ("outcomes", "open_"),
    [
        (["error"] * 4, False),
        (["error"] * 5, True),
        (["timeout", "error"] * 2 + ["timeout"], True),
        (["error"] * 4 + ["ok"] + ["error"] * 4, False),
        (["refused"] * 19, False),
        (["refused"] * 20, True),
        (["error"] * 4 + ["refused"] * 4, True),
        (["denied"], True),
        (["unfit", "cancelled"] * 50, False),
    ],
)
def test_five_failures_or_twenty_refusals_in_a_row_open_it(
    outcomes: list[str], open_: bool
) -> None:
    """A missing key opens it at once; a request that was too long or given up says nothing about
    the model.
    """
    assert folded(outcomes).open_at(MORNING) is open_


def test_the_pause_doubles_up_to_an_hour_and_ends_with_an_answer() -> None:
    """Each probe that fails doubles it."""
    standing, now, pauses = folded(["error"] * 5), MORNING, []
    for _ in range(8):
        assert standing.until is not None
        pauses.append(standing.pause // timedelta(minutes=1))
        now = standing.until
        assert not standing.open_at(now)
        standing = folded(["error"], standing, now)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    assert folded(["ok"], standing) == CircuitState()


def test_what_was_under_way_when_it_opened_does_not_double_the_pause() -> None:
    """Four requests that fail together are one outage."""
    assert folded(["error"] * 9).pause == timedelta(minutes=1)


def test_the_state_is_told_with_its_reason() -> None:
    """For `status` and for errors."""
    standing = folded(["denied"])
    assert (
        formatted("openai/m", standing, MORNING)
        == "boom (openai/m has no key that is taken and is left alone until 09:01:00.)"
    )
    assert "one request may try" in formatted("openai/m", standing, MORNING + timedelta(minutes=1))
    assert formatted("openai/m", CircuitState(), MORNING) == "openai/m: fine"


def test_a_rerank_has_a_breaker_of_its_own() -> None:
    """It has three seconds; what it misses must not stop consolidation."""
    assert (
        circuit_name("openai/m", "rerank") != circuit_name("openai/m", "consolidate") == "openai/m"
    )
