"""Messages of LangChain: what was said in them, and how memory is put beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from pipimem import Message
from pipimem.runtime.tools.definitions import TOOLS


def newest_of_a_person(messages: Sequence[BaseMessage]) -> int | None:
    places = [place for place, message in enumerate(messages) if is_of_a_person(message)]
    return places[-1] if places else None


def is_of_a_person(message: BaseMessage) -> bool:
    """Summaries of what was dropped come as messages of a person, too."""
    return isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs


def turn_start(messages: Sequence[BaseMessage], place: int) -> int:
    """Where the turn of a message begins: behind the newest answer before it."""
    answers = [at for at in range(place) if isinstance(messages[at], AIMessage)]
    return answers[-1] + 1 if answers else 0


def said_in(messages: Iterable[BaseMessage]) -> Iterator[Message]:
    """What was said in messages of LangChain; what memory's own tools answered is no news."""
    for message in messages:
        text, name = str(message.text), message.id or ""
        if is_of_a_person(message):
            yield Message.user(text, id=name, speaker=message.name or "")
        elif isinstance(message, AIMessage) and text.strip():
            yield Message.assistant(text, id=name)
        elif isinstance(message, ToolMessage) and message.name not in TOOLS:
            yield Message.tool(text, id=name, speaker=message.name or "")


def wording(message: Message) -> tuple[str, str, str]:
    return message.role, message.speaker, message.content


def is_made_up(name: str) -> bool:
    """Whether an id is one that LangChain gives to a message without any."""
    try:
        return bool(UUID(name))
    except ValueError:
        return not name


def with_block(message: AnyMessage, block: str) -> AnyMessage:
    """A copy of a message with a block in front of its text."""
    if isinstance(message.content, str):
        content: str | list[Any] = f"{block}\n\n{message.content}"
    else:
        content = [{"type": "text", "text": block}, *message.content]
    return message.model_copy(update={"content": content})


def with_text(message: SystemMessage | None, text: str) -> SystemMessage:
    """A copy of the system message with a text behind its own."""
    if message is None:
        return SystemMessage(text)
    if isinstance(message.content, str):
        return message.model_copy(update={"content": f"{message.content}\n\n{text}"})
    return message.model_copy(
        update={"content": [*message.content, {"type": "text", "text": text}]}
    )
