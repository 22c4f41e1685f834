"""What the items of the OpenAI Agents SDK say: messages, calls of tools and their outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_OUTPUT = "function_call_output"


def role_of(item: Mapping[str, Any]) -> str:
    """`user`, `assistant` or another role of a message, `tool` for an output, else nothing."""
    if item.get("type") == _OUTPUT:
        return "tool"
    return str(item.get("role")) if item.get("type") in (None, "message") else ""


def text_of(item: Mapping[str, Any]) -> str:
    """The words of a message or of a tool's output; pictures and files have none."""
    content = item.get("output" if item.get("type") == _OUTPUT else "content")
    return content if isinstance(content, str) else "\n".join(_texts(content))


def _texts(content: object) -> Iterator[str]:
    for part in content if isinstance(content, list) else ():
        text = part.get("text") or part.get("refusal") if isinstance(part, Mapping) else None
        if isinstance(text, str):
            yield text


def with_text_before(item: Mapping[str, Any], text: str) -> Any:  # noqa: ANN401 - an item, as it was
    """A copy of a user's message with a text in front of its content."""
    content = item["content"]
    if isinstance(content, str):
        return {**item, "content": f"{text}\n\n{content}"}
    return {**item, "content": [{"type": "input_text", "text": text}, *content]}


def ends_turn(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the items hold an answer, and no call of a tool that is still to be answered."""
    is_answered = any(role_of(item) == "assistant" for item in items)
    return is_answered and not any(item.get("type") == "function_call" for item in items)
