"""Log lines as JSON: one object a line, found by one id, and without words that are not ours."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pipimem import Message, Operation
from pipimem.errors import AnswerRefused, SettingsError
from pipimem.logs import JsonLogFormatter, OperationLog, wants_json
from pipimem.observer import CorrelationScope, Observers, correlate
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs

from tests.runtime.observability.talk import (
    CHANNEL,
    PRIVATE,
    SAID,
    SECRET,
    UNSPEAKABLE,
    model_on_loopback,
    remembering,
    talk,
)
from tests.servers.openai import ChatRequest, OpenAIServer, Reply

pytestmark = pytest.mark.anyio


class Lines:
    """What was logged, as text and as objects."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def of(self, **fields: str) -> list[dict[str, Any]]:
        return [line for line in self.objects if fields.items() <= line.items()]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """The lines of the loggers of pipimem, from DEBUG on."""
    found = Lines()
    handler = logging.StreamHandler(found.stream)
    handler.setFormatter(JsonLogFormatter())
    logger = logging.getLogger("pipimem")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield found
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_a_line_is_one_object(lines: Lines) -> None:
    """Whatever a message holds; half characters are escaped, and what is empty is left out."""
    logging.getLogger("pipimem").warning('a "line"\nwith\tmore\x1b[31m and %s', "\U0001f600中文")
    (line,) = lines.objects
    assert line["message"] == 'a "line"\nwith\tmore\x1b[31m and 😀中文'
    assert (line["level"], line["logger"]) == ("WARNING", "pipimem")
    assert set(line) == {"time", "level", "logger", "message"}
    assert line["time"][10] == "T"
    assert line["time"][-6] in "+-"


def test_a_line_has_the_id_of_what_it_was_written_for(lines: Lines) -> None:
    """And after it no more."""
    with CorrelationScope():
        correlate("0a1b2c3d4e5f")
        logging.getLogger("pipimem").warning("during")
    logging.getLogger("pipimem").warning("after")
    during, after = lines.objects
    assert during["correlation"] == "0a1b2c3d4e5f"
    assert "correlation" not in after


def test_an_exception_is_told_by_its_class_and_places(lines: Lines) -> None:
    """Its words may quote a message."""
    try:
        raise ValueError(SAID)
    except ValueError:
        logging.getLogger("pipimem").exception("a frame failed")
    (line,) = lines.objects
    assert line["error"] == "ValueError"
    assert "test_logs.py:" in line["places"][0]
    assert SAID not in lines.text


def test_a_secret_in_a_message_is_masked(lines: Lines) -> None:
    """As a library may quote a key."""
    logging.getLogger("pipimem").error("refused: Authorization: Bearer %s", SECRET)
    assert SECRET not in lines.text
    assert "[secret:" in lines.text


def test_arguments_that_do_not_fit_are_no_end() -> None:
    """The line of a library is there, as it was meant to be filled."""
    record = logging.LogRecord("other", logging.ERROR, "f.py", 1, "%d of %d", ("one",), None)
    assert json.loads(JsonLogFormatter().format(record))["message"] == "%d of %d"


async def test_ledger_and_lines_are_tied_by_one_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Lines
) -> None:
    """The call, its commit and its job have the id of the line of the ledger."""
    async with (
        model_on_loopback(monkeypatch),
        remembering(tmp_path, OperationLog()) as (_, channel),
    ):
        await talk(channel, forgets=False)  # no change would be kept
        usage = [*upkeep_of(channel).store.workspace.usages()]
        records = [*upkeep_of(channel).store.changes()]
    assert len(usage) == 2
    for call in usage:
        (model,) = lines.of(operation="model", correlation=call.correlation)
        assert (model["tokens_in"], model["outcome"]) == (call.tokens_in, "ok")
        assert len(lines.of(operation="commit", correlation=call.correlation)) == 1
        assert call.correlation in {record.correlation for record in records}
    assert lines.of(operation="job")[0]["correlation"] == usage[1].correlation
    assert lines.of(operation="turn")[0]["level"] == "DEBUG"


async def test_no_line_says_what_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Lines
) -> None:
    """No secret, no private stretch, no word of memory, no name and no channel."""
    async with (
        model_on_loopback(monkeypatch),
        remembering(tmp_path, OperationLog()) as (_, channel),
    ):
        await talk(channel)
    assert len(lines.objects) > 20
    assert [word for word in UNSPEAKABLE if word in lines.text] == []


async def test_a_model_that_quotes_is_not_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Lines
) -> None:
    """A refused answer is a line with its outcome: the words are in the ledger alone."""

    def quoting(request: ChatRequest) -> Reply:
        return Reply(json.dumps({SAID: f"{SECRET} {PRIVATE}", "over": SAID}))

    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with OpenAIServer(quoting) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        async with remembering(tmp_path, OperationLog()) as (_, channel):
            with pytest.raises(AssertionError, match="deferred"):
                await talk(channel)
            await upkeep_of(channel).maintain(forced=True)
    refused = lines.of(operation="model", outcome="refused")
    assert {line["error"] for line in refused} == {AnswerRefused.__name__}
    assert {line["level"] for line in refused} == {"WARNING"}
    assert lines.of(operation="compaction", outcome="deferred")
    assert [word for word in UNSPEAKABLE if word in lines.text] == []


def test_the_channel_is_named_where_it_may_be(lines: Lines) -> None:
    """As the settings say."""
    for channel_ids in (False, True):
        with Observers(OperationLog(channel_ids=channel_ids)).of("commit", CHANNEL):
            pass
    without, named = lines.objects
    assert "channel" not in without
    assert named["channel"] == CHANNEL


def test_what_is_not_wanted_costs_no_line(lines: Lines) -> None:
    """Turns are told at DEBUG: an operator does not read each of them."""
    logging.getLogger("pipimem").setLevel(logging.INFO)
    log = OperationLog()
    log.end(Operation("turn", CHANNEL), None)
    log.end(Operation("turn", CHANNEL, outcome="silent"), None)
    assert [line["outcome"] for line in lines.objects] == ["silent"]


def test_the_variable_goes_before_the_setting() -> None:
    """And what it does not know is refused."""
    assert not wants_json("text", {})
    assert wants_json("json", {})
    assert wants_json("text", {"PIPIMEM_LOG": "JSON"})
    assert not wants_json("json", {"PIPIMEM_LOG": "text"})
    with pytest.raises(SettingsError, match="PIPIMEM_LOG must be text or json, not 'xml'"):
        wants_json("text", {"PIPIMEM_LOG": "xml"})


async def test_a_bug_in_a_job_has_the_id_of_its_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: Lines
) -> None:
    """The line that tells of it leads to what was asked; the job after it has an id of its own."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(SAID)

    async with (
        model_on_loopback(monkeypatch),
        remembering(tmp_path, OperationLog()) as (_, channel),
    ):
        turn = await channel.before_turn("The release is on Friday", speaker="Dana")
        await channel.after_turn(turn, [Message.user("The release is on Friday", speaker="Dana")])
        with monkeypatch.context() as patch:
            patch.setattr(ChannelJobs, "done", broken)
            await upkeep_of(channel).maintain(forced=True)
        consolidate, *others = upkeep_of(channel).store.workspace.usages()
    (told,) = [line for line in lines.objects if "RuntimeError" in line["message"]]
    assert told["correlation"] == consolidate.correlation
    refresh = lines.of(operation="job", task="refresh")[0]
    assert refresh["correlation"] in {usage.correlation for usage in others}
    assert SAID not in lines.text
