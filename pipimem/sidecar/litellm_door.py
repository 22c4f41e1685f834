"""The one door of litellm: loaded in a thread on first use, its errors in our words."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from pipimem.errors import ModelTimeout
from pipimem.sidecar.body_limit import bounded, teach
from pipimem.sidecar.completions import completion
from pipimem.sidecar.door import Ask, Completion, ParameterRefused, Price
from pipimem.sidecar.failures import RequestRefused, status_of, too_long, translated, words_of
from pipimem.sidecar.quirks import Manners

if TYPE_CHECKING:
    from litellm import ModelResponse

# Both are read at litellm's import: without the first it fetches a price list over the network, without the
# second it takes in the `.env` of any folder above.
_ONLY_FOR_THE_IMPORT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
# httpx and aiohttp get a little longer than our own deadline, so that one clock decides.
_GRACE = 2.0


class LiteLLM:
    """`Door` through litellm; `api_base` and `api_key` left out come from the provider's own variables."""

    def __init__(self, *, api_base: str | None = None, api_key: str | None = None) -> None:
        self._address = {"api_base": api_base, "api_key": api_key}
        self._manners = Manners()
        self._loaded: ModuleType | None = None

    async def complete(self, ask: Ask) -> Completion:
        """One request, no retries; raises `ModelUnavailable`, its kin of `door`, or `ModelTimeout`."""
        try:
            with anyio.fail_after(ask.timeout):
                if self._loaded is None:
                    self._loaded = await to_thread.run_sync(loaded, abandon_on_cancel=True)
                return await self._requested(self._loaded, ask)
        except TimeoutError as reason:
            raise ModelTimeout(
                f"{ask.model} gave no answer within {ask.timeout:.0f} s."
            ) from reason

    async def price(self, model: str) -> Price | None:
        """What a model's tokens cost by litellm's own list, `None` where it has none; no request is made."""
        if self._loaded is None:
            self._loaded = await to_thread.run_sync(loaded, abandon_on_cancel=True)
        return listed_price(self._loaded, model)

    async def _requested(self, litellm: ModuleType, ask: Ask) -> Completion:
        quirks = self._manners.of(ask.model)
        try:
            with bounded() as body:
                response = await self._sent(
                    litellm, {**self._arguments(ask), **quirks.arguments(ask)}
                )
        except litellm.openai.OpenAIError as reason:
            if body.is_cut:
                raise too_long(ask.model, body) from reason
            failure = translated(reason, ask.model, litellm)
            explained = not isinstance(failure, RequestRefused)
            if self._manners.refused(
                ask, quirks, status_of(reason), words_of(reason), explained=explained
            ):
                raise ParameterRefused(
                    f"{ask.model} is asked in another way: {failure}"
                ) from reason
            raise failure from reason
        self._manners.accepted(ask.model)
        return completion(response)

    async def _sent(self, litellm: ModuleType, arguments: dict[str, object]) -> ModelResponse:
        if _on_asyncio():
            response: ModelResponse = await litellm.acompletion(**arguments)
            return response
        # litellm knows asyncio only. A thread left behind by a timeout ends with its own request.
        return await to_thread.run_sync(
            lambda: litellm.completion(**arguments), abandon_on_cancel=True
        )

    def _arguments(self, ask: Ask) -> dict[str, object]:
        return {
            "model": ask.model,
            "timeout": ask.timeout + _GRACE,
            # Retrying is the assistant's: each attempt is one line of the ledger.
            "num_retries": 0,
            "max_retries": 0,
            # What litellm's own tables say a model does not take is left out before it is asked.
            "drop_params": True,
            **{name: value for name, value in self._address.items() if value is not None},
        }


def listed_price(litellm: ModuleType, model: str) -> Price | None:
    """What a model's tokens cost by litellm's own list, `None` where it has none."""
    listed = litellm.model_cost
    entry = listed.get(model) or listed.get(model.partition("/")[2]) or {}
    prompt, answer = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    return None if prompt is None or answer is None else Price(float(prompt), float(answer))


def loaded() -> ModuleType:
    """litellm, imported without network, `.env`, telemetry or chatter. Takes seconds: call it in a thread."""
    with _set_for_the_import():
        import httpx
        import litellm
        import litellm.exceptions
        import openai
    teach(httpx)
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
