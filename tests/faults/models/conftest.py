"""Faults are about answers: the seconds that litellm takes to load come before."""

from __future__ import annotations

import warnings

import anyio
import pytest
from pipimem.llm.litellm_client import LiteLLM, load_litellm
from pipimem.llm.request import ModelRequest, PromptMessage

from tests.servers.openai import OpenAIServer, Reply


@pytest.fixture(scope="package", autouse=True)
def litellm_is_loaded() -> None:
    """Loaded once for all faults, with the first request, and not within anybody's deadline."""
    ask = ModelRequest("openai/test", (PromptMessage("user", "hi"),), 120, 10)
    with (
        warnings.catch_warnings(),
        pytest.MonkeyPatch.context() as patch,
        OpenAIServer(lambda _: Reply("hello")) as server,
    ):
        warnings.simplefilter("ignore")  # its own models warn while they are built
        load_litellm()
        patch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        patch.setenv("OPENAI_API_KEY", "x")
        anyio.run(LiteLLM().complete, ask)
