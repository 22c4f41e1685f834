"""Operations as spans and metrics of OpenTelemetry, through its API alone.

Without an SDK in the process nothing is kept, and an operation costs some microseconds.
"""

from __future__ import annotations

from contextvars import Token
from dataclasses import dataclass

from opentelemetry import context, metrics, trace
from opentelemetry.context import Context

from pipimem.observer import Operation
from pipimem.runtime.observability import genai_names as names

# What is no failure: a gate that defers keeps the talk, and a caller may give up.
_FINE = ("ok", "consolidated", "deferred", "cancelled", "unsent")
# Seconds, as the conventions advise: a turn takes milliseconds, a model minutes.
_BUCKETS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24)
_LONG_BUCKETS = (*_BUCKETS, 20.48, 40.96, 81.92)
_TOKEN_BUCKETS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)


@dataclass(frozen=True, slots=True)
class _Open:
    """A span that is current until its operation ends."""

    span: trace.Span
    token: Token[Context]


class OpenTelemetryObserver:
    """`Observer` that makes spans and metrics in the GenAI conventions.

    With `content` spans hold questions and recalled entries; with `channel_ids` the channel.
    """

    def __init__(self, *, content: bool = False, channel_ids: bool = False) -> None:
        self.wants_content, self._channel_ids = content, channel_ids
        self._tracer = trace.get_tracer(names.SCOPE)
        meter = metrics.get_meter(names.SCOPE)
        self._duration = meter.create_histogram(
            names.DURATION,
            unit="s",
            description="Duration of operations with models and memory.",
            explicit_bucket_boundaries_advisory=_LONG_BUCKETS,
        )
        self._own_duration = meter.create_histogram(
            names.OWN_DURATION,
            unit="s",
            description="Duration of turns, gates and idle jobs.",
            explicit_bucket_boundaries_advisory=_LONG_BUCKETS,
        )
        self._tokens = meter.create_histogram(
            names.TOKEN_USAGE,
            unit="{token}",
            description="Tokens of calls of models.",
            explicit_bucket_boundaries_advisory=_TOKEN_BUCKETS,
        )

    def begin(self, operation: Operation) -> _Open | None:
        """Start a span, current for what the operation does; `None` without an SDK."""
        kind = trace.SpanKind.CLIENT if operation.kind == "model" else trace.SpanKind.INTERNAL
        span = self._tracer.start_span(names.span_name(operation), kind=kind)
        if not (span.is_recording() or span.get_span_context().is_valid):
            return None
        return _Open(span, context.attach(trace.set_span_in_context(span)))

    def end(self, operation: Operation, begun: object) -> None:
        """End the span with what came of the operation, and count it."""
        if isinstance(begun, _Open):
            context.detach(begun.token)
            if begun.span.is_recording():
                self._describe(begun.span, operation)
            begun.span.end()
        self._measure(operation)

    def _describe(self, span: trace.Span, operation: Operation) -> None:
        span.set_attributes(_attributes(operation))
        if operation.kind == "model":
            span.set_attributes(_usage(operation))
        else:
            span.set_attribute(names.RECORD_COUNT, operation.records)
        if self._channel_ids and operation.channel:
            span.set_attribute(names.STORE_ID, operation.channel)
        if self.wants_content and operation.text:
            span.set_attribute(names.QUERY_TEXT, operation.text)
            span.set_attribute(names.RECORDS, operation.texts)
        if operation.outcome not in _FINE:
            # Without words: those of an error may quote a message.
            span.set_attribute(names.ERROR_TYPE, _error_type(operation))
            span.set_status(trace.StatusCode.ERROR)

    def _measure(self, operation: Operation) -> None:
        name = names.operation_name(operation)
        if not name:
            known: dict[str, str] = {names.TASK: operation.task} if operation.task else {}
            labels = {"pipimem.operation": operation.kind, names.OUTCOME: operation.outcome}
            self._own_duration.record(operation.seconds, labels | known)
            return
        attributes = {names.OPERATION_NAME: name, names.PROVIDER_NAME: names.SCOPE}
        if operation.kind == "model":
            attributes[names.PROVIDER_NAME] = names.provider_name(operation.model)
            attributes[names.REQUEST_MODEL] = operation.model
            self._tokens.record(operation.tokens_in, attributes | {names.TOKEN_TYPE: "input"})
            self._tokens.record(operation.tokens_out, attributes | {names.TOKEN_TYPE: "output"})
        if operation.outcome not in _FINE:
            attributes[names.ERROR_TYPE] = _error_type(operation)
        self._duration.record(operation.seconds, attributes)


def _attributes(operation: Operation) -> dict[str, str]:
    """What each span has."""
    known = {
        names.OPERATION_NAME: names.operation_name(operation),
        names.CORRELATION: operation.correlation,
        names.TASK: operation.task,
        names.OUTCOME: operation.outcome,
    }
    if operation.kind != "model" and known[names.OPERATION_NAME]:
        known[names.PROVIDER_NAME] = names.SCOPE
    return {name: value for name, value in known.items() if value}


def _usage(operation: Operation) -> dict[str, str | int | float]:
    """What the span of a model's call has besides."""
    known: dict[str, str | int | float] = {
        names.REQUEST_MODEL: operation.model,
        names.REQUEST_MAX_TOKENS: operation.max_tokens,
        names.INPUT_TOKENS: operation.tokens_in,
        names.OUTPUT_TOKENS: operation.tokens_out,
        names.CACHED_TOKENS: operation.tokens_cached,
    }
    provider = names.provider_name(operation.model)
    if provider:
        known[names.PROVIDER_NAME] = provider
    if operation.cost is not None:
        known[names.COST] = operation.cost
    return known


def _error_type(operation: Operation) -> str:
    """The class of the error, or what the ledger calls the outcome."""
    return operation.error or operation.outcome


def trace_ids() -> dict[str, str]:
    """The ids of the current span as exporters write them; empty without one."""
    found = trace.get_current_span().get_span_context()
    if not found.is_valid:
        return {}
    return {
        "trace_id": trace.format_trace_id(found.trace_id),
        "span_id": trace.format_span_id(found.span_id),
    }
