"""Spans and metrics through the real SDK, and what they cost without it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pipimem import Operation
from pipimem.logs import JsonLogFormatter
from pipimem.observer import Observers
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.observability.opentelemetry_spans import OpenTelemetryObserver
from pipimem.settings import ObservabilitySettings

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

pytestmark = pytest.mark.anyio


class Sdk:
    """An SDK of this test alone: the API's global one can be set but once a process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        meters = MeterProvider([self.reader])
        monkeypatch.setattr(trace, "get_tracer", tracers.get_tracer)
        monkeypatch.setattr(metrics, "get_meter", meters.get_meter)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def points(self, name: str) -> list[Any]:
        """The points of a metric."""
        data = self.reader.get_metrics_data()
        assert data is not None
        return [
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    def everything(self) -> str:
        """All that was exported, as JSON."""
        data = self.reader.get_metrics_data()
        assert data is not None
        return "".join(span.to_json() for span in self.spans) + data.to_json()


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> Sdk:
    return Sdk(monkeypatch)


async def test_spans_are_named_and_nested_as_the_conventions_say(
    sdk: Sdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model's call and the commit of its answer are children of the gate that asked."""
    asked = ObservabilitySettings("always")
    async with (
        model_on_loopback(monkeypatch),
        remembering(tmp_path, observability=asked) as (_, channel),
    ):
        await talk(channel)
        (line, *_) = upkeep_of(channel).store.workspace.usages()
    gate, call = sdk.named("pipimem.compaction")[0], sdk.named("chat openai/test")[0]
    assert call.kind is trace.SpanKind.CLIENT
    assert call.parent is not None
    assert gate.context is not None
    assert call.parent.span_id == gate.context.span_id
    assert dict(call.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "openai/test",
        "gen_ai.request.max_tokens": call.attributes["gen_ai.request.max_tokens"],  # type: ignore[index]
        "gen_ai.usage.input_tokens": line.tokens_in,
        "gen_ai.usage.output_tokens": line.tokens_out,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "pipimem.correlation_id": line.correlation,
        "pipimem.task": "consolidate",
        "pipimem.outcome": "ok",
    }
    learnt = sdk.named("upsert_memory")[0]
    assert learnt.parent is not None
    assert learnt.parent.span_id == gate.context.span_id
    assert learnt.attributes is not None
    assert learnt.attributes["pipimem.correlation_id"] == line.correlation
    assert learnt.attributes["gen_ai.memory.record.count"] > 0
    found = sdk.named("search_memory")[0]
    assert found.kind is trace.SpanKind.INTERNAL
    names = {span.name for span in sdk.spans}
    assert {"pipimem.turn", "create_memory", "delete_memory", "pipimem.job"} <= names


async def test_metrics_are_those_of_the_conventions(
    sdk: Sdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Durations by operation, tokens as the ledger has them."""
    asked = ObservabilitySettings("always")
    async with (
        model_on_loopback(monkeypatch),
        remembering(tmp_path, observability=asked) as (_, channel),
    ):
        await talk(channel)
        lines = [*upkeep_of(channel).store.workspace.usages()]
    durations = {
        point.attributes["gen_ai.operation.name"]
        for point in sdk.points("gen_ai.client.operation.duration")
    }
    assert durations >= {"chat", "search_memory", "upsert_memory", "create_memory"}
    tokens = {
        point.attributes["gen_ai.token.type"]: point.sum
        for point in sdk.points("gen_ai.client.token.usage")
    }
    assert tokens == {
        "input": sum(line.tokens_in for line in lines),
        "output": sum(line.tokens_out for line in lines),
    }


async def test_nothing_that_was_said_is_exported(
    sdk: Sdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No secret, no private stretch, no word of memory, no name and no channel."""
    asked = ObservabilitySettings("always")
    async with (
        model_on_loopback(monkeypatch),
        remembering(tmp_path, observability=asked) as (_, channel),
    ):
        await talk(channel)
    exported = sdk.everything()
    assert len(exported) > 5_000
    assert [word for word in UNSPEAKABLE if word in exported] == []


async def test_content_and_channels_are_opt_in(
    sdk: Sdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With them spans hold questions and entries, still without secrets and private stretches."""
    asked = ObservabilitySettings("always", content=True, channel_ids=True)
    async with (
        model_on_loopback(monkeypatch),
        remembering(tmp_path, observability=asked) as (_, channel),
    ):
        await talk(channel)
    recalls = [span.attributes for span in sdk.named("search_memory") if span.attributes]
    assert SAID in str(recalls[0]["gen_ai.memory.query.text"])
    assert any(SAID in str(each.get("gen_ai.memory.records")) for each in recalls)
    assert recalls[0]["gen_ai.memory.store.id"] == CHANNEL
    assert [word for word in (SECRET, PRIVATE) if word in sdk.everything()] == []


class Curious:
    """An observer of the host's that wants to read."""

    wants_content = True

    def begin(self, operation: Operation) -> object:
        return None

    def end(self, operation: Operation, begun: object) -> None:
        return None


async def test_what_another_observer_reads_is_not_exported(
    sdk: Sdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Content is opted in to by each on its own."""
    asked = ObservabilitySettings("always")
    async with (
        model_on_loopback(monkeypatch),
        remembering(tmp_path, Curious(), observability=asked) as (_, channel),
    ):
        await talk(channel)
    assert [word for word in UNSPEAKABLE if word in sdk.everything()] == []


async def test_a_failure_is_an_error_without_words(
    sdk: Sdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`error.type` is a class: what an exception says may quote a message."""
    observers = Observers(OpenTelemetryObserver())
    with pytest.raises(ValueError, match=SAID), observers.of("search", CHANNEL):
        raise ValueError(SAID)
    (span,) = sdk.spans
    assert span.attributes is not None
    assert span.attributes["error.type"] == "ValueError"
    assert span.status.status_code is trace.StatusCode.ERROR
    assert not span.events
    assert SAID not in span.to_json()


def test_without_an_sdk_no_span_is_current() -> None:
    """The API alone: nothing is attached, nothing recorded."""
    observers = Observers(OpenTelemetryObserver())
    with observers.of("turn", CHANNEL) as operation:
        assert not trace.get_current_span().get_span_context().is_valid
    assert operation.seconds > 0


def test_a_log_line_has_the_ids_of_its_span(sdk: Sdk) -> None:
    """So that a trace leads to its lines, and a line to its trace."""
    record = logging.LogRecord("pipimem", logging.INFO, "f.py", 1, "hello", (), None)
    with Observers(OpenTelemetryObserver()).of("turn", CHANNEL):
        line = json.loads(JsonLogFormatter().format(record))
    (span,) = sdk.spans
    assert span.context is not None
    assert line["trace_id"] == trace.format_trace_id(span.context.trace_id)
    assert line["span_id"] == trace.format_span_id(span.context.span_id)
    assert "trace_id" not in json.loads(JsonLogFormatter().format(record))
