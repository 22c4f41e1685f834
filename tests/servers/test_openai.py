"""The test server answers as OpenAI does, to plain HTTP and to litellm, and its sums are right."""

from __future__ import annotations

import json
import os
import time
import warnings
from http.client import HTTPConnection, RemoteDisconnected
from types import ModuleType
from typing import Any

import pytest

from tests.cases import each, table
from tests.servers.openai import (
    Billed,
    ChatRequest,
    OpenAIServer,
    Reply,
    broken,
    counted,
)

HELLO = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "你好 there"}]
HELLO_TOKENS = (3 + 4) + (3 + 4)


def echo(request: ChatRequest) -> Reply:
    return Reply(f"You said: {request.user}")


def post(
    server: OpenAIServer, body: object, path: str = "/v1/chat/completions"
) -> tuple[int, dict[str, str], str]:
    """One request over plain HTTP: status, headers, body."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = HTTPConnection(server.url.removeprefix("http://"), timeout=60)
    try:
        connection.request(
            "POST", path, raw, {"Authorization": "Bearer k-1", "Content-Type": "application/json"}
        )
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode()
    finally:
        connection.close()


def ask(**more: object) -> dict[str, object]:
    return {"model": "test", "messages": HELLO, **more}


def test_an_answer_has_content_finish_reason_and_usage() -> None:
    """The body is a chat completion, with tokens counted on both sides."""
    with OpenAIServer(echo) as server:
        status, _, body = post(server, ask())
    answer = json.loads(body)
    assert status == 200
    assert answer["object"] == "chat.completion"
    assert answer["model"] == "test"
    assert answer["choices"][0] == {
        "index": 0,
        "message": {"role": "assistant", "content": "You said: 你好 there"},
        "finish_reason": "stop",
    }
    assert answer["usage"] == {
        "prompt_tokens": HELLO_TOKENS,
        "completion_tokens": 6,
        "total_tokens": HELLO_TOKENS + 6,
    }


@each(
    ("text", "tokens"),
    table(__file__, "counting_is_by_words_signs_and_characters"),
)
def test_counting_is_by_words_signs_and_characters(text: str, tokens: int) -> None:
    """A word is one token, a sign is one, a Chinese character is one, white space none."""
    assert counted(text) == tokens


def test_the_bill_is_the_sum_of_what_was_answered() -> None:
    """Answers are billed, refusals are not; tokens may be dictated."""
    replies = [
        Reply("a b c", prompt_tokens=100, cached_tokens=64),
        broken(),
        Reply("x", prompt_tokens=10, completion_tokens=7, reports_usage=False),
    ]
    with OpenAIServer(lambda request: replies[request.number - 1]) as server:
        bodies = [json.loads(post(server, ask())[2]) for _ in replies]
        assert server.billed == Billed(calls=2, prompt=110, completion=10, cached=64)
    assert bodies[0]["usage"]["prompt_tokens_details"] == {"cached_tokens": 64}
    assert "usage" not in bodies[2]


def test_a_client_that_hangs_up_is_billed_all_the_same() -> None:
    """As with real providers: the work was done."""
    with OpenAIServer(lambda _: Reply("late", delay=30)) as server:
        connection = HTTPConnection(server.url.removeprefix("http://"), timeout=60)
        connection.request("POST", "/v1/chat/completions", json.dumps(ask()))
        until = time.monotonic() + 60
        while not server.requests and time.monotonic() < until:
            time.sleep(0.01)
        connection.close()
    assert server.billed.calls == 1


def test_an_error_in_the_script_reaches_the_test() -> None:
    """A mistake in `respond` is not swallowed by a thread."""

    def wrong(request: ChatRequest) -> Reply:
        raise KeyError(request.user)

    def visit() -> None:
        with OpenAIServer(wrong) as server, pytest.raises(RemoteDisconnected):
            post(server, ask())

    with pytest.raises(KeyError, match="你好 there"):
        visit()


@pytest.fixture(scope="module")
def litellm() -> ModuleType:
    """litellm as pipimem loads it: no price map from the network, no .env of a parent folder."""
    before = dict(os.environ)
    os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_MODE="PRODUCTION")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import litellm
    finally:
        os.environ.clear()
        os.environ.update(before)
    return litellm


def through(litellm: ModuleType, server: OpenAIServer, **more: object) -> Any:
    return litellm.completion(
        model="openai/test",
        api_base=f"{server.url}/v1",
        api_key="x",
        messages=HELLO,
        max_retries=0,
        timeout=60,
        **more,
    )


@pytest.mark.filterwarnings("ignore")
def test_litellm_gets_the_reply_and_the_usage(litellm: ModuleType) -> None:
    """Content, finish reason, tokens and cached tokens arrive through litellm as they were sent."""
    with OpenAIServer(
        lambda _: Reply('{"order": [2]}', finish_reason="length", cached_tokens=5)
    ) as server:
        answer = through(litellm, server)
        assert server.billed == Billed(calls=1, prompt=HELLO_TOKENS, completion=9, cached=5)
        assert (server.requests[0].key, server.requests[0].model) == ("x", "test")
    assert answer.choices[0].message.content == '{"order": [2]}'
    assert answer.choices[0].finish_reason == "length"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (HELLO_TOKENS, 9)
    assert answer.usage.prompt_tokens_details.cached_tokens == 5
