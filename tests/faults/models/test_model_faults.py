"""Each fault a model or its provider can have, over real HTTP through litellm: memory is
unharmed, and it passes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from tests.faults.models.room import SAID, Mind, answer, talked
from tests.servers.openai import (
    ChatRequest,
    OpenAIServer,
    Reply,
    broken,
    refused,
    refused_format,
    refused_key,
    too_many,
    unknown_model,
)

# litellm silences its own models' warnings when it is loaded; pytest takes that back after the
# first test.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::UserWarning")]
Fault = Callable[[ChatRequest, str], Reply]


@dataclass(frozen=True)
class Hurt:
    """A fault that lasts: how often it is asked, and what the receipt says of it."""

    fault: Fault
    asked: int
    says: str
    deadline: float = 20


def changed(**fields: object) -> Fault:
    """The honest answer with other fields."""
    return lambda request, _: Reply(json.dumps(answer(request) | fields))


def always(reply: Reply) -> Fault:
    """The same reply whatever was asked."""
    return lambda _request, _honest: reply


def said(shape: str) -> Fault:
    """The honest answer inside other words; `%` is its place."""
    return lambda _, honest: Reply(shape.replace("%", honest))


def date_in(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def in_escapes(content: str) -> Reply:
    """An envelope in ASCII, as most servers send it: half a character gets through."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop",
    }
    return Reply(
        raw=json.dumps(
            {"id": "x", "object": "chat.completion", "created": 1, "choices": [choice]}
        ).encode()
    )


THINKING_TOOK_ALL = Reply("", finish_reason="length")
# Faults of the line, the server and the envelope: what the door sees, and it works differently on
# each event loop.
CARRIED: dict[str, Hurt] = {
    "no answer in time": Hurt(always(Reply("{}", delay=30)), 1, "no answer within", deadline=6),
    "a body that drips": Hurt(
        always(Reply("{}" * 500, drip=0.1)), 1, "no answer within", deadline=6
    ),
    "a body cut in the middle": Hurt(
        lambda _, honest: Reply(honest, cut=80), 3, "failed|connection"
    ),
    "500": Hurt(always(broken(500)), 3, r"failed \(500\)"),
    "502": Hurt(always(Reply(status=502, raw=b"<html>Bad gateway</html>")), 3, r"failed \(502\)"),
    "503": Hurt(always(broken(503)), 3, r"failed \(503\)"),
    "504": Hurt(always(broken(504)), 3, r"failed \(504\)"),
    "529": Hurt(always(broken(529)), 3, r"failed \(529\)"),
    "500 that blames the request": Hurt(
        always(Reply(status=500, error="invalid_request_error")), 3, r"failed \(500\)"
    ),
    "429": Hurt(always(too_many(0)), 3, "slow down"),
    "429 longer than the deadline": Hurt(always(too_many(60)), 1, "slow down"),
    "429 with a date after the deadline": Hurt(lambda *_: too_many(date_in(90)), 1, "slow down"),
    "429 with nonsense": Hurt(always(too_many("soon")), 3, "slow down"),
    "no credit (429)": Hurt(
        always(refused("You exceeded your current quota", 429, "insufficient_quota")), 1, "credit"
    ),
    "no credit (402)": Hurt(always(refused("Insufficient Balance", 402)), 1, "credit"),
    "401": Hurt(always(refused_key()), 1, "OPENAI_API_KEY"),
    "403": Hurt(always(refused("Country not supported", 403)), 1, "OPENAI_API_KEY"),
    "404": Hurt(always(unknown_model("test")), 1, "no model"),
    "the provider's filter": Hurt(
        always(refused("data_inspection_failed: inappropriate content")), 1, "filter"
    ),
    "400 without a reason": Hurt(always(refused("Bad request")), 4, "refused the request"),
    "an envelope that is no JSON": Hurt(always(Reply(raw=b"<html>gateway</html>")), 3, "failed"),
    "an envelope cut off": Hurt(always(Reply(raw=b'{"id": "x", "choices": [{"mess')), 3, "failed"),
    "an empty body": Hurt(always(Reply(raw=b"")), 3, "failed"),
    "null for a body": Hurt(always(Reply(raw=b"null")), 3, "failed"),
    "an error under 200": Hurt(
        always(Reply(raw=b'{"error": {"message": "overloaded", "code": 502}}')),
        3,
        r"failed \(502\)",
    ),
    "no choices": Hurt(always(Reply(choices=False)), 2, "empty"),
    "a choice without a message": Hurt(
        always(Reply(raw=b'{"id": "x", "choices": [{"index": 0}]}')), 3, "failed"
    ),
}
# Faults of the answer, from the door on: the same on both event loops. Answers that do not parse are
# in tests/promises/test_models.py, their reasons in tests/llm/test_json_object.py and tests/sidecar.
ANSWERED: dict[str, Hurt] = {
    "empty content": Hurt(always(Reply("")), 2, "empty"),
    "null content": Hurt(always(Reply(message={"role": "assistant", "content": None})), 2, "empty"),
    "cut at the limit though it parses": Hurt(
        lambda _, h: Reply(h, finish_reason="length"), 2, "cut off"
    ),
    "thinking took all the room": Hurt(always(THINKING_TOOK_ALL), 2, "before its first word"),
    "stopped by the filter": Hurt(
        lambda _, h: Reply(h, finish_reason="content_filter"), 2, "filter"
    ),
    "refusal in its field": Hurt(
        always(Reply(message={"role": "assistant", "content": None, "refusal": "No."})),
        2,
        "refused to answer: No",
    ),
    "the answer only in the reasoning": Hurt(
        lambda _, h: Reply(message={"role": "assistant", "content": "", "reasoning_content": h}),
        2,
        "empty",
    ),
    "cut JSON": Hurt(lambda _, honest: Reply(honest[:-30]), 2, "cut off"),
    "half a character": Hurt(
        lambda _, honest: in_escapes(honest.replace("train", "tr\ud83d")), 2, "half a character"
    ),
    "no history of an exchange": Hurt(changed(history=[]), 2, "history"),
}


