"""The one door of litellm: loaded in a thread on first use, its errors in our words."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from types import ModuleType
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from pipimem.errors import ModelTimeout
from pipimem.sidecar.door import Ask, Completion, FormatUnsupported, Schema
from pipimem.sidecar.failures import translated

if TYPE_CHECKING:
    from litellm import ModelResponse

# Both are read at litellm's import: without the first it fetches a price list over the network, without the
# second it takes in the `.env` of any folder above.
_ONLY_FOR_THE_IMPORT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
# httpx and aiohttp get a little longer than our own deadline, so that one clock decides.
_GRACE = 2.0
# How providers name what they refuse, among the reasons for a 400.
_FORMAT_WORDS = ("response_format", "response format", "json_schema", "json_object", "structured output")


class Format(IntEnum):
    """How much structure a model is asked for; a refusal steps down."""

    NONE = 0
    JSON_OBJECT = 1
    JSON_SCHEMA = 2


class LiteLLM:
    """`Door` through litellm; `api_base` and `api_key` left out come from the provider's own variables."""

    def __init__(self, *, api_base: str | None = None, api_key: str | None = None) -> None:
        self._address = {"api_base": api_base, "api_key": api_key}
        self._formats: dict[str, Format] = {}
        self._loaded: ModuleType | None = None

    async def complete(self, ask: Ask) -> Completion:
        """One request, no retries; raises `ModelUnavailable`, its kin of `door`, or `ModelTimeout`."""
        try:
            with anyio.fail_after(ask.timeout):
                if self._loaded is None:
                    self._loaded = await to_thread.run_sync(loaded, abandon_on_cancel=True)
                return await self._requested(self._loaded, ask)
        except TimeoutError as reason:
            raise ModelTimeout(f"{ask.model} gave no answer within {ask.timeout:.0f} s.") from reason

    async def _requested(self, litellm: ModuleType, ask: Ask) -> Completion:
        wanted = self._formats.get(ask.model, Format.JSON_SCHEMA) if ask.schema else Format.NONE
        try:
            response = await self._sent(litellm, ask, wanted)
        except litellm.openai.OpenAIError as reason:
            if wanted and _refuses_format(reason):
                self._formats[ask.model] = Format(wanted - 1)
                raise FormatUnsupported(f"{ask.model} takes no {wanted.name.lower()} answers.") from reason
            raise translated(reason, ask.model, litellm) from reason
        return _completion(response, ask.model)

    async def _sent(self, litellm: ModuleType, ask: Ask, wanted: Format) -> ModelResponse:
        arguments = self._arguments(ask, wanted)
        if _on_asyncio():
            response: ModelResponse = await litellm.acompletion(**arguments)
            return response
        # litellm knows asyncio only. A thread left behind by a timeout ends with its own request.
        return await to_thread.run_sync(lambda: litellm.completion(**arguments), abandon_on_cancel=True)

    def _arguments(self, ask: Ask, wanted: Format) -> dict[str, object]:
        arguments: dict[str, object] = {
            "model": ask.model,
            "messages": [{"role": turn.role, "content": turn.content} for turn in ask.turns],
            "timeout": ask.timeout + _GRACE,
            "max_tokens": ask.max_tokens,
            # Retrying is the assistant's: each attempt is one line of the ledger.
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
            **{name: value for name, value in self._address.items() if value is not None},
        }
        if ask.schema is not None:
            arguments["temperature"] = 0
            if wanted:
                arguments["response_format"] = _response_format(ask.schema, wanted)
        return arguments


def loaded() -> ModuleType:
    """litellm, imported without network, `.env`, telemetry or chatter. Takes seconds: call it in a thread."""
    with _set_for_the_import():
        import litellm
        import litellm.exceptions
        import openai
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
def _set_for_the_import() -> Iterator[None]:
    added = {name: value for name, value in _ONLY_FOR_THE_IMPORT.items() if name not in os.environ}
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


def _response_format(schema: Schema, wanted: Format) -> Mapping[str, object]:
    if wanted is Format.JSON_OBJECT:
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {"name": schema.name, "schema": dict(schema.schema), "strict": True},
    }


def _refuses_format(reason: Exception) -> bool:
    text = str(reason).casefold()
    refused = getattr(reason, "status_code", 0) in {400, 404, 422}
    return refused and any(word in text for word in _FORMAT_WORDS)


def _completion(response: ModelResponse, model: str) -> Completion:
    choice = response.choices[0]
    usage = getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return Completion(
        text=choice.message.content or "",
        finish_reason=choice.finish_reason or "stop",
        tokens_in=getattr(usage, "prompt_tokens", 0) or 0,
        tokens_out=getattr(usage, "completion_tokens", 0) or 0,
        tokens_cached=getattr(details, "cached_tokens", 0) or 0,
        cost=_cost(response),
        model=response.model or model,
    )


def _cost(response: ModelResponse) -> float | None:
    # litellm leaves it out for a model it has no price of: unknown, which is not free.
    cost = getattr(response, "_hidden_params", {}).get("response_cost")
    return float(cost) if cost is not None else None
