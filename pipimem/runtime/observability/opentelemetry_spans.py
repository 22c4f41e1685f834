"""Operations as spans and metrics of OpenTelemetry, through its API alone.

Without an SDK in the process nothing is kept, and an operation costs some microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import Token

from msgspec import Struct
from opentelemetry import context, metrics, trace
from opentelemetry.context import Context

from pipimem.observer import Operation, OperationKind

SCOPE = "pipimem"

OPERATION_NAME = "gen_ai.operation.name"
PROVIDER_NAME = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - a name
ERROR_TYPE = "error.type"
STORE_ID = "gen_ai.memory.store.id"
RECORD_COUNT = "gen_ai.memory.record.count"
# Only where the settings ask for content.
QUERY_TEXT = "gen_ai.memory.query.text"
RECORDS = "gen_ai.memory.records"

# Metrics: seconds, and tokens.
DURATION = "gen_ai.client.operation.duration"
TOKEN_USAGE = "gen_ai.client.token.usage"  # noqa: S105 - a name
OWN_DURATION = "pipimem.operation.duration"

# Ours: the correlation id of ledger, changes and log lines, the job or task, how it ended.
CORRELATION = "pipimem.correlation_id"
TASK = "pipimem.task"
OUTCOME = "pipimem.outcome"
COST = "pipimem.cost_usd"

CHAT, EMBEDDINGS = "chat", "embeddings"
SEARCH_MEMORY, CREATE_MEMORY, UPDATE_MEMORY = "search_memory", "create_memory", "update_memory"
UPSERT_MEMORY, DELETE_MEMORY = "upsert_memory", "delete_memory"
# The task of an embedder's calls in the ledger.
_EMBED = "embed"

_MEMORY_OPERATIONS: Mapping[OperationKind, str] = {
    "recall": SEARCH_MEMORY,
    "search": SEARCH_MEMORY,
    "forget": DELETE_MEMORY,
}
# By what a commit is for; all others change what is there.
_COMMITS = {
    "consolidate": UPSERT_MEMORY,
    "remember": CREATE_MEMORY,
    "expire": DELETE_MEMORY,
    "take out": DELETE_MEMORY,
}
# litellm's names of providers that the conventions call otherwise.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "vertex_ai": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}


def operation_name(operation: Operation) -> str:
    """The conventions' name of an operation; empty for one that only we have, such as a turn."""
    if operation.kind == "model":
        return EMBEDDINGS if operation.task == _EMBED else CHAT
    if operation.kind == "commit":
        return _COMMITS.get(operation.task, UPDATE_MEMORY)
    return _MEMORY_OPERATIONS.get(operation.kind, "")


def span_name(operation: Operation) -> str:
    """`chat MODEL`, `search_memory`; `pipimem.turn` and the like for what only we have."""
    name = operation_name(operation)
    if operation.kind == "model":
        return f"{name} {operation.model}"
    return name or f"pipimem.{operation.kind}"


def provider_name(model: str) -> str:
    """The provider of a model `provider/model`; a plain name is OpenAI's or unknown."""
    provider, slash, _ = model.partition("/")
    if not slash:
        return "openai" if model.startswith(("gpt-", "o1", "o3", "o4", "text-embedding-")) else ""
    return _PROVIDERS.get(provider, provider)


# What is no failure: a gate that defers keeps the talk, and a caller may give up.
_FINE = ("ok", "consolidated", "deferred", "cancelled", "unsent")
# Seconds, as the conventions advise: a turn takes milliseconds, a model minutes.
_BUCKETS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24)
_LONG_BUCKETS = (*_BUCKETS, 20.48, 40.96, 81.92)
_TOKEN_BUCKETS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)


class _Open(Struct, frozen=True):
    """A span that is current until its operation ends."""

    span: trace.Span
    token: Token[Context]


class OpenTelemetryObserver:
    """`Observer` that makes spans and metrics in the GenAI conventions.

    With `content` spans hold questions and recalled entries; with `channel_ids` the channel.
    """

    def __init__(self, *, content: bool = False, channel_ids: bool = False) -> None:
        self.wants_content, self._channel_ids = content, channel_ids
        self._tracer = trace.get_tracer(SCOPE)
        meter = metrics.get_meter(SCOPE)
        self._duration = meter.create_histogram(
            DURATION,
            unit="s",
            description="Duration of operations with models and memory.",
            explicit_bucket_boundaries_advisory=_LONG_BUCKETS,
        )
        self._own_duration = meter.create_histogram(
            OWN_DURATION,
            unit="s",
            description="Duration of turns, gates and idle jobs.",
            explicit_bucket_boundaries_advisory=_LONG_BUCKETS,
        )
        self._tokens = meter.create_histogram(
            TOKEN_USAGE,
            unit="{token}",
            description="Tokens of calls of models.",
            explicit_bucket_boundaries_advisory=_TOKEN_BUCKETS,
        )

    def begin(self, operation: Operation) -> _Open | None:
        """Start a span, current for what the operation does; `None` without an SDK."""
        kind = trace.SpanKind.CLIENT if operation.kind == "model" else trace.SpanKind.INTERNAL
        span = self._tracer.start_span(span_name(operation), kind=kind)
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
            span.set_attribute(RECORD_COUNT, operation.records)
        if self._channel_ids and operation.channel:
            span.set_attribute(STORE_ID, operation.channel)
        if self.wants_content and operation.text:
            span.set_attribute(QUERY_TEXT, operation.text)
            span.set_attribute(RECORDS, operation.texts)
        if operation.outcome not in _FINE:
            # Without words: those of an error may quote a message.
            span.set_attribute(ERROR_TYPE, _error_type(operation))
            span.set_status(trace.StatusCode.ERROR)

    def _measure(self, operation: Operation) -> None:
        name = operation_name(operation)
        if not name:
            known: dict[str, str] = {TASK: operation.task} if operation.task else {}
            labels = {"pipimem.operation": operation.kind, OUTCOME: operation.outcome}
            self._own_duration.record(operation.seconds, labels | known)
            return
        attributes = {OPERATION_NAME: name, PROVIDER_NAME: SCOPE}
        if operation.kind == "model":
            attributes[PROVIDER_NAME] = provider_name(operation.model)
            attributes[REQUEST_MODEL] = operation.model
            self._tokens.record(operation.tokens_in, attributes | {TOKEN_TYPE: "input"})
            self._tokens.record(operation.tokens_out, attributes | {TOKEN_TYPE: "output"})
        if operation.outcome not in _FINE:
            attributes[ERROR_TYPE] = _error_type(operation)
        self._duration.record(operation.seconds, attributes)


def _attributes(operation: Operation) -> dict[str, str]:
    """What each span has."""
    known = {
        OPERATION_NAME: operation_name(operation),
        CORRELATION: operation.correlation,
        TASK: operation.task,
        OUTCOME: operation.outcome,
    }
    if operation.kind != "model" and known[OPERATION_NAME]:
        known[PROVIDER_NAME] = SCOPE
    return {name: value for name, value in known.items() if value}


def _usage(operation: Operation) -> dict[str, str | int | float]:
    """What the span of a model's call has besides."""
    known: dict[str, str | int | float] = {
        REQUEST_MODEL: operation.model,
        REQUEST_MAX_TOKENS: operation.max_tokens,
        INPUT_TOKENS: operation.tokens_in,
        OUTPUT_TOKENS: operation.tokens_out,
        CACHED_TOKENS: operation.tokens_cached,
    }
    provider = provider_name(operation.model)
    if provider:
        known[PROVIDER_NAME] = provider
    if operation.cost is not None:
        known[COST] = operation.cost
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
