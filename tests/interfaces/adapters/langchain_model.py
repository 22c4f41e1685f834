"""A chat model of LangChain that answers as it is told, and keeps what it was sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr


class ScriptedChatModel(BaseChatModel):
    """`answers` are texts, messages or exceptions; the last one repeats."""

    _answers: list[object] = PrivateAttr(default_factory=lambda: ["ok"])
    _calls: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _tools: list[str] = PrivateAttr(default_factory=list)

    @classmethod
    def of(cls, *answers: object) -> ScriptedChatModel:
        model = cls()
        model._answers = [*answers] or ["ok"]
        return model

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> ScriptedChatModel:
        self._tools = [tool.name for tool in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self._calls.append([*messages])
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, BaseException):
            raise answer
        message = AIMessage(answer) if isinstance(answer, str) else answer
        return ChatResult(generations=[ChatGeneration(message=message.model_copy())])

    @property
    def calls(self) -> list[list[BaseMessage]]:
        return self._calls

    @property
    def tools(self) -> list[str]:
        return self._tools

    def sent(self, call: int = -1) -> str:
        """All that one call was sent."""
        return "\n".join(texts(self._calls[call]))


def texts(messages: Sequence[BaseMessage]) -> list[str]:
    return [str(message.text) for message in messages]


def tool_call(name: str, arguments: dict[str, Any], call: str = "call-1") -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": call}])
