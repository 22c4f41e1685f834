"""The assistant that asks models: it sends a task's prompt and schema, and parses the answer.

What a model is sent has short ids: a platform's message id may cost more tokens than the message,
once in the prompt and once in the schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from msgspec import Struct, structs

from pipimem.errors import AnswerRefused
from pipimem.llm.client import RetryingClient
from pipimem.llm.request import AnswerSchema, ModelRequest, PromptMessage
from pipimem.notes.message import Message
from pipimem.sidecar.answer_schemas import answer_schema, max_tokens, parse_answer
from pipimem.sidecar.prompts import Prompts, placeholder_values
from pipimem.sidecar.tasks import (
    Answer,
    Call,
    Consolidate,
    KnownEntry,
    Refresh,
    Task,
    Tidy,
    task_name,
)

_CHAT_TOKENS = 4000
# Of letters and digits a million: that a model names another entry by a slip is as good as
# impossible, where with numbers it would end its neighbour.
_SHORTEST_ENTRY_ID = 4


class ModelAssistant(Struct, frozen=True):
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
        name = task_name(task)
        asked, true_ids = with_short_ids(task)
        system, user = self.prompts.rendered(name, placeholder_values(asked, call.channel))
        messages = PromptMessage("system", system), PromptMessage("user", user)
        request = _request(name, call, messages, max_tokens(asked), answer_schema(asked))
        # A window of several messages can be split into smaller ones.
        shrinks = isinstance(task, Consolidate | Refresh) and len(task.window) > 1
        return await self.client.ask(
            request, lambda text: parse_answer(text, asked, true_ids), shrinks=shrinks
        )

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
    schema: AnswerSchema | None = None,
) -> ModelRequest:
    """The request, whose model the client fills in."""
    return ModelRequest(
        "", messages, call.timeout, max_tokens, schema, call.channel, task, call.correlation
    )


def _not_blank(text: str) -> str:
    if not text.strip():
        raise AnswerRefused("the reply is empty")
    return text


def with_short_ids(task: Task) -> tuple[Task, Mapping[str, str]]:
    """Return the task as a model is to see it, and its true ids by the short ones.

    Messages are numbered from 1, entries have the beginning of their id.
    """
    match task:
        case Consolidate():
            window, messages = _numbered(task.window)
            memory, entries = _shortened(task.memory)
            return structs.replace(task, window=window, memory=memory), messages | entries
        case Refresh():
            return structs.replace(task, window=_numbered(task.window)[0]), {}
        case Tidy():
            memory, entries = _shortened(task.memory)
            return structs.replace(task, memory=memory), entries
        case _:
            return task, {}


def _numbered(window: Sequence[Message]) -> tuple[tuple[Message, ...], dict[str, str]]:
    """Return the messages with numbers as ids, and their true ids."""
    ids = {str(number): message.id for number, message in enumerate(window, 1)}
    named = zip(ids, window, strict=True)
    return tuple(replace(message, id=number) for number, message in named), ids


def _shortened(memory: Sequence[KnownEntry]) -> tuple[tuple[KnownEntry, ...], dict[str, str]]:
    """Return the entries with as much of their ids as tells each from the others, and these ids."""
    ids = dict.fromkeys(entry.id for entry in memory)
    length = _SHORTEST_ENTRY_ID
    longest = max(map(len, ids), default=0)
    while length < longest and not _are_distinct([name[:length] for name in ids]):
        length += 1
    named = tuple(structs.replace(entry, id=entry.id[:length]) for entry in memory)
    return named, {name[:length]: name for name in ids}


def _are_distinct(names: Sequence[str]) -> bool:
    # Digits alone would read like the number of a message.
    return len(set(names)) == len(names) and not any(name.isdigit() for name in names)
