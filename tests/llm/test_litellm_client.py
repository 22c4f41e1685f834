"""litellm's door: what it leaves alone, and what its errors become."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from pipimem.errors import ModelUnavailable
from pipimem.llm import litellm_client
from pipimem.llm.failures import BodyTooLong, limited_body
from pipimem.llm.litellm_client import LiteLLM, load_litellm
from pipimem.llm.request import ModelRequest, NeverSent, PromptMessage

from tests.servers.openai import OpenAIServer, Reply

ASK = ModelRequest("openai/gpt-5-mini", (PromptMessage("user", "hi"),), 20, 10)

ALONE = """
import os, sys, logging, anyio
import pipimem.sidecar.model
from pipimem.llm.litellm_client import load_litellm
assert "litellm" not in sys.modules
before = dict(os.environ)
load_litellm()
assert dict(os.environ) == before, "the environment is left as it was"
assert not logging.getLogger("LiteLLM").handlers
assert os.environ.get("FROM_A_DOT_ENV") is None
"""


@pytest.mark.slow
def test_loading_litellm_changes_nothing_around_it(tmp_path: Path) -> None:
    """No `.env` is taken in, no variable stays, no handler is added, nothing is printed."""
    (tmp_path / ".env").write_text("FROM_A_DOT_ENV=1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALONE],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.anyio
async def test_without_a_key_the_variable_to_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request is needed to know that."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelUnavailable, match="set OPENAI_API_KEY"):
        await LiteLLM().complete(ASK)


@pytest.mark.anyio
async def test_a_name_without_a_provider_says_how_to_write_it() -> None:
    """`gpt` alone could be anybody's."""
    with pytest.raises(ModelUnavailable, match="write provider/model"):
        await LiteLLM().complete(ModelRequest("nope", (PromptMessage("user", "hi"),), 20, 10))


@pytest.mark.anyio
@pytest.mark.parametrize("status", [200, 500])
async def test_an_endless_body_is_cut_at_its_bound(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that never ended took 3.6 GB until the time was up; also where it calls that an
    error.
    """
    with OpenAIServer(lambda _: Reply(status=status, flood=200)) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        with pytest.raises(ModelUnavailable, match="more than 16 MB, which is no answer"):
            await LiteLLM().complete(replace(ASK, timeout=120))
    assert server.flooded < 40


def test_a_bound_holds_for_what_asked_for_it_alone() -> None:
    """What a host reads over httpx is read whole."""
    load_litellm()
    import httpx

    def response() -> httpx.Response:
        pieces = (b"x" * 1024 for _ in range(100))
        return httpx.Response(200, stream=httpx.ByteStream(b"".join(pieces)))

    with limited_body(50 * 1024) as body, pytest.raises(BodyTooLong):
        response().read()
    assert body.is_cut
    with limited_body(200 * 1024) as body:
        assert len(response().read()) == body.read == 100 * 1024
    assert len(response().read()) == 100 * 1024


@pytest.mark.anyio
async def test_a_request_that_never_left_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library took all the time: nothing was sent, and nothing can be billed."""
    monkeypatch.setattr(litellm_client, "load_litellm", lambda: time.sleep(0.2))
    with pytest.raises(NeverSent, match="was not ready"):
        await LiteLLM().complete(replace(ASK, timeout=0.05))
