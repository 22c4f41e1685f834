"""The model assistant, over real HTTP: what it returns, how often it asks, and what the ledger
says.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import anyio
import pytest
from pipimem.errors import AnswerRefused, ModelTimeout, ModelUnavailable
from pipimem.llm.litellm_client import load_litellm
from pipimem.llm.request import ContextOverflow
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.sidecar.tasks import Call, Consolidate

from tests.servers.openai import (
    ChatRequest,
    OpenAIServer,
    Reply,
    broken,
    refused_format,
    refused_key,
    too_many,
    unknown_model,
)
from tests.sidecar.conftest import Books, answer, learnt

pytestmark = pytest.mark.anyio
Calls = Callable[[float], Call]


@pytest.fixture(autouse=True)
def _ready_and_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is loaded before any time is given, and a second attempt comes at once."""
    load_litellm()
    monkeypatch.setattr("pipimem.llm.client._FIRST_WAIT", 0.0)


def sums(books: Books) -> tuple[int, int, int]:
    """Prompt, completion and cached tokens of the whole ledger."""
    used = books.used
    return (
        sum(u.tokens_in for u in used),
        sum(u.tokens_out for u in used),
        sum(u.tokens_cached for u in used),
    )


async def test_an_answer_becomes_values_and_the_ledger_equals_the_bill(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """A good answer is parsed; its one ledger line says what the provider billed, at an unknown
    price.
    """
    with OpenAIServer(lambda _: Reply(answer(), cached_tokens=7)) as server:
        got = await books.assistant(server.url).answer(task, call(120))
    assert got.learned[0].kind is Kind.DECISION
    assert got.learned[0].text == "The release is on 2026-03-06"
    assert got.learned[0].replaces == ("k1",)
    assert got.history[0].sources == ("1",)
    assert sums(books) == (server.billed.prompt, server.billed.completion, 7)
    (usage,) = books.used
    assert (usage.task, usage.channel, usage.model) == (
        "consolidate",
        "release room",
        "openai/test",
    )
    assert (usage.outcome, usage.cost, usage.correlation) == ("ok", None, "c-1")


async def test_the_prompt_holds_the_window_and_the_schema_its_bounds(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """Messages stand one a line with their ids, and the schema bounds every string and list."""
    with OpenAIServer(lambda _: Reply(answer())) as server:
        await books.assistant(server.url).answer(task, call(120))
    (request,) = server.requests
    assert "[1] 2026-03-04 Wed 09:10 Dana: We ship on Friday instead." in request.user
    assert "[2] 2026-03-04 Wed 09:11 pipi (bot): Noted." in request.user
    assert "## Decisions\n[k1] The release is on Thursday" in request.user
    assert request.response_format == "json_schema"
    assert request.schema is not None
    assert request.schema["properties"]["history"]["maxItems"] == 10
    assert (
        request.schema["properties"]["history"]["items"]["properties"]["text"]["maxLength"] == 240
    )


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Friday is {{not}} Thursday.</think>\n{answer()}",
        f"Here it is:\n```json\n{answer()}\n```\nDone.",
    ],
    ids=["think", "fence"],
)
async def test_thinking_and_fences_around_the_answer_are_taken_off(
    text: str, task: Consolidate, books: Books, call: Calls
) -> None:
    """The one JSON object counts, wherever it stands."""
    with OpenAIServer(lambda _: Reply(text)) as server:
        got = await books.assistant(server.url).answer(task, call(120))
    assert got.title == "Release moved"


