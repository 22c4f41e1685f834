"""`pipimem usage`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from pipimem.notes.usage import Usage
from pipimem.store.workspace import WorkspaceStore

from tests.cli.conftest import Call
from tests.journeys.test_budgets import fitting_reply
from tests.servers.openai import ChatRequest, OpenAIServer, Reply, broken


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
        store.usage_store.append(
            Usage(time, channel, task, "openai/m", tokens, 1, 0, cost, 1.5, outcome, "c")
        )


@pytest.mark.usefixtures("used")
def test_usage_adds_up_by_task(call: Call) -> None:
    """Unknown is not nothing: one call without a price makes the sum of its group unknown."""
    rows = {line["task"]: line for line in call("usage", "--json").lines}
    assert (rows["refresh"]["calls"], rows["refresh"]["tokens_in"], rows["refresh"]["cost"]) == (
        1,
        100,
        0.5,
    )
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
    assert [line["model"] for line in call("usage", "--by", "model", "--json").lines] == [
        "openai/m"
    ]
    assert {str(line["day"]): line["tokens_in"] for line in call("usage", "--by", "day", "--json").lines} == {
        "2026-03-02": 1100, "2026-03-03": 11,
    }  # fmt: skip


@pytest.mark.usefixtures("used")
def test_the_table_has_a_total_and_says_unknown(call: Call) -> None:
    """What is known is summed, what is not is counted."""
    rows = [
        line.split("\t")
        for line in call("usage", "--since", "2026-03-03T00:00+08:00").out.splitlines()
    ]
    assert rows[1:] == [
        ["consolidate", "1", "1", "10", "1", "0", "0", "unknown"],
        ["tidy", "1", "0", "1", "1", "0", "0", "$0.1250"],
        ["total", "2", "1", "11", "2", "0", "0", "$0.1250 + 1 unknown"],
    ]


def test_what_was_estimated_stands_apart(call: Call, bot: Path) -> None:
    """The sums are the provider's own; a timeout's guess is beside them, and a refused request
    cost nothing.
    """
    store = WorkspaceStore.open(bot)
    told = Usage(
        "2026-03-02T09:00:00+08:00", "room", "refresh", "openai/m", 100, 10, 40, 0.5, 1.5, "ok", "c"
    )
    store.usage_store.append(told)
    store.usage_store.append(
        structs.replace(told, tokens_in=0, tokens_out=0, tokens_cached=0, cost=None, outcome="timeout",
                estimated_in=90, estimated_out=4000, estimated_cost=0.25)
    )  # fmt: skip
    store.usage_store.append(
        structs.replace(
            told, tokens_in=0, tokens_out=0, tokens_cached=0, cost=None, outcome="error"
        )
    )
    row = call("usage", "--json").object
    assert (
        row["calls"],
        row["failed"],
        row["tokens_in"],
        row["tokens_out"],
        row["tokens_cached"],
    ) == (
        3,
        2,
        100,
        10,
        40,
    )
    assert (row["estimated_tokens"], row["estimated_cost"]) == (4090, 0.25)
    assert (row["cost"], row["known_cost"], row["unpriced"]) == (None, 0.5, 0)
    assert call("usage").out.splitlines()[1].endswith("\t4090\t$0.5000 + about $0.2500")


@pytest.mark.usefixtures("used")
def test_every_call_can_be_listed(call: Call) -> None:
    """One line for each, with its fields as JSON: what a correlation leads to is found by `grep`."""
    lines = call("usage", "--by", "call", "--json").lines
    assert len(lines) == 4
    assert {"time", "channel", "task", "model", "outcome", "correlation", "reason"} <= set(lines[0])
    assert len(call("usage", "--by", "call").out.splitlines()) == 5


def test_no_call_at_all_says_so(call: Call) -> None:
    """The offline rules cost nothing."""
    told = call("usage", "--since", "2026-03-03")
    assert (told.out, told.err) == ("", "no model was called since 2026-03-03\n")


@pytest.mark.parametrize("by", ["task", "channel", "model", "day"])
def test_every_cut_adds_up_to_what_the_server_billed(
    call: Call, conversation: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """Over real HTTP, to the token and with the list's price; a failed attempt is a call of its
    own.
    """

    def respond(request: ChatRequest) -> Reply:
        return broken() if request.number == 1 else replace(fitting_reply(request), cached_tokens=7)

    with OpenAIServer(respond) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        for channel in ("room", "hall"):
            call("replay", channel, str(conversation), model="openai/gpt-5-mini")
    rows, billed = call("usage", "--by", by, "--json").lines, server.billed

    def total(field: str) -> float:
        return sum(row[field] for row in rows)  # type: ignore[misc]

    assert (total("calls"), total("failed")) == (len(server.requests), 1)
    assert (total("tokens_in"), total("tokens_out"), total("tokens_cached")) == (
        billed.prompt, billed.completion, billed.cached,
    )  # fmt: skip
    fresh = billed.prompt - billed.cached
    assert total("cost") == pytest.approx(
        fresh * 2.5e-7 + billed.cached * 2.5e-8 + billed.completion * 2e-6
    )
    assert total("unpriced") == total("estimated_tokens") == 0


def test_without_a_call_there_is_json_too(call: Call) -> None:
    """A line of zeros: a script that reads JSON must find some."""
    line = call("usage", "--json").object
    assert (line["task"], line["calls"], line["tokens_in"]) == ("total", 0, 0)
    assert call("usage", "--by", "day", "--json").object["day"] == "total"
