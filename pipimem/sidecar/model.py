"""The assistant that asks models: it sends a task's prompt and schema, and parses the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipimem.errors import AnswerRefused
from pipimem.llm.client import RetryingClient
from pipimem.llm.request import ModelRequest, PromptMessage, Schema
from pipimem.notes.message import Message
from pipimem.sidecar.answer_schemas import answer_schema, max_tokens, parse_answer
from pipimem.sidecar.prompts import Prompts, placeholder_values
from pipimem.sidecar.short_ids import ShortIds
from pipimem.sidecar.tasks import Answer, Call, Consolidate, Refresh, Task, task_name

_CHAT_TOKENS = 4000


@dataclass(frozen=True, slots=True)
class ModelAssistant:
    """`Assistant` that asks the models of `client`, in their order."""

    client: RetryingClient
    prompts: Prompts

    @property
    def name(self) -> str:
        """The first model's name."""
        return self.client.models[0]

    @property
    def paid(self) -> bool:
        """True: a request may cost something."""
        return True

    async def answer(self, task: Task, call: Call) -> Answer:
        """The first acceptable answer. Raises `SidecarError` when no model gave one."""
        name, ids = task_name(task), ShortIds.of(task)
        asked = ids.shortened(task)
        system, user = self.prompts.rendered(name, placeholder_values(asked, call.channel))
        messages = PromptMessage("system", system), PromptMessage("user", user)
        request = _request(name, call, messages, max_tokens(asked), answer_schema(asked))
        # A window of several messages can be split into smaller ones.
        shrinks = isinstance(task, Consolidate | Refresh) and len(task.window) > 1
        answer = await self.client.ask(
            request, lambda text: parse_answer(text, asked), shrinks=shrinks
        )
        return ids.restored(answer)

    async def chat(self, messages: Sequence[Message], call: Call) -> str:
        """A bot's reply to a conversation, recorded as task `chat`.

        Messages of tools are sent as the user's. Raises `SidecarError` when no model replied.
        """
        prompt = tuple(PromptMessage(_role(message), message.content) for message in messages)
        return await self.client.ask(_request("chat", call, prompt, _CHAT_TOKENS), _not_blank)


def _role(message: Message) -> Literal["system", "user", "assistant"]:
    return "user" if message.role == "tool" else message.role


def _request(
    task: str,
    call: Call,
    messages: tuple[PromptMessage, ...],
    max_tokens: int,
    schema: Schema | None = None,
) -> ModelRequest:
    """The request, whose model the client fills in."""
    return ModelRequest(
        "", messages, call.timeout, max_tokens, schema, call.channel, task, call.correlation
    )


def _not_blank(text: str) -> str:
    if not text.strip():
        raise AnswerRefused("the reply is empty")
    return text
