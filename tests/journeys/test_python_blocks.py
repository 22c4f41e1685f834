"""Every Python block of README and guide runs as it stands, on the workspace of README.

Those of frameworks.md need their libraries (test_framework_recipes.py, tests/interfaces/adapters),
that of testing.md is a test of its own (tests/test_testing.py).
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pipimem import Channel, Message, Operation, Pipimem, SearchHit, Trust

from tests.journeys.readme import ROOT

GUIDE = sorted((ROOT / "docs/guide").rglob("*.md"))
ELSEWHERE = {"frameworks.md", "testing.md"}
PAGES = [ROOT / "README.md", ROOT / "README.zh-CN.md", *GUIDE]
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.anyio


def blocks(page: Path) -> list[str]:
    return [] if page.name in ELSEWHERE else _BLOCK.findall(page.read_text("utf-8"))


async def run(block: str, names: dict[str, Any]) -> None:
    """Runs a block that may await, as in the middle of a function of the host's."""
    code = compile(block, "block", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    waiting = eval(code, names)
    if waiting is not None:
        await waiting


async def taken_for_granted(pipimem: Pipimem, channel: Channel) -> dict[str, Any]:
    """What the pages speak of and the host has: its model, its question, a message that came."""

    async def your_llm(context: str, asked: str) -> str:
        return f"{asked} {len(context)}"

    async def your_question(_words: str, hits: Sequence[SearchHit]) -> Sequence[SearchHit]:
        return hits

    asked = "Forget what I said about new_checkout."
    return {
        "pipimem": pipimem,
        "channel": channel,
        "turn": await channel.before_turn(asked, speaker="林晓"),
        "text": "the code of the lab is 4711",
        "name": "林晓",
        "messages": [Message.user("the code of the lab is 4711", speaker="林晓")],
        "your_llm": your_llm,
        "your_question": your_question,
        "asynccontextmanager": asynccontextmanager,
        "AsyncIterator": AsyncIterator,
        "FastAPI": object,
        "Operation": Operation,
        "Trust": Trust,
        "timedelta": timedelta,
    }


@pytest.fixture
async def names(
    readme_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[dict[str, Any]]:
    monkeypatch.delenv("PIPIMEM_MODEL", raising=False)
    shutil.copytree(readme_folder / "workspace", tmp_path / "workspace")
    monkeypatch.chdir(tmp_path)
    async with Pipimem("workspace") as pipimem:
        channel = await pipimem.channel("release-room", create=False)
        yield await taken_for_granted(pipimem, channel)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT))
)
async def test_every_python_block_runs_as_it_stands(page: Path, names: dict[str, Any]) -> None:
    """One after the other; what a block defines the next one has."""
    for block in blocks(page):
        await run(block, names)


@pytest.mark.parametrize("folder", ["docs/guide", "docs/guide/zh-CN"])
class TestWhatTheBlocksDo:
    """What stands beside a block is what it does."""

    async def test_a_request_to_forget_is_carried_out(
        self, folder: str, names: dict[str, Any]
    ) -> None:
        """editing.md: with what the person chose."""
        assert [one.text for one in names["turn"].requests] == ["new_checkout"]
        for block in blocks(ROOT / folder / "editing.md"):
            await run(block, names)
        assert names["chosen"]
        gone = {hit.item.id for hit in names["chosen"]}
        left = await names["channel"].talk.search("new_checkout")
        assert gone.isdisjoint({hit.item.id for hit in left})

    async def test_a_turn_off_the_record_stores_nothing(
        self, folder: str, names: dict[str, Any]
    ) -> None:
        """privacy.md."""
        for block in blocks(ROOT / folder / "privacy.md"):
            await run(block, names)
        log = (Path("workspace/channels/release-room") / "log.jsonl").read_text("utf-8")
        assert "4711" not in log

    async def test_the_searches_find_something(self, folder: str, names: dict[str, Any]) -> None:
        """searching.md: a message of that speaker, and what was said around it."""
        for block in blocks(ROOT / folder / "searching.md"):
            await run(block, names)
        assert {hit.item.speaker for hit in names["hits"]} == {"老周"}
        assert names["hits"][0].item.id in {item.id for item in names["around"]}
        assert {entry.trust for entry in names["stale"]} <= {Trust.INFERRED}
        numbers = [change.number for change in names["changes"]]
        assert numbers
        assert numbers == sorted(numbers, reverse=True)

    async def test_a_call_of_a_model_is_answered(self, folder: str, names: dict[str, Any]) -> None:
        """tools.md: the result goes back as a message of the tool."""
        for block in blocks(ROOT / folder / "tools.md"):
            await run(block, names)
        function = SimpleNamespace(name="memory_search", arguments='{"query": "rollback"}')
        call = SimpleNamespace(id="c1", function=function)
        message = SimpleNamespace(tool_calls=[call])

        async def create(**asked: Any) -> SimpleNamespace:
            assert "memory_search" in {one["function"]["name"] for one in asked["tools"]}
            return SimpleNamespace(choices=[SimpleNamespace(message=message)])

        client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
        messages: list[dict[str, str]] = []
        await names["answer"](client, "model", messages)
        (answer,) = messages
        assert (answer["role"], answer["tool_call_id"]) == ("tool", "c1")
        assert "rollback" in answer["content"]

    async def test_an_observer_is_told_of_what_is_slow(
        self, folder: str, names: dict[str, Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """observability.md: and the metrics are text."""
        for block in blocks(ROOT / folder / "observability.md"):
            await run(block, names)
        assert names["text"].startswith("# HELP pipimem_")
        slow = Operation("recall", "release-room")
        slow.seconds = 1.5
        names["Slow"]().end(slow, None)
        assert capsys.readouterr().out.startswith("recall")

    async def test_a_lifespan_starts_and_closes(self, folder: str, names: dict[str, Any]) -> None:
        """operating.md."""
        for block in blocks(ROOT / folder / "operating.md"):
            await run(block, names)
        await names["pipimem"].aclose()
        async with names["lifespan"](None):
            assert names["pipimem"].is_started
        assert not names["pipimem"].is_started
