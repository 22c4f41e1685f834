"""The tools for a model, as MCP lists and calls them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from pipimem.errors import ArgumentError, PipimemError
from pipimem.runtime.debug_lines import debug_line
from pipimem.runtime.tools.calls import ToolResult, refused
from pipimem.runtime.tools.definitions import ALIASES, CHANNEL, Language, definitions, tool_named

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem

# Clients check each answer against its schema, in Python at 30 µs a value: that of a hit names what
# it has, and says in words of what types.
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


def _object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def _list(description: str, *required: str) -> dict[str, Any]:
    items = {"type": "object", "required": list(required)}
    return {"type": "array", "items": items, "description": description}


_HITS = _list(
    "Each has its id, its text, and its source: an object with file, section, messages (a list of "
    "ids), date and speaker, without what is not known.",
    "id",
    "text",
    "source",
)
_WHOLE = _list(
    "For each id its text and its source, with the trust and the messages of an entry; or an "
    "error, and of which id."
)
_CHANGE = _object(
    {"done": _TEXT, "id": _TEXT, "before": _TEXT, "after": _TEXT, "section": _TEXT}, "done", "id"
)
_CHANGED = {"changes": {"type": "array", "items": _CHANGE}, "note": _TEXT}
_SAVED = {**_CHANGED, "similar": _HITS}
_EACH = _list(
    "Of several calls in one: for each what it answers alone, or an error, and of which item."
)

OUTPUT_SCHEMAS: Mapping[str, dict[str, Any]] = {
    "memory_search": _object({"hits": _HITS, "messages": _HITS, "results": _WHOLE, "note": _TEXT}),
    "memory_save": _object({**_SAVED, "results": _EACH}),
    "memory_update": _object({**_CHANGED, "results": _EACH}),
    "memory_forget": _object(
        {"would_take_out": _HITS, "taken_out": _TEXTS, "results": _EACH, "note": _TEXT}
    ),
    "memory_feedback": _object({**_CHANGED, "id": _TEXT, "results": _EACH}),
}
"""By tool; a call that could not be carried out has no structured result."""


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """The tools of all conversations of a workspace, or of the one channel `only`."""

    pipimem: Pipimem
    language: Language = "en"
    only: str | None = None

    def listed(self) -> list[Tool]:
        """The tools with their schemas, and what a host may know of them before it asks."""
        texts = definitions("anthropic", self.language, with_channel=self.only is None)
        return [_listed(text) for text in texts]

    def changed(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The id of the channel whose memory a call that went well may have changed, else empty."""
        if name == "memory_search":
            return ""
        return str(arguments[CHANNEL]) if self.only is None else self.only

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Carry out a call; whatever is wrong with it stands in the result."""
        began = time.perf_counter()
        try:
            result = await self._called(name, arguments)
        except (PipimemError, OSError) as error:
            result = refused(error)
        milliseconds = (time.perf_counter() - began) * 1000
        debug_line(f"mcp {_known(name)}: {milliseconds:.2f} ms")
        return _answer(result)

    async def _called(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        if self.only is None:
            return await self.pipimem.call_tool(name, arguments)
        if CHANNEL in arguments:
            return refused(
                ArgumentError(
                    "This server serves one conversation alone: leave 'channel' out. "
                    "Nothing was done."
                )
            )
        channel = await self.pipimem.channel(self.only)
        return await channel.call_tool(name, arguments)


def _known(name: str) -> str:
    """A name as it may stand in a line."""
    return name if name in OUTPUT_SCHEMAS or name in ALIASES else "unknown tool"


def _listed(text: Mapping[str, Any]) -> Tool:
    tool = tool_named(text["name"])
    return Tool(
        name=tool.name,
        description=text["description"],
        input_schema=text["input_schema"],
        output_schema=OUTPUT_SCHEMAS[tool.name],
        annotations=ToolAnnotations(
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _answer(result: ToolResult) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=result.text)],
        structured_content=None if result.is_error else result.value,
        is_error=result.is_error,
    )
