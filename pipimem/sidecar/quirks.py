"""What models have refused to take: the next request goes without it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from pipimem.sidecar.door import Ask, Schema, Turn
from pipimem.text.patterns import Pattern


class Format(IntEnum):
    """How much structure a model is asked for; a refusal steps down."""

    NONE = 0
    JSON_OBJECT = 1
    JSON_SCHEMA = 2


@dataclass(frozen=True, slots=True)
class Quirks:
    """How a model wants to be asked: `room` is its name for the bound of the answer, none where it takes no bound."""

    format: Format = Format.JSON_SCHEMA
    room: str = "max_tokens"
    temperature: bool = True
    system: bool = True

    def arguments(self, ask: Ask) -> dict[str, object]:
        """The request as this model takes it."""
        turns = ask.turns if self.system else _without_system(ask.turns)
        arguments: dict[str, object] = {
            "messages": [{"role": turn.role, "content": turn.content} for turn in turns]
        }
        if self.room:
            arguments[self.room] = ask.max_tokens
        if ask.schema is not None and self.temperature:
            arguments["temperature"] = 0
        if ask.schema is not None and self.format:
            arguments["response_format"] = _response_format(ask.schema, self.format)
        return arguments


# Providers refuse with 400 or 422; some answer 404, 415, 500 or 501 for a parameter their server does not know.
_REFUSING = frozenset({400, 404, 415, 422, 500, 501})

_FORMAT = Pattern(
    r"response[_ ]?(?:format|mime|schema)|json[_ ](?:schema|object|mode)|structured[_ ]?output|guided|grammar"
    r"|tool_choice|\btools?\b|function[_ ]call|invalid schema|output_config|结构化输出|json ?格式|json ?模式",
    re.IGNORECASE,
)
_OTHER_ROOM = Pattern(r"max_completion_tokens", re.IGNORECASE)
_ROOM = Pattern(
    r"max_?(?:completion_?|new_?|output_?)?tokens|(?:completion|output) tokens|in the completion",
    re.IGNORECASE,
)
_TEMPERATURE = Pattern(r"temperature", re.IGNORECASE)
_SYSTEM = Pattern(
    r"system (?:role|messages?|prompt|instructions?) .{0,20}not|role.{0,30}\bsystem\b|developer instruction",
    re.IGNORECASE,
)


class Manners:
    """The quirks of each model so far; they last as long as this object."""

    def __init__(self) -> None:
        self._known: dict[str, Quirks] = {}
        # Where nothing in a refusal names its cause we guess; what was certain before comes back if no guess helps.
        self._certain: dict[str, Quirks] = {}

    def of(self, model: str) -> Quirks:
        """How to ask a model now."""
        return self._known.get(model, Quirks())

    def accepted(self, model: str) -> None:
        """A request went through: what was guessed is known."""
        self._certain.pop(model, None)

    def refused(self, ask: Ask, sent: Quirks, status: int, words: str, *, explained: bool) -> bool:
        """Learn from a refusal of `sent`; whether another request may do better.

        Where the words name nothing that was sent, and nothing else either (`explained`), less and less is asked for.
        """
        if status in _REFUSING and (named := _named(ask, sent, words)):
            self._known[ask.model] = named
            return True
        if explained:
            return False
        guess = _guessed(ask, sent)
        if guess is None:
            self._known[ask.model] = self._certain.pop(ask.model, sent)
            return False
        self._certain.setdefault(ask.model, sent)
        self._known[ask.model] = guess
        return True


def _named(ask: Ask, sent: Quirks, words: str) -> Quirks | None:
    """The request without what the refusal names; `None` if it names nothing that was sent."""
    if ask.schema is not None and sent.format and _FORMAT().search(words):
        return replace(sent, format=Format(sent.format - 1))
    if sent.room == "max_tokens" and _OTHER_ROOM().search(words):
        return replace(sent, room="max_completion_tokens")
    if sent.room and _ROOM().search(words):
        return replace(sent, room="")
    if ask.schema is not None and sent.temperature and _TEMPERATURE().search(words):
        return replace(sent, temperature=False)
    if sent.system and _SYSTEM().search(words):
        return replace(sent, system=False)
    return None


def _guessed(ask: Ask, sent: Quirks) -> Quirks | None:
    """Less of what providers refuse most often; `None` when nothing is left to leave out."""
    if ask.schema is not None and sent.format:
        return replace(sent, format=Format(sent.format - 1))
    if sent.room or (ask.schema is not None and sent.temperature):
        return replace(sent, room="", temperature=False)
    return None


def _without_system(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The instructions at the head of what the user asks."""
    system = "\n\n".join(turn.content for turn in turns if turn.role == "system")
    first, *others = [turn for turn in turns if turn.role != "system"] or [Turn("user", "")]
    return (Turn("user", f"{system}\n\n{first.content}".strip()), *others)


def _response_format(schema: Schema, wanted: Format) -> Mapping[str, object]:
    if wanted is Format.JSON_OBJECT:
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.name, "schema": dict(schema.schema), "strict": True},
    }
