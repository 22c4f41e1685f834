"""The names of OpenTelemetry's GenAI conventions that we use, as strings, and ours beside them.

The conventions are in development, and the package of their constants deprecates its own and lacks
those of memory (as of November 2026): what is renamed there is renamed here.
"""

from __future__ import annotations

from collections.abc import Mapping

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

# Ours: the correlation id of ledger, journal and log lines, the job or task, how it ended.
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