@pytest.mark.parametrize("name", CARRIED)
async def test_a_fault_of_line_or_server_leaves_memory_as_it_was(name: str, tmp_path: Path) -> None:
    """MEMORY.md stays byte for byte, the talk waits on disk, and once the fault is over it is
    consolidated.
    """
    await leaves_memory_as_it_was(CARRIED[name], tmp_path)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("name", ANSWERED)
async def test_a_fault_of_the_answer_leaves_memory_as_it_was(name: str, tmp_path: Path) -> None:
    """The same, and the model is asked once more with the reason."""
    await leaves_memory_as_it_was(ANSWERED[name], tmp_path)


async def leaves_memory_as_it_was(hurt: Hurt, tmp_path: Path) -> None:
    mind = Mind(hurt.fault)
    with OpenAIServer(mind.respond) as server:
        async with talked(tmp_path, server.url, mind) as room:
            before = room.memory
            receipt = await room.gate(hurt.deadline)
            assert room.memory == before
            assert (receipt.state, receipt.may_compact, receipt.cursor) == ("deferred", True, 0)
            assert re.search(hurt.says, receipt.reason, re.IGNORECASE), receipt.reason
            assert len(room.outcomes) == hurt.asked
            # On a busy machine a request may have run out of time before it was sent.
            assert len(mind.thought) == hurt.asked or room.outcomes == ["timeout"]
            mind.fault = None
            assert (await room.gate()).state == "consolidated"
            assert SAID in room.memory
            assert set(before.splitlines()) <= set(room.memory.splitlines())


async def test_nobody_listens(tmp_path: Path) -> None:
    """A refused connection: the talk waits, memory stays."""
    mind = Mind()
    async with talked(tmp_path, "http://127.0.0.1:9", mind) as room:
        before = room.memory
        receipt = await room.gate()
        assert (receipt.state, room.memory) == ("deferred", before)
        assert "No connection" in receipt.reason
        assert room.outcomes == ["error"] * 3


