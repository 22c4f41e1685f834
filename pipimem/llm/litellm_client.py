"""The client for litellm: imported in a thread on first use, its answers and errors translated.

Embeddings too; every request is a line of the usage ledger.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from pipimem.errors import ModelTimeout, ModelUnavailable, described
from pipimem.llm.admission import EMBED
from pipimem.llm.body_limit import install
from pipimem.llm.capabilities import Capabilities, KnownCapabilities
from pipimem.llm.embedding import Vector
from pipimem.llm.failures import RequestRefused, message_of, status_of, translated_errors
from pipimem.llm.metering import Attempt
from pipimem.llm.request import (
    Completion,
    ModelRequest,
    NeverSent,
    ParameterRefused,
    Price,
    PromptMessage,
)

if TYPE_CHECKING:
    from litellm import ModelResponse
    from litellm.types.utils import Message

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
                message = f"{request.model} is asked in another way: {failure}"
                raise ParameterRefused(message) from failure
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
            import httpx
            import litellm
            import litellm.exceptions
            import openai
    except Exception as reason:
        raise ModelUnavailable(
            f"litellm cannot be loaded ({described(reason)}), so no model is asked: `pip install "
            "--force-reinstall litellm` mends it, and the model offline does without."
        ) from reason
    install(httpx)
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.disable_aiohttp_transport = True  # its sessions outlive the loop and complain at exit
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.CRITICAL)
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
    assert litellm.openai is openai
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