async def test_a_refused_answer_is_asked_for_once_more_with_the_reason(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """A foreign id is refused, the model hears why, and both attempts stand in the ledger."""

    def respond(request: ChatRequest) -> Reply:
        return Reply(answer(learned=[learnt(sources=["9"])]) if request.number == 1 else answer())

    with OpenAIServer(respond) as server:
        got = await books.assistant(server.url).answer(task, call(120))
    assert got.title == "Release moved"
    assert "There is no message [9]" in server.requests[1].user
    assert books.outcomes == ["refused", "ok"]
    assert sums(books)[:2] == (server.billed.prompt, server.billed.completion)


async def test_only_the_field_that_is_wrong_is_asked_for_again(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """The model reads its answer again and writes one field; the rest of its answer stands."""
    wrong = answer(learned=[learnt(sources=["9"])])
    right = json.dumps({"learned": [learnt(text="Ship on 2026-03-06")]})

    def respond(request: ChatRequest) -> Reply:
        return Reply(f"Here:\n{wrong}" if request.number == 1 else right)

    with OpenAIServer(respond) as server:
        got = await books.assistant(server.url).answer(task, call(120))
    assert [item.text for item in got.learned] == ["Ship on 2026-03-06"]
    assert got.title == "Release moved"
    first, second = server.requests
    messages = second.body["messages"]
    assert messages[: len(first.body["messages"])] == first.body["messages"]
    assert messages[-2] == {"role": "assistant", "content": wrong}
    assert 'has "learned" alone' in messages[-1]["content"]
    assert second.schema is not None
    assert list(second.schema["properties"]) == second.schema["required"] == ["learned"]


async def test_a_correction_without_the_field_is_refused(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """It corrects nothing, and the first answer stays refused."""
    wrong = answer(learned=[learnt(sources=["9"])])

    def respond(request: ChatRequest) -> Reply:
        return Reply(wrong if request.number == 1 else '{"title": "Sorry"}')

    with OpenAIServer(respond) as server, pytest.raises(AnswerRefused, match="no field learned"):
        await books.assistant(server.url).answer(task, call(120))
    assert books.outcomes == ["refused", "refused"]


async def test_a_second_refusal_is_final(task: Consolidate, books: Books, call: Calls) -> None:
    """There is no third question, and nothing of the answer is used."""
    with OpenAIServer(lambda _: Reply('{"learned": [')) as server, pytest.raises(AnswerRefused):
        await books.assistant(server.url).answer(task, call(120))
    assert books.outcomes == ["refused", "refused"]


async def test_a_cut_answer_is_refused_even_if_it_parses(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """`finish_reason: length` means something may be missing."""

    def respond(request: ChatRequest) -> Reply:
        return Reply(answer(), finish_reason="length" if request.number == 1 else "stop")

    with OpenAIServer(respond) as server:
        await books.assistant(server.url).answer(task, call(120))
    assert books.outcomes == ["refused", "ok"]
    assert "cut off" in books.used[0].reason


async def test_structure_steps_down_and_is_remembered(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """A model without json_schema is asked for json_object, then for none; the next task starts
    there.
    """

    def respond(request: ChatRequest) -> Reply:
        return refused_format(request) if request.response_format else Reply(answer())

    with OpenAIServer(respond) as server:
        assistant = books.assistant(server.url)
        await assistant.answer(task, call(120))
        await assistant.answer(task, call(120))
    assert [request.response_format for request in server.requests] == [
        "json_schema",
        "json_object",
        "",
        "",
    ]
    assert books.outcomes == ["unfit", "unfit", "ok", "ok"]


async def test_a_refused_key_is_not_asked_again(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """401 says what to check, at once."""
    with (
        OpenAIServer(lambda _: refused_key()) as server,
        pytest.raises(ModelUnavailable, match="OPENAI_API_KEY"),
    ):
        await books.assistant(server.url).answer(task, call(120))
    assert books.outcomes == ["denied"]


async def test_an_unknown_model_is_named(task: Consolidate, books: Books, call: Calls) -> None:
    """404 says which name to check."""
    with (
        OpenAIServer(lambda request: unknown_model(request.model)) as server,
        pytest.raises(ModelUnavailable, match="no model 'openai/test'"),
    ):
        await books.assistant(server.url).answer(task, call(120))


async def test_a_busy_provider_is_waited_for_as_it_asks(
    task: Consolidate, books: Books, call: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """429 with Retry-After: the next attempt comes no sooner."""
    waits = []

    async def slept(seconds: float) -> None:
        waits.append(seconds)

    def respond(request: ChatRequest) -> Reply:
        return too_many(7) if request.number == 1 else Reply(answer())

    monkeypatch.setattr("pipimem.llm.client.anyio.sleep", slept)
    with OpenAIServer(respond) as server:
        await books.assistant(server.url).answer(task, call(120))
    assert waits == [7.0]
    assert books.outcomes == ["error", "ok"]
    assert "429" in books.used[0].reason


async def test_a_wait_beyond_the_deadline_is_not_begun(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """Retry-After of a minute within a task of ten seconds gives up at once."""
    with (
        OpenAIServer(lambda _: too_many(60)) as server,
        pytest.raises(ModelUnavailable, match="slow down"),
    ):
        await books.assistant(server.url).answer(task, call(10))
    assert books.outcomes == ["error"]


async def test_a_broken_provider_is_tried_three_times(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """500 may pass; three in a row are enough."""
    with OpenAIServer(lambda _: broken()) as server, pytest.raises(ModelUnavailable):
        await books.assistant(server.url).answer(task, call(120))
    assert books.outcomes == ["error"] * 3
    assert len(server.requests) == 3


async def test_the_next_model_steps_in(task: Consolidate, books: Books, call: Calls) -> None:
    """Fallbacks are asked in their order, each under its own name in the ledger."""

    def respond(request: ChatRequest) -> Reply:
        return Reply(answer()) if request.model == "second" else unknown_model(request.model)

    with OpenAIServer(respond) as server:
        await books.assistant(server.url, "openai/first", "openai/second").answer(task, call(120))
    assert [(usage.model, usage.outcome) for usage in books.used] == [
        ("openai/first", "error"),
        ("openai/second", "ok"),
    ]


@pytest.mark.both_loops
async def test_no_answer_in_time_is_a_timeout_in_the_ledger(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """The task ends within its own time, and the attempt is written down."""
    with OpenAIServer(lambda _: Reply(answer(), delay=30)) as server:
        assistant = books.assistant(server.url)
        with pytest.raises(ModelTimeout):
            await assistant.answer(task, call(0.5))
    assert books.outcomes == ["timeout"]


@pytest.mark.both_loops
async def test_a_caller_that_gives_up_leaves_a_line_too(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """Cancelled from outside, the attempt is still in the ledger."""
    with OpenAIServer(lambda _: Reply(answer(), delay=30)) as server:
        assistant = books.assistant(server.url)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(assistant.answer, task, call(120))
            with anyio.fail_after(60):
                while not server.requests:
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
    assert [(usage.outcome, usage.reason) for usage in books.used] == [
        ("cancelled", "the caller gave up")
    ]


async def test_no_connection_says_where_to_look(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """A port where nobody listens."""
    with pytest.raises(ModelUnavailable, match="No connection to openai/test"):
        await books.assistant("http://127.0.0.1:9").answer(task, call(120))
    assert books.outcomes == ["error"] * 3


async def test_a_prompt_too_long_for_the_model_is_told_apart(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """Memory can halve the window on `ContextOverflow`."""
    reply = Reply(
        status=400,
        error="This model's maximum context length is 4096 tokens, but your messages have 9000.",
        code="context_length_exceeded",
    )
    with OpenAIServer(lambda _: reply) as server, pytest.raises(ContextOverflow):
        await books.assistant(server.url).answer(task, call(120))


@pytest.mark.both_loops
async def test_no_more_requests_at_a_time_than_allowed(
    task: Consolidate, books: Books, call: Calls
) -> None:
    """With a concurrency of one, two thoughts take turns."""
    done_before: list[int] = []

    def respond(_: ChatRequest) -> Reply:
        done_before.append(len(books.used))
        return Reply(answer(), delay=0.1)

    with OpenAIServer(respond) as server:
        assistant = books.assistant(server.url, concurrency=1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(assistant.answer, task, call(120))
            tasks.start_soon(assistant.answer, task, call(120))
    assert done_before == [0, 1]
    assert books.outcomes == ["ok", "ok"]


async def test_chat_goes_through_the_same_door(books: Books, call: Calls) -> None:
    """A reply in free text, recorded as task `chat`."""
    with OpenAIServer(lambda _: Reply("周四见。")) as server:
        reply = await books.assistant(server.url).chat(
            [Message("system", "Be short."), Message.user("周四？")], call(120)
        )
    assert reply == "周四见。"
    assert [(usage.task, usage.outcome) for usage in books.used] == [("chat", "ok")]
    assert server.requests[0].response_format == ""
