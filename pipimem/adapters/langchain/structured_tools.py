"""The tools of a channel's memory as LangChain's tools."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import StructuredTool, ToolException

from pipimem import Channel
from pipimem.runtime.tools.definitions import Language


def tools_of(channel: Channel, language: Language) -> list[StructuredTool]:
    """All tools; what a model does wrong comes back as the text of a failed call."""
    return [
        _tool(channel, definition["function"])
        for definition in channel.tools("openai", language=language)
    ]


def _tool(channel: Channel, definition: dict[str, Any]) -> StructuredTool:
    async def call(**arguments: object) -> str:
        result = await channel.call_tool(definition["name"], arguments)
        if result.is_error:
            raise ToolException(result.text)
        return result.text

    return StructuredTool(
        name=definition["name"],
        description=definition["description"],
        args_schema=definition["parameters"],
        coroutine=call,
        handle_tool_error=True,
    )
