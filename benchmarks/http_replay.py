"""Whole transcripts replayed through litellm over real HTTP: is every call in the ledger, to the
token?

usage: python -m benchmarks.http_replay TRANSCRIPT.jsonl...

The server on loopback is the tests' own: it answers each window with one fact and one line of
history, so the figures say what the plumbing does, not what a model knows.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import anyio
from pipimem import Pipimem, Settings
from pipimem.runtime.replay import EventTime, recorded, replay
from pipimem.settings import MaintenanceSettings
from pipimem.store.workspace import WorkspaceStore
from tests.servers.openai import ChatRequest, OpenAIServer, Reply

from benchmarks.machine import heading

_LINE = re.compile(r"^\[([^\]]+)\] \d{4}\S+ \w{3} \d\d:\d\d ([^:：]+): ", re.MULTILINE)
_BULLET = re.compile(r"^\[(\w{8})\] (.+)$", re.MULTILINE)


def respond(request: ChatRequest) -> Reply:
    """What a plain but honest model would say."""
    keys = request.schema["properties"] if request.schema else {}
    lines = _LINE.findall(request.user)
    if "learned" in keys:
        if not lines:  # a window without a message: there is nothing to learn from it
            return _said({"learned": [], "over": [], "title": "", "history": []})
        first, last = lines[0], lines[-1]
        fact = {
            "sources": [first[0]], "speaker": first[1],
            "text": f"{first[1]} spoke first in {first[0]}", "kind": "fact",
            "necessity": "high", "confidence": 0.9, "explicit": False, "replaces": [],
        }  # fmt: skip
        told = {"sources": [first[0]], "text": f"the talk went from {first[0]} to {last[0]}"}
        answer = {"learned": [fact], "over": [], "title": "Talk", "history": [told]}
        lists = keys.get("sheet", {}).get("properties", {})
        return _said({**answer, "sheet": _sheet(lists, last[0])} if lists else answer)
    if "current_state" in keys:
        return _said({**_sheet(keys, lines[-1][0] if lines else ""), "title": "Talk"})
    if "merge" in keys:
        return _said({"drop": [], "merge": [], "move": []})
    bullets = _BULLET.findall(request.user)
    kept = [{"sources": [name], "text": text} for name, text in bullets[:3]]
    return _said({"title": "Folded", "bullets": kept})


def _sheet(lists: Iterable[str], last: str) -> dict[str, object]:
    return {**{key: [] for key in lists}, "current_state": [f"up to {last}"]}


def _said(answer: dict[str, object]) -> Reply:
    return Reply(json.dumps(answer, ensure_ascii=False))


async def measured(path: Path, root: Path, server: OpenAIServer) -> None:
    """Two replays of one transcript, and what they cost."""
    started, before = time.perf_counter(), server.billed
    first = await _replayed(path, root)
    seconds, billed = time.perf_counter() - started, server.billed
    second = await _replayed(path, root)
    usages = [usage for usage in WorkspaceStore.open(root).usages() if usage.channel == path.stem]
    ledger = len(usages), sum(u.tokens_in for u in usages), sum(u.tokens_out for u in usages)
    server_side = tuple(
        getattr(billed, name) - getattr(before, name) for name in ("calls", "prompt", "completion")
    )
    print(f"{path.stem}: {first} new messages in {seconds:.1f} s, a second replay {second} more")
    print(
        f"  calls, tokens in, tokens out: ledger {ledger}, server {server_side}, "
        f"equal: {ledger == server_side}"
    )
    print(f"  calls of the second replay: {server.billed.calls - billed.calls}")


async def _replayed(path: Path, root: Path) -> int:
    when = EventTime()
    settings = replace(Settings(), maintenance=MaintenanceSettings(enabled=False))
    async with Pipimem(root, "openai/test", settings=settings, clock=when.clock()) as pipimem:
        channel = await pipimem.channel(path.stem, kind="group")
        return (await replay(channel, recorded(path), when, compact_every=60, maintain=True)).new


def main() -> None:
    """Replay every transcript named on the command line."""
    print(heading("Replay over HTTP", "litellm"))
    with tempfile.TemporaryDirectory() as folder, OpenAIServer(respond) as server:
        os.environ |= {"OPENAI_API_BASE": f"{server.url}/v1", "OPENAI_API_KEY": "x"}
        root = Path(folder) / "workspace"
        WorkspaceStore.init(root)
        for name in sys.argv[1:]:
            anyio.run(measured, Path(name), root, server)


if __name__ == "__main__":
    main()
