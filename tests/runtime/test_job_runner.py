"""Tokens by run and by task of a channel today."""

from __future__ import annotations

from datetime import timedelta

from pipimem.notes.operations import Tokens
from pipimem.notes.usage import Usage
from pipimem.runtime.job_runner import spent
from pipimem.sidecar.tasks import Call

from tests.runtime.building import MORNING


def usage(correlation: str, task: str = "tidy", channel: str = "room", day: int = 0) -> Usage:
    time = (MORNING + timedelta(days=day)).isoformat(timespec="seconds")
    return Usage(time, channel, task, "m", 90, 10, 0, None, 1.0, "ok", correlation)


def test_a_run_counts_its_own_attempts_and_its_tasks_day() -> None:
    """Other runs, tasks and channels are others."""
    lines = [
        usage("before"),
        usage("x", task="fold"),
        usage("y", channel="hall"),
        usage("run1"),
        usage("run1"),
    ]
    assert spent(lines, "tidy", Call("room", "run1", 1), "2026-03-02") == Tokens(200, 300)
    lines.append(usage("run2"))
    assert spent(lines, "tidy", Call("room", "run2", 1), "2026-03-02") == Tokens(100, 400)


def test_a_new_day_begins_at_nothing() -> None:
    """Yesterday's tokens are no part of it."""
    lines = [usage("run1"), usage("run2", day=1)]
    assert spent(lines, "tidy", Call("room", "run2", 1), "2026-03-03") == Tokens(100, 100)


def test_a_thought_without_cost_has_no_tokens() -> None:
    """The rules are free: their change says nothing of tokens."""
    assert spent([], "tidy", Call("room", "run1", 1), "2026-03-02") is None
