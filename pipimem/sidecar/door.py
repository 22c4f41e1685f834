"""The seam between an assistant and whatever carries its words to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from pipimem.errors import AnswerRefused, ModelUnavailable


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Schema:
    """The JSON schema an answer should have, under a name providers accept (letters, digits, `_`)."""

    name: str
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to one model; `timeout` in seconds, `max_tokens` of the answer, no schema for free text.

    `channel`, `task` and `correlation` say for whom it is asked, for the account.
    """

    model: str
    turns: tuple[Turn, ...]
    timeout: float
    max_tokens: int
    schema: Schema | None = None
    channel: str = ""
    task: str = ""
    correlation: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back; `cost` in US dollars, `None` where the price is unknown."""

    text: str
    finish_reason: str = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost: float | None = None
    refusal: str = ""  # what a model said instead of answering


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for one token of a prompt and of an answer."""

    prompt: float
    answer: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return tokens_in * self.prompt + tokens_out * self.answer


class Door(Protocol):
    """Carries exactly one request: no retries, no fallbacks, so that each is one line of the ledger.

    Raises `ModelUnavailable` (its subclasses say what is worth another try) and `ModelTimeout`.
    """

    async def complete(self, ask: Ask) -> Completion: ...


class ModelBusy(ModelUnavailable):
    """Overloaded or broken for the moment: worth another try, after `retry_after` seconds where given."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class KeyRefused(ModelUnavailable):
    """No key is set, or the provider does not take it: no other try will help until somebody mends it."""


class ParameterRefused(ModelUnavailable):
    """The model does not take what it was sent; the door knows it now, and the next request asks for less."""


class ContextOverflow(ModelUnavailable):
    """The prompt is longer than the model's context: a smaller window would fit, the same again never."""


class AnswerCut(AnswerRefused):
    """An answer ended at the token limit before its first word: thinking took all the room."""
