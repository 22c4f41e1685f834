"""The main job through litellm over real HTTP: what the server billed is what the ledger says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pipimem import Pipimem
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.replay import EventTime, recorded, replay
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.building import settings, workspace
from tests.runtime.test_replay import EXAMPLE, texts
from tests.servers.openai import ChatRequest, OpenAIServer, Reply

# The messages of a window as the prompt shows them: "[1] 2026-03-02 Mon 09:10 Dana: text".
_LINE = re.compile(r"^\[(\d+)\] (\S+ \w{3} \S+) ([^:：]+): .+$", re.MULTILINE)
_BULLET = re.compile(r"^\[(\w+)\] (.+)$", re.MULTILINE)


def respond(request: ChatRequest) -> Reply:
    """What a plain but honest model would say: one fact and two history lines of each window."""
    keys = request.schema["properties"] if request.schema else {}
    lines = _LINE.findall(request.user)
    if "learned" in keys:
        first, last = lines[0], lines[-1]
        learned = {
            "kind": "fact", "text": f"{first[2]} spoke first on {first[1]}", "sources": [first[0]], "speaker": first[2],
            "necessity": "high", "explicit": False, "replaces": [],
        }  # fmt: skip
        history = [
            {"text": f"the talk went from {first[1]} to {last[1]}", "sources": [first[0], last[0]]}
        ]
        learnt = {"learned": [learned], "over": [], "title": "Release room", "history": history}
        line = {"list": "current_state", "text": f"up to {last[1]}"}
        sheet = {"remove": [], "add": [line]}
        return said({**learnt, "sheet": sheet} if "sheet" in keys else learnt)
    if "merge" in keys:
        return said({"merge": [], "move": [], "drop": []})
    bullets = _BULLET.findall(request.user)
    return said(
        {"title": "Folded", "bullets": [{"text": bullets[0][1], "sources": [bullets[0][0]]}]}
    )


def said(answer: dict[str, object]) -> Reply:
    return Reply(json.dumps(answer, ensure_ascii=False))


@pytest.mark.anyio
async def test_replay_over_http_bills_what_the_ledger_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call is in the ledger with the provider's own counts, and a second replay asks
    nothing.
    """
    root = workspace(tmp_path)
    with OpenAIServer(respond) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        sources = await replayed(root)
        billed = server.billed
        before = texts(root)
        await replayed(root)
        assert server.billed == billed
    usages = list(WorkspaceStore.open(root).usages())
    assert sum(usage.tokens_in for usage in usages) == billed.prompt
    assert sum(usage.tokens_out for usage in usages) == billed.completion
    assert len(usages) == billed.calls == 5
    assert {usage.task for usage in usages} == {"consolidate"}
    assert texts(root) == before
    assert "Dana spoke first on 2026-03-02 Mon 09:32" in before["MEMORY.md"]
    assert "- up to 2026-03-12 Thu 11:40" in before["SESSION.md"]
    assert ("rr-001",) in sources


async def replayed(root: Path) -> list[tuple[str, ...]]:
    """A replay; the messages that each thing learnt rests on."""
    messages, when = recorded(EXAMPLE), EventTime()
    async with Pipimem(root, "openai/test", settings=settings(), clock=when.clock()) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        report = await replay(channel, messages, when, compact_every=30, maintain=True)
        records = (await upkeep_of(channel).notes()).ledger.records
    assert report.reasons == []
    return [record.sources for record in records.values()]
