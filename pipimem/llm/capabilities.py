"""What models have refused to take: the next request leaves it out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from pipimem.llm.request import ModelRequest, PromptMessage, Schema
from pipimem.text.patterns import Pattern


class AnswerFormat(IntEnum):
    """How much structure a model is asked for; after a refusal one less."""

    NONE = 0
    JSON_OBJECT = 1
    JSON_SCHEMA = 2


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes; `limit` is its name for `max_tokens`, empty where it takes no limit."""

    format: AnswerFormat = AnswerFormat.JSON_SCHEMA
    limit: str = "max_tokens"
    temperature: bool = True
    system: bool = True

    def arguments(self, request: ModelRequest) -> dict[str, object]:
        """The request as keyword arguments that this model takes."""
        messages = request.messages if self.system else _without_system(request.messages)
        arguments: dict[str, object] = {
            "messages": [{"role": one.role, "content": one.content} for one in messages]
        }
        if self.limit:
            arguments[self.limit] = request.max_tokens
        if request.schema is not None:
            if self.temperature:
                arguments["temperature"] = 0
            if self.format:
                arguments["response_format"] = _response_format(request.schema, self.format)
        return arguments


# Providers refuse with 400 or 422; some answer 404, 415, 500 or 501 for a parameter their server
# does not know.
_REFUSING = frozenset({400, 404, 415, 422, 500, 501})

_FORMAT = Pattern(
    r"response[_ ]?(?:format|mime|schema)|json[_ ](?:schema|object|mode)"
    r"|structured[_ ]?output|guided|grammar|tool_choice|\btools?\b|function[_ ]call"
    r"|invalid schema|output_config|结构化输出|json ?格式|json ?模式",
    re.IGNORECASE,
)
_OTHER_LIMIT = Pattern(r"max_completion_tokens", re.IGNORECASE)
_LIMIT = Pattern(
    r"max_?(?:completion_?|new_?|output_?)?tokens|(?:completion|output) tokens|in the completion",
    re.IGNORECASE,
)
_TEMPERATURE = Pattern(r"temperature", re.IGNORECASE)
_SYSTEM = Pattern(
    r"system (?:role|messages?|prompt|instructions?) .{0,20}not|role.{0,30}\bsystem\b"
    r"|developer instruction",
    re.IGNORECASE,
)


class KnownCapabilities:
    """The capabilities of each model as far as they are known; kept as long as this object."""

    def __init__(self) -> None:
        self._known: dict[str, Capabilities] = {}
        # Where nothing in a refusal names its cause we guess; if no guess helps, what was known
        # before comes back.
        self._before_guess: dict[str, Capabilities] = {}

    def of(self, model: str) -> Capabilities:
        """The capabilities to assume for a model now."""
        return self._known.get(model, Capabilities())

    def accepted(self, model: str) -> None:
        """A request succeeded: what was guessed is now known."""
        self._before_guess.pop(model, None)

    def refused(
        self, request: ModelRequest, sent: Capabilities, status: int, text: str, *, explained: bool
    ) -> bool:
        """Learns from a refusal with an HTTP `status` and `text`; whether to send another request.

        `sent` are the capabilities that the request assumed. If the text names none of them, and
        has no other known meaning (`explained`), less and less is assumed.
        """
        if status in _REFUSING:
            for pattern, fewer in _without_each(request, sent):
                if pattern().search(text):
                    self._known[request.model] = fewer
                    return True
        if explained:
            return False
        guess = _guess(request, sent)
        if guess is None:
            self._known[request.model] = self._before_guess.pop(request.model, sent)
            return False
        self._before_guess.setdefault(request.model, sent)
        self._known[request.model] = guess
        return True


def _without_each(
    request: ModelRequest, sent: Capabilities
) -> Iterator[tuple[Pattern, Capabilities]]:
    """How refusals name each thing that was sent, and the capabilities without it."""
    is_structured = request.schema is not None
    if is_structured and sent.format:
        yield _FORMAT, _with_less_format(sent)
    if sent.limit == "max_tokens":
        yield _OTHER_LIMIT, replace(sent, limit="max_completion_tokens")
    if sent.limit:
        yield _LIMIT, replace(sent, limit="")
    if is_structured and sent.temperature:
        yield _TEMPERATURE, replace(sent, temperature=False)
    if sent.system:
        yield _SYSTEM, replace(sent, system=False)


def _guess(request: ModelRequest, sent: Capabilities) -> Capabilities | None:
    """Without what providers refuse most often; `None` when nothing is left to leave out."""
    is_structured = request.schema is not None
    if is_structured and sent.format:
        return _with_less_format(sent)
    if sent.limit or (is_structured and sent.temperature):
        return replace(sent, limit="", temperature=False)
    return None


def _with_less_format(sent: Capabilities) -> Capabilities:
    return replace(sent, format=AnswerFormat(sent.format - 1))


def _without_system(messages: tuple[PromptMessage, ...]) -> tuple[PromptMessage, ...]:
    """The messages with the system instructions in front of the first of the others."""
    system = "\n\n".join(one.content for one in messages if one.role == "system")
    others = [one for one in messages if one.role != "system"]
    asked = others[0].content if others else ""
    return (PromptMessage("user", f"{system}\n\n{asked}".strip()), *others[1:])


def _response_format(schema: Schema, wanted: AnswerFormat) -> Mapping[str, object]:
    if wanted is AnswerFormat.JSON_OBJECT:
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.name, "schema": dict(schema.schema), "strict": True},
    }
