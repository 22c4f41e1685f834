"""`pipimem usage`."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.notes.usage import Usage
from pipimem.store.workspace import WorkspaceStore

from tests.cli.conftest import Call


@pytest.fixture
def used(bot: Path) -> None:
    """Four calls over two days, one failed, one without a known price."""
    store = WorkspaceStore.open(bot)
    for time, channel, task, tokens, cost, outcome in (
        ("2026-03-02T09:00:00+08:00", "room", "consolidate", 1000, 0.25, "ok"),
        ("2026-03-02T09:05:00+08:00", "room", "refresh", 100, 0.5, "ok"),
        ("2026-03-03T09:00:00+08:00", "hall", "consolidate", 10, None, "timeout"),
        ("2026-03-03T09:01:00+08:00", "hall", "tidy", 1, 0.125, "ok"),
    ):
        store.append_usage(Usage(time, channel, task, "openai/m", tokens, 1, 0, cost, 1.5, outcome, "c"))


@pytest.mark.usefixtures("used")
def test_usage_adds_up_by_task(call: Call) -> None:
    """Unknown is not nothing: one call without a price makes the sum of its group unknown."""
    rows = {line["task"]: line for line in call("usage", "--json").lines}
    assert (rows["refresh"]["calls"], rows["refresh"]["tokens_in"], rows["refresh"]["cost"]) == (1, 100, 0.5)
    both = rows["consolidate"]
    assert (both["calls"], both["failed"], both["tokens_in"], both["cost"], both["known_cost"]) == (
        2,
        1,
        1010,
        None,
        0.25,
    )


@pytest.mark.usefixtures("used")
def test_usage_adds_up_by_channel_model_and_day(call: Call) -> None:
    """The same calls, another cut."""
    assert [line["calls"] for line in call("usage", "--by", "channel", "--json").lines] == [2, 2]
    assert [line["model"] for line in call("usage", "--by", "model", "--json").lines] == ["openai/m"]
    assert {str(line["day"]): line["tokens_in"] for line in call("usage", "--by", "day", "--json").lines} == {
        "2026-03-02": 1100, "2026-03-03": 11,
    }  # fmt: skip


@pytest.mark.usefixtures("used")
def test_the_table_has_a_total_and_says_unknown(call: Call) -> None:
    """What is known is summed, what is not is counted."""
    rows = [line.split("\t") for line in call("usage", "--since", "2026-03-03T00:00+08:00").out.splitlines()]
    assert rows[1:] == [
        ["consolidate", "1", "1", "10", "1", "0", "unknown"],
        ["tidy", "1", "0", "1", "1", "0", "$0.1250"],
        ["total", "2", "1", "11", "2", "0", "$0.1250 + 1 unknown"],
    ]


def test_no_call_at_all_says_so(call: Call) -> None:
    """The embedded rules cost nothing."""
    told = call("usage", "--since", "2026-03-03")
    assert (told.out, told.err) == ("", "no model was called since 2026-03-03\n")
