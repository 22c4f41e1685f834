"""Budgets over real HTTP: the rules go on when the money is spent, and no server can make us
spend more.
"""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from pipimem import Pipimem
from pipimem.errors import StoreError
from pipimem.llm.admission import Admission
from pipimem.settings import BudgetSettings, Limit, MaintenanceSettings, ModelSettings, Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.building import read, say, workspace
from tests.servers.openai import ChatRequest, OpenAIServer, Reply, broken, too_many

pytestmark = pytest.mark.anyio

_ID = re.compile(r"^\[([^\]]+)\] (?!\()", re.MULTILINE)


def limited(tokens: float, *, own: float = inf, cost: float = inf, **model: float) -> Settings:
    return Settings(
        model=replace(ModelSettings(), **model),  # type: ignore[arg-type]
        maintenance=MaintenanceSettings(enabled=False),
        budget=BudgetSettings(Limit(tokens), Limit(cost), Limit(own), Limit(cost)),
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")


def at(monkeypatch: pytest.MonkeyPatch, server: OpenAIServer) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")


def fitting_reply(request: ChatRequest) -> Reply:
    """Always work to do: a fact nobody has heard of, on the newest message; other tasks done
    plainly.
    """
    keys = request.schema["properties"] if request.schema else {}
    ids = _ID.findall(request.user)
    if "learned" in keys:
        learned = {
            "kind": "fact", "text": f"Finding {'i' * request.number} of the lantern survey", "sources": [ids[-1]],
            "speaker": "Dana", "necessity": "high", "explicit": False, "replaces": [],
        }  # fmt: skip
        history = [{"text": f"the survey went on with {ids[-1]}", "sources": [ids[-1]]}]
        return said({"learned": [learned], "over": [], "title": "Survey", "history": history})
    if "current_state" in keys:
        empty: dict[str, object] = {key: [] for key in keys}
        return said({**empty, "title": "Survey", "current_state": [f"step {request.number}"]})
    if "merge" in keys:
        return said({"merge": [], "move": [], "drop": []})
    return said({"title": "Folded", "bullets": [{"text": "much was found", "sources": ids[:1]}]})


def said(answer: dict[str, object]) -> Reply:
    return Reply(json.dumps(answer, ensure_ascii=False))


def actors(root: Path) -> list[str]:
    """Return the actors of the changes of a file."""
    store = ChannelStore.open(WorkspaceStore.open(root), "room", create=False)
    return [record.actor for record in store.changes() if record.task in {"refresh", "consolidate"}]


async def test_with_the_budget_spent_the_rules_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request is made, the memory is kept all the same, and the changes say by whom."""
    root = workspace(tmp_path)
    with OpenAIServer(fitting_reply) as server:
        at(monkeypatch, server)
        async with Pipimem(root, "openai/m", settings=limited(0)) as pipimem:
            channel = await pipimem.channel("room", kind="group")
            await say(channel, "Remember: the port of the lantern service is 8443.")
            receipt = await channel.before_compaction(deadline=120)
    assert receipt.may_compact
    assert server.requests == ()
    assert "8443" in read(root)
    assert read(root, "SESSION.md") != ""
    assert set(actors(root)) == {"offline"}
    assert list(WorkspaceStore.open(root).usages()) == []


async def test_the_changes_tell_the_model_from_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the budget lasts the model thinks, and after that the rules."""
    root = workspace(tmp_path)
    with OpenAIServer(fitting_reply) as server:
        at(monkeypatch, server)
        async with Pipimem(root, "openai/m", settings=limited(20_000)) as pipimem:
            channel = await pipimem.channel("room", kind="group")
            for number in range(12):
                await say(channel, f"Remember: lamp {number} burns {number} litres.")
                await channel.before_compaction(deadline=120)
    told = actors(root)
    assert told[0] == "openai/m"
    assert told[-1] == "offline"
    assert "Finding i" in read(root)
    assert "lamp 11" in read(root)
    assert server.billed.prompt + server.billed.completion <= 20_000


async def test_the_ledger_equals_the_bill_to_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accepted, refused, cached, failed: each attempt is one line, and the sums are the
    provider's own.
    """
    root = workspace(tmp_path)
    odd = {
        1: broken(),
        2: too_many(0),
        4: Reply("no"),
        6: Reply('{"learned": [', finish_reason="length"),
    }

    def respond(request: ChatRequest) -> Reply:
        return odd.get(request.number) or replace(fitting_reply(request), cached_tokens=64)

    with OpenAIServer(respond) as server:
        at(monkeypatch, server)
        async with Pipimem(root, "openai/gpt-5-mini", settings=limited(inf)) as pipimem:
            channel = await pipimem.channel("room", kind="group")
            for number in range(4):
                await say(channel, f"Remember: lamp {number} burns {number} litres.")
                await channel.before_compaction(deadline=120)
        billed = server.billed
    usages = list(WorkspaceStore.open(root).usages())
    assert len(usages) == len(server.requests)
    assert sum(usage.tokens_in for usage in usages) == billed.prompt
    assert sum(usage.tokens_out for usage in usages) == billed.completion
    assert sum(usage.tokens_cached for usage in usages) == billed.cached > 0
    assert sum(usage.estimated_in + usage.estimated_out for usage in usages) == 0
    outcomes = [usage.outcome for usage in usages]
    assert (outcomes.count("error"), outcomes.count("refused")) == (2, 2)
    assert all(usage.cost is None for usage in usages if usage.outcome == "error")
    assert all(usage.cost for usage in usages if usage.outcome == "ok")


async def test_a_commit_that_cannot_be_made_is_not_paid_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer was accepted and the disk refused it: asking again would cost, and come to
    nothing again.
    """
    root = workspace(tmp_path)
    with OpenAIServer(fitting_reply) as server:
        at(monkeypatch, server)
        async with Pipimem(root, "openai/m", settings=limited(inf)) as pipimem:
            channel = await pipimem.channel("room", kind="group")
            await say(channel, "The lantern port is 8443.")

            def full(*_: object, **__: object) -> None:
                raise StoreError("The disk is full.")

            with monkeypatch.context() as disk:
                disk.setattr(ChannelStore, "commit", full)
                for _ in range(5):
                    await channel.before_compaction(deadline=120)
            tasks = [usage.task for usage in WorkspaceStore.open(root).usages()]
            assert tasks == ["consolidate"]


def test_threads_that_ask_at_once_get_one_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two would count what the other lets out only once it has ended."""
    made: list[object] = []
    slowly = Admission.__init__

    def init(self: Admission, *words: object) -> None:
        made.append(self)
        time.sleep(0.05)
        slowly(self, *words)  # type: ignore[arg-type]

    monkeypatch.setattr(Admission, "__init__", init)
    pipimem = Pipimem(workspace(tmp_path), "offline")
    with ThreadPoolExecutor(8) as threads:
        found = [threads.submit(pipimem._assistants.admission) for _ in range(8)]
    assert len({id(one.result()) for one in found}) == len(made) == 1