def once(first: Fault) -> Fault:
    """A fault that is over at the second request."""
    return lambda request, honest: first(request, honest) if request.number == 1 else Reply(honest)


def while_sent(parameter: str, words: str, status: int = 400) -> Fault:
    """A provider that refuses a parameter as long as it is sent."""
    return lambda request, honest: (
        refused(words, status) if parameter in request.body else Reply(honest)
    )


def no_system_role(request: ChatRequest, honest: str) -> Reply:
    roles = [message.role for message in request.messages]
    return refused("System role not supported", 500) if "system" in roles else Reply(honest)


def only_bare(request: ChatRequest, honest: str) -> Reply:
    extra = set(request.body) - {"model", "messages"}
    return refused("参数错误", 422) if extra else Reply(honest)


def only_plain_json(request: ChatRequest, honest: str) -> Reply:
    return (
        refused("Unprocessable: guided decoding is off", 422) if request.schema else Reply(honest)
    )


def no_room_for_both(request: ChatRequest, honest: str) -> Reply:
    """A model of 8,192 tokens that is asked to keep 8,000 free for its answer."""
    words = "maximum context length is 8192 tokens. However, you requested 9100 tokens (1100 in the messages, 8000 in the completion)."
    return refused(f"This model's {words}") if "max_tokens" in request.body else Reply(honest)


def called_a_tool(_: ChatRequest, honest: str) -> Reply:
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "json_tool_call", "arguments": honest},
    }
    return Reply(
        message={"role": "assistant", "content": None, "tool_calls": [call]},
        finish_reason="tool_calls",
    )


O_SERIES = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
TOO_MANY = "max_tokens is too large: 8000. This model supports at most 4096 completion tokens."
WARM = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."
TOOLS = "tool_choice 'required' is not supported in thinking mode."
GRAMMAR = "Failed to parse grammar for json_schema"
THOUGHTFUL = {"role": "assistant", "reasoning_content": "Friday? {no", "reasoning": "Friday? {no"}

# The fault, and how many requests it takes until the answer is there.
PASSING: dict[str, tuple[Fault, int]] = {
    "thinking before": (said("<think>Is it {Friday}?</think>\n%"), 1),
    "thinking in several pieces": (
        said("<think>one</think><think>two <think>three</think></think>%"),
        1,
    ),
    "JSON inside the thinking": (said('<think>{"learned": [], "history": []}</think>%'), 1),
    "thinking whose start was swallowed": (said("so I answer {…\n</think>\n%"), 1),
    "reasoning beside the content": (lambda _, h: Reply(message=THOUGHTFUL | {"content": h}), 1),
    "prose around": (said("Here is what I found:\n\n%\n\nLet me know if you need more."), 1),
    "Chinese prose around": (said("好的，以下是结果：\n%\n希望对你有帮助。"), 1),
    "a fence": (said("```json\n%\n```"), 1),
    "a fence that stays open": (said("```\n%"), 1),
    "a byte order mark": (said("\ufeff%"), 1),
    "a tool call nobody offered": (called_a_tool, 1),
    "no reason to finish": (lambda _, h: Reply(h, finish_reason=None), 1),
    "a slow answer": (lambda _, h: Reply(h, delay=0.3, drip=0.002), 1),
    "no usage": (lambda _, h: Reply(h, reports_usage=False), 1),
    "500 once": (once(always(broken(500))), 2),
    "429 once": (once(always(too_many(0))), 2),
    "429 once, with a date": (once(lambda *_: too_many(date_in(1))), 2),
    "a broken envelope once": (once(always(Reply(raw=b"{"))), 2),
    "a cut answer once": (once(lambda _, h: Reply(h[:-40])), 2),
    "a refusal once": (once(always(Reply("I cannot."))), 2),
    "json_schema not there": (lambda r, h: refused_format(r) if r.schema else Reply(h), 2),
    "no structure at all": (lambda r, h: refused_format(r) if r.response_format else Reply(h), 3),
    "other words for it": (only_plain_json, 2),
    "a grammar that fails (500)": (lambda r, h: refused(GRAMMAR, 500) if r.schema else Reply(h), 2),
    "a quirk of tool_choice": (lambda r, h: refused(TOOLS) if r.schema else Reply(h), 2),
    "max_completion_tokens": (while_sent("max_tokens", O_SERIES), 2),
    "fewer tokens than asked for": (while_sent("max_tokens", TOO_MANY), 2),
    "no room for prompt and answer": (no_room_for_both, 2),
    "temperature": (while_sent("temperature", WARM), 2),
    "no system role": (no_system_role, 2),
    "nothing but the messages": (only_bare, 4),
}


