"""The client for litellm: imported in a thread on first use, its answers and errors translated.

Embeddings too; every request is a line of the usage ledger.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import ModelTimeout, ModelUnavailable, described
from pipimem.llm.admission import EMBED
from pipimem.llm.embedding import Vector
from pipimem.llm.failures import RequestRefused, install, message_of, status_of, translated_errors
from pipimem.llm.metering import Attempt
from pipimem.llm.request import (
    AnswerSchema,
    Completion,
    ModelRequest,
    NeverSent,
    ParameterRefused,
    Price,
    PromptMessage,
)
from pipimem.text.patterns import Pattern

if TYPE_CHECKING:
    from litellm import ModelResponse
    from litellm.types.utils import Message


class AnswerFormat(IntEnum):
    """How much structure a model is asked for; after a refusal one less."""

    NONE = 0
    JSON_OBJECT = 1
    JSON_SCHEMA = 2


class Capabilities(Struct, frozen=True):
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


def _response_format(schema: AnswerSchema, wanted: AnswerFormat) -> Mapping[str, object]:
    if wanted is AnswerFormat.JSON_OBJECT:
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.name, "schema": dict(schema.schema), "strict": True},
    }


# Both are read at litellm's import: without the first it fetches a price list over the network,
# without the second it reads the `.env` of any folder above.
_IMPORT_ENVIRONMENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
# httpx and aiohttp get a little longer than our own deadline, so that one clock decides.
_GRACE = 2.0


class LiteLLM:
    """`ModelClient` through litellm; keys and addresses come from the provider's own variables."""

    def __init__(self) -> None:
        self._capabilities = KnownCapabilities()

    async def complete(self, request: ModelRequest) -> Completion:
        """Sends one request, without retries.

        Raises `ModelUnavailable`, its subclasses in `request`, or `ModelTimeout`: `NeverSent` where
        the time was over before.
        """
        is_loaded = False
        try:
            with anyio.fail_after(request.timeout):
                litellm = await to_thread.run_sync(load_litellm, abandon_on_cancel=True)
                is_loaded = True
                return await self._request(litellm, request)
        except TimeoutError as reason:
            if not is_loaded:
                raise NeverSent(
                    f"{request.model} was not ready within {request.timeout:.0f} s."
                ) from reason
            raise ModelTimeout(
                f"{request.model} gave no answer within {request.timeout:.0f} s."
            ) from reason

    async def price(self, model: str) -> Price | None:
        """The price of a model in litellm's list, `None` if it is not there; sends no request."""
        return listed_price(await to_thread.run_sync(load_litellm, abandon_on_cancel=True), model)

    async def _request(self, litellm: ModuleType, request: ModelRequest) -> Completion:
        sent = self._capabilities.of(request.model)
        arguments = single_attempt(request.model, request.timeout + _GRACE)
        try:
            with translated_errors(litellm, request.model):
                response = await self._send(litellm, {**arguments, **sent.arguments(request)})
        except ModelUnavailable as failure:
            if self._learn(request, sent, failure):
                sentence = f"{request.model} is asked in another way"
                raise ParameterRefused(sentence, str(failure)) from failure
            raise
        self._capabilities.accepted(request.model)
        return completion_of(response)

    def _learn(self, request: ModelRequest, sent: Capabilities, failure: ModelUnavailable) -> bool:
        """Whether a request that assumes fewer capabilities may succeed."""
        reason = failure.__cause__ or failure
        explained = not isinstance(failure, RequestRefused)
        status, message = status_of(reason), message_of(reason)
        return self._capabilities.refused(request, sent, status, message, explained=explained)

    async def _send(self, litellm: ModuleType, arguments: dict[str, object]) -> ModelResponse:
        if _on_asyncio():
            response: ModelResponse = await litellm.acompletion(**arguments)
            return response
        # litellm knows asyncio only. A thread left behind by a timeout ends with its own request.
        return await to_thread.run_sync(
            lambda: litellm.completion(**arguments), abandon_on_cancel=True
        )


def single_attempt(model: str, timeout: float) -> dict[str, object]:
    """Arguments of every request: one attempt that ends after `timeout` seconds."""
    return {
        "model": model,
        "timeout": timeout,
        # Retrying is `RetryingClient`'s: each attempt is one line of the ledger.
        "num_retries": 0,
        "max_retries": 0,
        # What litellm's own tables say a model does not take is left out before it is asked.
        "drop_params": True,
    }


