"""The test server answers as OpenAI does, to plain HTTP and to litellm, and its sums are right."""

from __future__ import annotations

import json
import os
import time
import warnings
from http.client import HTTPConnection, IncompleteRead, RemoteDisconnected
from threading import Thread
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
    refused_format,
    refused_key,
    too_many,
    unknown_model,
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
    connection = HTTPConnection(server.url.removeprefix("http://"), timeout=5)
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


def test_every_request_is_recorded() -> None:
    """What a client sent can be read back: model, key, messages, format, the rest of the body."""
    schema = {"type": "object", "properties": {}}
    with OpenAIServer(echo) as server:
        post(server, ask(temperature=0))
        post(
            server,
            ask(
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "n", "schema": schema},
                }
            ),
        )
        parts = [{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]
        post(
            server,
            ask(
                messages=[{"role": "user", "content": parts}],
                response_format={"type": "json_object"},
            ),
        )
        first, second, third = server.requests
    assert (first.number, first.model, first.key) == (1, "test", "k-1")
    assert (first.system, first.user) == ("Be short.", "你好 there")
    assert first.body["temperature"] == 0
    assert (first.response_format, first.schema) == ("", None)
    assert (second.response_format, second.schema) == ("json_schema", schema)
    assert (third.response_format, third.schema, third.user) == ("json_object", None, "in parts")


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


@each(
    ("reply", "status", "code", "kind"),
    [
        (refused_key(), 401, "invalid_api_key", "invalid_request_error"),
        (unknown_model("nope"), 404, "model_not_found", "invalid_request_error"),
        (too_many(2), 429, "rate_limit_exceeded", "requests"),
        (broken(), 500, None, "server_error"),
    ],
)
def test_refusals_look_like_openais(reply: Reply, status: int, code: str | None, kind: str) -> None:
    """The status, and an error object with message, type and code."""
    with OpenAIServer(lambda _: reply) as server:
        got, headers, body = post(server, ask())
        assert server.billed == Billed()
    error = json.loads(body)["error"]
    assert (got, error["code"], error["type"], error["message"]) == (
        status,
        code,
        kind,
        reply.error,
    )
    assert headers.get("retry-after") == ("2" if status == 429 else None)


def test_structured_output_can_be_refused() -> None:
    """A server without json_schema says so with 400, and takes the request without it."""

    def respond(request: ChatRequest) -> Reply:
        return refused_format(request) if request.response_format == "json_schema" else Reply("{}")

    with OpenAIServer(respond) as server:
        refused, _, why = post(
            server, ask(response_format={"type": "json_schema", "json_schema": {"name": "n"}})
        )
        taken, _, _ = post(server, ask(response_format={"type": "json_object"}))
    assert (refused, taken) == (400, 200)
    assert (
        "'response_format' of type 'json_schema' is not supported"
        in json.loads(why)["error"]["message"]
    )


def test_raw_bodies_and_headers_go_out_as_they_are() -> None:
    """A test may send a broken body: that is what it is for."""
    with OpenAIServer(lambda _: Reply(raw=b'{"choices": [', headers={"X-Seen": "yes"})) as server:
        status, headers, body = post(server, ask())
    assert (status, headers["x-seen"], body) == (200, "yes", '{"choices": [')


@each("body", [b"not json", b"[]", b'{"model": "m"}', b'{"model": "m", "messages": "hi"}'])
def test_malformed_requests_are_refused_and_not_recorded(body: bytes) -> None:
    """A request without model and messages gets 400."""
    with OpenAIServer(echo) as server:
        status, _, _ = post(server, body)
        assert (status, server.requests, server.billed) == (400, (), Billed())


def test_other_addresses_are_not_there() -> None:
    """Only the chat completions are served."""
    with OpenAIServer(echo) as server:
        assert post(server, ask(), "/v1/embeddings")[0] == 404


def test_a_stream_comes_in_pieces_with_usage_when_asked_for() -> None:
    """Pieces that add up to the content, then the finish reason, then the usage, then [DONE]."""
    with OpenAIServer(lambda _: Reply("一段比较长的回答，要分成好几块才送得完。")) as server:
        _, headers, plain = post(server, ask(stream=True))
        _, _, full = post(server, ask(stream=True, stream_options={"include_usage": True}))
        assert server.billed.calls == 2
    assert headers["content-type"].startswith("text/event-stream")
    events = [line.removeprefix("data: ") for line in full.split("\n\n") if line]
    chunks = [json.loads(event) for event in events[:-1]]
    texts = [choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"]]
    assert "".join(texts) == "一段比较长的回答，要分成好几块才送得完。"
    assert len([text for text in texts if text]) == 2
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["completion_tokens"] == 20
    assert events[-1] == "[DONE]"
    assert "usage" not in plain


def test_a_delay_holds_back_one_answer_only() -> None:
    """Two slow answers take as long as one; leaving the block does not wait for a slow one."""
    began = time.monotonic()
    with OpenAIServer(lambda _: Reply("late", delay=0.3)) as server:
        threads = [Thread(target=post, args=(server, ask())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 0.3 <= time.monotonic() - began < 1.1
        assert server.billed.calls == 4


def test_a_client_that_hangs_up_is_billed_all_the_same() -> None:
    """As with real providers: the work was done."""
    with OpenAIServer(lambda _: Reply("late", delay=30)) as server:
        connection = HTTPConnection(server.url.removeprefix("http://"), timeout=0.2)
        connection.request("POST", "/v1/chat/completions", json.dumps(ask()))
        with pytest.raises(TimeoutError):
            connection.getresponse()
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
        timeout=5,
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


@pytest.mark.filterwarnings("ignore")
def test_litellm_reads_the_stream(litellm: ModuleType) -> None:
    """Streamed pieces add up to the content, and the last one carries the usage."""
    with OpenAIServer(echo) as server:
        chunks = list(through(litellm, server, stream=True, stream_options={"include_usage": True}))
    assert (
        "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "You said: 你好 there"
    )
    assert chunks[-1].usage.prompt_tokens == HELLO_TOKENS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (refused_key(), "AuthenticationError"),
        (unknown_model("test"), "NotFoundError"),
        (too_many(), "RateLimitError"),
        (broken(), "InternalServerError"),
        (Reply(status=400, error="'response_format' is not supported"), "BadRequestError"),
    ],
)
def test_litellm_tells_the_refusals_apart(litellm: ModuleType, reply: Reply, error: str) -> None:
    """Each status becomes litellm's own error, after one call."""
    with OpenAIServer(lambda _: reply) as server:
        with pytest.raises(getattr(litellm, error)):
            through(litellm, server)
        assert len(server.requests) == 1


def test_a_message_may_be_anything() -> None:
    """Null content, a field of its own, or no choice at all: it is billed like any other answer."""
    odd = {"role": "assistant", "content": None, "refusal": "No."}
    replies = [Reply(message=odd, completion_tokens=4), Reply("x", choices=False)]
    with OpenAIServer(lambda request: replies[request.number - 1]) as server:
        first, second = (json.loads(post(server, ask())[2]) for _ in replies)
        assert server.billed.completion == 5
    assert first["choices"][0]["message"] == odd
    assert second["choices"] == []


def test_a_body_may_be_cut() -> None:
    """More was promised than came."""
    with (
        OpenAIServer(lambda _: Reply("x" * 100, cut=50)) as server,
        pytest.raises(IncompleteRead) as caught,
    ):
        post(server, ask())
    assert len(caught.value.partial) == 50


def test_a_body_may_drip() -> None:
    """A few bytes at a time, and a server that closes does not wait for the rest."""
    with OpenAIServer(lambda _: Reply("x" * 100, drip=0.005)) as server:
        began = time.perf_counter()
        assert json.loads(post(server, ask())[2])["choices"][0]["message"]["content"] == "x" * 100
        assert time.perf_counter() - began >= 0.1
