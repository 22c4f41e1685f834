"""What each tool answers, as JSON schemas.

Clients check each answer against its schema, in Python at 30 µs a value: the schema of a hit names
what it has, and says in words of what types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


def _object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def _list(description: str, *required: str) -> dict[str, Any]:
    items = {"type": "object", "required": list(required)}
    return {"type": "array", "items": items, "description": description}


_HITS = _list(
    "Each has its id, its text, and its source: an object with file, section, messages (a list of "
    "ids), date and speaker, without what is not known.",
    "id",
    "text",
    "source",
)
_WHOLE = _list(
    "For each id its text, with the source of a message, or the trust and the messages of an "
    "entry; or an error, and of which id."
)
_CHANGE = _object(
    {"done": _TEXT, "id": _TEXT, "before": _TEXT, "after": _TEXT, "section": _TEXT}, "done", "id"
)
_CHANGED = {"changes": {"type": "array", "items": _CHANGE}, "note": _TEXT}
_SAVED = {**_CHANGED, "similar": _HITS}
_EACH = _list(
    "Of several calls in one: for each what it answers alone, or an error, and of which item."
)

OUTPUT_SCHEMAS: Mapping[str, dict[str, Any]] = {
    "memory_search": _object({"hits": _HITS, "messages": _HITS, "results": _WHOLE, "note": _TEXT}),
    "memory_save": _object({**_SAVED, "results": _EACH}),
    "memory_update": _object({**_CHANGED, "results": _EACH}),
    "memory_forget": _object(
        {"would_take_out": _HITS, "taken_out": _TEXTS, "results": _EACH, "note": _TEXT}
    ),
    "memory_feedback": _object({**_CHANGED, "id": _TEXT, "results": _EACH}),
}
"""By tool; a call that could not be carried out has no structured result."""