def listed_price(litellm: ModuleType, model: str) -> Price | None:
    """The price of a model in litellm's list, `None` if it is not there."""
    listed = litellm.model_cost
    entry = listed.get(model) or listed.get(model.partition("/")[2]) or {}
    prompt, answer = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if prompt is None or answer is None:
        return None
    return Price(float(prompt), float(answer))


@cache
def load_litellm() -> ModuleType:
    """Imports litellm without network, `.env`, telemetry or log lines.

    Takes seconds: call it in a thread. Raises `ModelUnavailable` where it is missing or broken.
    """
    try:
        with _import_environment():
            import litellm
        library: ModuleType = litellm  # its types name no httpx
        install(library.httpx)
    except Exception as reason:  # a broken library may raise anything: the offline rules go on
        raise ModelUnavailable(
            f"litellm cannot be loaded ({described(reason)}), so no model is asked: `pip install "
            "--force-reinstall litellm` mends it, and the model offline does without."
        ) from reason
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.disable_aiohttp_transport = True  # its sessions outlive the loop and complain at exit
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.CRITICAL)
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
    return litellm


@contextmanager
def _import_environment() -> Iterator[None]:
    added = {name: value for name, value in _IMPORT_ENVIRONMENT.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _on_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def completion_of(response: ModelResponse) -> Completion:
    """The answer and its cost; without choices or text the answer is empty, the cost is kept."""
    choice = response.choices[0] if response.choices else None
    message = getattr(choice, "message", None)
    usage = getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return Completion(
        text=_text(message),
        finish_reason=getattr(choice, "finish_reason", None) or "stop",
        tokens_in=getattr(usage, "prompt_tokens", 0) or 0,
        tokens_out=getattr(usage, "completion_tokens", 0) or 0,
        tokens_cached=getattr(details, "cached_tokens", 0) or 0,
        cost=cost_of(response),
        refusal=_refusal(message),
    )


def _text(message: Message | None) -> str:
    """The content; if it is blank, the arguments of the only tool call, although none was offered.

    Some servers return JSON by a tool of their own. Thinking (`reasoning_content`) is never an
    answer.
    """
    if message is None:
        return ""
    match message.content, message.tool_calls:
        case str(text), _ if text.strip():
            return text
        case _, [only]:
            arguments = getattr(getattr(only, "function", None), "arguments", None)
            return arguments if isinstance(arguments, str) else ""
        case _:
            return ""


def _refusal(message: Message | None) -> str:
    fields = getattr(message, "provider_specific_fields", None) or {}
    refusal = fields.get("refusal")
    return refusal if isinstance(refusal, str) else ""


def cost_of(response: object) -> float | None:
    """The cost in US dollars, `None` where litellm does not know the price (which is not free)."""
    cost = getattr(response, "_hidden_params", {}).get("response_cost")
    return float(cost) if cost is not None else None


# Seconds for one request; a turn that waits for a question goes on earlier.
_TIMEOUT = 30.0
# Texts a request: below what any provider refuses.
_BATCH = 64
_CHARS = 8_000


class LiteLLMEmbedder:
    """`Embedder` through a litellm model such as `openai/text-embedding-3-small`.

    `admit` lets each request out and records it, failed ones too; it raises `BudgetSpent`. Keys and
    addresses come from the provider's own variables.
    """

    def __init__(self, model: str, admit: Callable[[ModelRequest, Price | None], Attempt]) -> None:
        self.name = model
        self._admit = admit

    def queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each question; raises `ModelUnavailable`, `ModelTimeout`, `BudgetSpent`."""
        return self.passages(texts)

    def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each entry, in as few requests as providers take."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            vectors += self._embedded([text[:_CHARS] or " " for text in batch])
        return vectors

    def _embedded(self, texts: list[str]) -> list[Vector]:
        litellm = load_litellm()
        request = ModelRequest(
            self.name,
            tuple(PromptMessage("user", text) for text in texts),
            _TIMEOUT,
            max_tokens=0,
            task=EMBED,
            correlation=secrets.token_hex(6),
        )
        arguments = single_attempt(self.name, _TIMEOUT)
        with self._admit(request, listed_price(litellm, self.name)) as attempt:
            with translated_errors(litellm, self.name):
                response = litellm.embedding(input=texts, encoding_format="float", **arguments)
            tokens = getattr(getattr(response, "usage", None), "prompt_tokens", 0) or 0
            attempt.completion = Completion("", tokens_in=tokens, cost=cost_of(response))
        rows = sorted(response.data, key=lambda row: int(row["index"]))
        if len(rows) != len(texts):
            raise ModelUnavailable(f"{self.name} gave {len(rows)} vectors for {len(texts)} texts.")
        return [row["embedding"] for row in rows]
