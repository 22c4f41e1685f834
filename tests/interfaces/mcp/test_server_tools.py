"""The tools as MCP has them: annotations, structured output, and errors that say what to do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp_types import CallToolResult
from pipimem import Channel, Message, StoreError
from pipimem.errors import UnreadableNote
from pipimem.mcp.server import OUTPUT_SCHEMAS

from tests.interfaces.mcp.building import CHANNEL, MODERN, OLDER, Served, served

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", [MODERN, OLDER])
async def test_the_tools_say_what_they_do(root: Path, mode: str) -> None:
    """A host may let a model read without asking, and asks before it changes something."""
    async with served(root, mode=mode) as at:
        tools = {tool.name: tool for tool in (await at.client.list_tools()).tools}
    hints = {}
    for name, tool in tools.items():
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
        assert tool.output_schema is not None
        hint = tool.annotations
        hints[name] = (hint.read_only_hint, hint.destructive_hint, hint.idempotent_hint)
        assert tool.input_schema["properties"]["channel"]["type"] == "string"
    assert hints == {
        "memory_search": (True, False, True),
        "memory_save": (False, False, True),
        "memory_update": (False, True, True),
        "memory_forget": (False, True, True),
        "memory_feedback": (False, False, False),
    }


async def test_a_server_of_one_channel_has_tools_without_a_channel(root: Path) -> None:
    """The model need not know its id."""
    async with served(root, only="alone", language="zh") as at:
        for tool in (await at.client.list_tools()).tools:
            assert "channel" not in tool.input_schema["properties"]
            assert any("\u4e00" <= sign <= "\u9fff" for sign in tool.description or "")
        await at.call("memory_save", text="we never deploy on Fridays")
        assert "Fridays" in (at.folder / "MEMORY.md").read_text()


@pytest.mark.parametrize("mode", [MODERN, OLDER])
async def test_every_answer_fits_its_schema(root: Path, mode: str) -> None:
    """Each form of each tool, single and several, with what went wrong among them."""
    async with served(root, mode=mode) as at:
        said = Message("user", "the kiln takes eleven hours", id="m1", speaker="Dana")
        await at.channel.after_turn(None, [said])
        await _checked(at, "memory_search", query="kiln")
        await _checked(at, "memory_search", query="kiln", speaker="Nobody")
        await _checked(at, "memory_search", around="log:m1")
        saved = await _checked(at, "memory_save", text="the kiln takes ten hours", speaker="Tom")
        name = saved["changes"][0]["id"]
        again = await _checked(at, "memory_save", text="a kiln takes ten hours at most")
        assert again["similar"]
        await _checked(
            at, "memory_save", items=[{"text": "the staging port is 9443"}, {"text": " "}]
        )
        whole = await _checked(
            at, "memory_search", ids=["log:m1", name, "memory:nothing", "log:no"]
        )
        assert ["error" in one for one in whole["results"]] == [False, False, True, True]
        await _checked(at, "memory_feedback", id=name, helpful=True)
        await _checked(at, "memory_feedback", items=[{"id": name, "helpful": True}, {"id": "no"}])
        updated = await _checked(at, "memory_update", id=name, text="the kiln takes nine hours")
        name = updated["changes"][0]["id"]
        await _checked(at, "memory_update", items=[{"id": "nothing", "text": "x y z"}])
        shown = await _checked(at, "memory_forget", query="kiln")
        assert shown["would_take_out"]
        taken = await _checked(at, "memory_forget", ids=[name, "memory:nothing"])
        assert ["error" in one for one in taken["results"]] == [False, True]


async def _checked(at: Served, tool: str, **arguments: Any) -> dict[str, Any]:
    value = await at.call(tool, **arguments)
    schema = OUTPUT_SCHEMAS[tool]
    jsonschema.validate(value, schema)
    # A schema that takes anything would prove nothing.
    assert value.keys() <= schema["properties"].keys()
    for name in ("hits", "messages", "similar", "would_take_out"):
        for hit in value.get(name, []):
            _check_hit(hit)
    return value


def _check_hit(hit: dict[str, Any]) -> None:
    """As the words of the schema say."""
    assert hit.keys() == {"id", "text", "source"}
    assert isinstance(hit["id"], str)
    assert isinstance(hit["text"], str)
    source = hit["source"]
    assert source.keys() <= {"file", "section", "messages", "date", "speaker"}
    assert all(isinstance(name, str) for name in source.get("messages", []))
    assert all(isinstance(source[name], str) for name in source.keys() - {"messages"})
    assert source["file"]


def _text(result: CallToolResult) -> str:
    (content,) = result.content
    return str(content.text)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("memory_save", {"channel": CHANNEL}, "'text' is missing"),
        ("memory_save", {"channel": CHANNEL, "text": 7}, "'text' must be a text"),
        ("memory_save", {"channel": CHANNEL, "text": "x", "colour": "red"}, "no argument 'colour'"),
        ("memory_save", {"text": "x"}, "'channel' is missing"),
        ("memory_save", {"channel": "elsewhere", "text": "x"}, "no such conversation here"),
        ("memory_save", {"channel": "", "text": "x"}, "no such conversation here"),
        ("memory_save", {"channel": 7, "text": "x"}, "'channel' must be a text"),
        ("memory_save", {"channel": "a\0b", "text": "x"}, "no such conversation here"),
        ("memory_save", {"channel": "x" * 2_000, "text": "x"}, "no such conversation here"),
        ("memory_search", {"channel": CHANNEL, "query": "x", "count": "ten"}, "'count' must be"),
        ("memory_update", {"channel": CHANNEL, "id": "nothing", "text": "x"}, "nothing"),
        ("memory_purge", {"channel": CHANNEL}, "There is no tool 'memory_purge'"),
        ("forget", {"channel": CHANNEL, "query": "x"}, "There is no tool 'forget'"),
    ],
)
@pytest.mark.parametrize("mode", [MODERN, OLDER])
async def test_a_mistake_is_told_and_nothing_is_done(
    root: Path, mode: str, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    """The model can put it right."""
    async with served(root, mode=mode) as at:
        await at.call("memory_save", text="we never deploy on Fridays")
        before = (at.folder / "MEMORY.md").read_text()
        result = await at.client.call_tool(tool, arguments)
        assert result.is_error
        assert sentence in _text(result)
        assert (at.folder / "MEMORY.md").read_text() == before
        assert [info.id for info in await at.memory.pipimem.channels()] == [CHANNEL]


@pytest.mark.parametrize("channel", ["alone", "other"])
async def test_a_server_of_one_channel_takes_no_channel(root: Path, channel: str) -> None:
    """Another one's memory stays as it is."""
    async with served(root, only="alone") as at:
        await at.memory.pipimem.channel("other")
        result = await at.client.call_tool("memory_save", {"channel": channel, "text": "we moved"})
        assert result.is_error
        assert "leave 'channel' out. Nothing was done." in _text(result)
        assert not list(root.glob("channels/*/MEMORY.md"))


async def test_a_call_tells_what_it_took(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error with PIPIMEM_DEBUG, without what was said."""
    monkeypatch.setenv("PIPIMEM_DEBUG", "1")
    async with served(root, only="alone") as at:
        await at.call("memory_save", text="we never deploy on Fridays")
        await at.client.call_tool("Friday's tool")
    told = capsys.readouterr().err
    assert re.search(r"^pipimem mcp memory_save: \d+\.\d\d ms$", told, re.MULTILINE)
    assert re.search(r"^pipimem mcp unknown tool: \d+\.\d\d ms$", told, re.MULTILINE)
    assert "Friday" not in told


@pytest.mark.parametrize("error", [StoreError, UnreadableNote, OSError])
async def test_a_disk_that_refuses_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """As an answer of the tool."""

    async def full(*_: object, **__: object) -> None:
        raise error("no space is left on the disk")

    monkeypatch.setattr(Channel, "call_tool", full)
    async with served(root, only="alone") as at:
        result = await at.client.call_tool("memory_save", {"text": "we moved"})
        assert result.is_error
        assert "no space is left" in _text(result)
