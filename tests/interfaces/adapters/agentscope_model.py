"""A chat model of AgentScope that answers as it is told, and keeps what it was sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentscope.credential import CredentialBase
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock, ToolCallBlock
from agentscope.model import ChatModelBase, ChatResponse, StructuredResponse


class ScriptedModel(ChatModelBase):
    """`answers` are texts, blocks of a tool call, or exceptions; the last one repeats."""

    def __init__(self, *answers: object, context_size: int = 100_000) -> None:
        super().__init__(
            CredentialBase(type="scripted"),
            "scripted",
            self.Parameters(),
            stream=False,
            context_size=context_size,
        )
        self.formatter = OpenAIChatFormatter()  # newer versions ask it which media a model takes
        self.answers = [*answers] or ["ok"]
        self.calls: list[list[Msg]] = []
        self.tools: list[str] = []

    async def _call_api(
        self, model_name: str, messages: list[Msg], tools: Any = None, **_: Any
    ) -> ChatResponse:
        self.calls.append([*messages])
        self.tools = [tool["function"]["name"] for tool in tools or ()]
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        block = TextBlock(text=answer) if isinstance(answer, str) else answer
        return ChatResponse(content=[block], is_last=True)

    async def generate_structured_output(
        self, messages: list[Msg], structured_model: Any, **_: Any
    ) -> StructuredResponse:
        """The summary that a compaction asks for."""
        fields = structured_model["properties"]
        return StructuredResponse(content={name: f"summary of {name}" for name in fields})

    def sent(self, call: int = -1) -> str:
        """All that one call was sent."""
        return "\n".join(texts(self.calls[call]))


def texts(messages: Sequence[Msg]) -> list[str]:
    return [message.get_text_content() or "" for message in messages]


def tool_call(name: str, arguments: str, call: str = "call-1") -> ToolCallBlock:
    return ToolCallBlock(id=call, name=name, input=arguments)
