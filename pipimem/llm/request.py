"""One request to a language model as a value, its completion, and what can go wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct

from pipimem.errors import AnswerRefused, ModelTimeout, ModelUnavailable


class PromptMessage(Struct, frozen=True):
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


class AnswerSchema(Struct, frozen=True):
    """The JSON schema an answer should have; providers accept letters, digits and `_` in `name`."""

    name: str
    schema: Mapping[str, object]


class ModelRequest(Struct, frozen=True):
    """One request to one model; `timeout` in seconds, no schema for free text.

    `max_tokens` bounds the answer. `channel`, `task` and `correlation` go into the usage ledger.
    """

    model: str
    messages: tuple[PromptMessage, ...]
    timeout: float
    max_tokens: int
    schema: AnswerSchema | None = None
    channel: str = ""
    task: str = ""
    correlation: str = ""


class Completion(Struct, frozen=True):
    """What came back; `cost` in US dollars, `None` where the price is unknown.

    `refusal` is what a model said instead of answering.
    """

    text: str
    finish_reason: str = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost: float | None = None
    refusal: str = ""


class Price(Struct, frozen=True):
    """US dollars for one token of a prompt and of an answer."""

    prompt: float
    answer: float

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """The cost of so many tokens in US dollars."""
        return tokens_in * self.prompt + tokens_out * self.answer


class ModelClient(Protocol):
    """Sends exactly one request, without retries or fallbacks: each is one line of the ledger.

    Raises `ModelUnavailable` (its subclasses say what is worth another try) and `ModelTimeout`.
    """

    async def complete(self, request: ModelRequest) -> Completion: ...


class ModelBusy(ModelUnavailable):
    """Overloaded or broken for now: try again, after `retry_after` seconds if given."""

    def __init__(self, sentence: str, retry_after: float | None = None, quote: str = "") -> None:
        super().__init__(sentence, quote)
        self.retry_after = retry_after


class KeyRefused(ModelUnavailable):
    """No key is set, or the provider refuses it: retrying is useless until somebody fixes it."""


class NeverSent(ModelTimeout):
    """The time was over before the request left: it is no line of the ledger."""


class ParameterRefused(ModelUnavailable):
    """The model does not take a parameter; the client now knows it and leaves it out next time."""


class ContextOverflow(ModelUnavailable):
    """The prompt is longer than the model's context: only a smaller window can fit."""


class AnswerCut(AnswerRefused):
    """The answer hit the token limit before its first word: thinking used all the tokens."""
