"""What the messages of Pydantic AI say, each part under an id that it has wherever it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    TextContent,
    TextPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from pipimem.notes.message import Message
from pipimem.runtime.tools.definitions import TOOLS

# What the tool returns by which an agent gives structured output; the output itself is taken in.
_OUTPUT_DONE = "Final result processed."


def said_in(
    messages: Sequence[ModelMessage], run: str | None = None, speaker: str = ""
) -> list[Message]:
    """What was said in runs of agents.

    What a host wrote into the history itself belongs to no run. Only those of `run` are said by
    `speaker` and now.
    """
    found = []
    copies: Counter[str] = Counter()  # providers tell the time of an answer in whole seconds
    for message in messages:
        is_own = message.run_id is not None and message.run_id == run
        for said in _parts_said(message) if message.run_id is not None else ():
            copies[said.id] += 1
            if copies[said.id] > 1:
                said = replace(said, id=f"{said.id}-{copies[said.id]}")
            if is_own:
                name = speaker if said.role == "user" else said.speaker
                said = replace(said, time=None, speaker=name)
            found.append(said)
    return found


def _parts_said(message: ModelMessage) -> Iterator[Message]:
    """The parts of a message that somebody said; what memory's own tools returned is no news."""
    for place, part in enumerate(message.parts):
        time: datetime | None = message.timestamp
        if isinstance(part, TextPart):
            said = Message.assistant(part.content)
        elif isinstance(part, UserPromptPart):
            said, time = Message.user(words_of(part.content)), part.timestamp
        elif isinstance(part, ToolReturnPart) and part.tool_name not in TOOLS:
            said = Message.tool(part.model_response_str(), speaker=part.tool_name)
            time = part.timestamp
        else:
            continue
        if said.content.strip() and said.content != _OUTPUT_DONE:
            name = message_id(said.role, message.run_id, f"{time} {place} {said.content}")
            yield Message(said.role, said.content, name, time and time.astimezone(), said.speaker)


def message_id(role: str, run: str | None, text: str) -> str:
    """The id of something said in a run."""
    digest = blake2b(f"{role} {run} {text}".encode("utf-8", "surrogatepass"), digest_size=16)
    return f"pydantic-ai-{digest.hexdigest()}"


def words_of(content: str | Sequence[UserContent]) -> str:
    """The words of a prompt; pictures and files have none."""
    if isinstance(content, str):
        return content
    texts = (part.content if isinstance(part, TextContent) else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def prompt_of(ctx: RunContext[Any]) -> str:
    """The words of a run's prompt; of one that goes on with a history, of the newest in that."""
    text = words_of(ctx.prompt or "")
    if not text:
        parts = (part for message in reversed(ctx.messages) for part in message.parts[::-1])
        asked = (words_of(part.content) for part in parts if isinstance(part, UserPromptPart))
        text = next(asked, "")
    return text


def is_prompt(message: ModelMessage) -> bool:
    """Whether a person said something in a message."""
    is_request = isinstance(message, ModelRequest)
    return is_request and any(isinstance(part, UserPromptPart) for part in message.parts)


def beginning_with(first: ModelMessage, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages from one of them on; all where it is not among them."""
    places = [place for place, message in enumerate(messages) if message is first]
    return list(messages[places[0] if places else 0 :])