@pytest.mark.parametrize("name", PASSING)
async def test_a_fault_that_passes_costs_no_more_than_its_requests(
    name: str, tmp_path: Path
) -> None:
    """The answer comes over in the end, nothing that stood there is gone, and the ledger has
    each request.
    """
    fault, asked = PASSING[name]
    mind = Mind(fault)
    with OpenAIServer(mind.respond) as server:
        async with talked(tmp_path, server.url, mind) as room:
            before = room.memory
            receipt = await room.gate()
            assert receipt.state == "consolidated", receipt.reason
            assert SAID in room.memory
            assert set(before.splitlines()) <= set(room.memory.splitlines())
            assert len(mind.thought) == len(room.outcomes) == asked
            assert room.outcomes[-1] == "ok"


OVERFLOW = refused(
    "This model's maximum context length is 4096 tokens.", code="context_length_exceeded"
)


async def test_a_window_too_long_shrinks(tmp_path: Path) -> None:
    """The same prompt is never sent twice, no other model is asked for it, and half the window
    is consolidated.
    """

    def fault(request: ChatRequest, honest: str) -> Reply:
        return OVERFLOW if "\n[2] " in request.user else Reply(honest)

    mind = Mind(fault)
    with OpenAIServer(mind.respond) as server:
        async with talked(tmp_path, server.url, mind, "openai/first", "openai/second") as room:
            before = room.memory
            receipt = await room.gate()
            assert receipt.state == "consolidated", receipt.reason
            assert SAID in room.memory
            assert set(before.splitlines()) <= set(room.memory.splitlines())
            assert {request.model for request in mind.thought} == {"first"}
            assert room.outcomes == ["unfit", "ok"]


async def test_what_cannot_shrink_goes_to_a_larger_model(tmp_path: Path) -> None:
    """One message too long for the first model is read by the next one."""
    mind = Mind(lambda request, honest: OVERFLOW if request.model == "small" else Reply(honest))
    with OpenAIServer(mind.respond) as server:
        async with talked(tmp_path, server.url, mind, "openai/small", "openai/large") as room:
            assert (await room.gate()).state == "consolidated"
            assert SAID in room.memory
            assert [request.model for request in mind.thought] == ["small", "small", "large"]


@pytest.mark.parametrize(
    ("fault", "models"),
    [
        (always(refused_key()), ["first", "second"]),
        (always(too_many(60)), ["first", "second"]),
        (always(broken(503)), ["first"] * 3 + ["second"]),
        (always(Reply("I cannot.")), ["first", "first", "second"]),
    ],
    ids=["401", "429 for long", "503", "refusals"],
)
async def test_the_next_model_steps_in(fault: Fault, models: list[str], tmp_path: Path) -> None:
    """In their order, as soon as the one before it cannot; memory has the fact, the ledger each
    attempt.
    """
    mind = Mind(
        lambda request, honest: (
            fault(request, honest) if request.model == "first" else Reply(honest)
        )
    )
    with OpenAIServer(mind.respond) as server:
        async with talked(tmp_path, server.url, mind, "openai/first", "openai/second") as room:
            assert (await room.gate()).state == "consolidated"
            assert SAID in room.memory
            assert [request.model for request in mind.thought] == models
            told = [usage.model for usage in room.used if usage.task == "consolidate"]
            assert told == [f"openai/{model}" for model in models]
