"""A dump of a LangGraph store: items with namespace, key and value, as `Item.dict()` has them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pipimem.runtime.transfer.formats.values import Json, as_list, as_object, text_of, time_of
from pipimem.runtime.transfer.found import Found, FoundEntry, Skipped, SourceFormat
from pipimem.runtime.transfer.source_files import JsonElements, SourceFiles

# Where the value of an item keeps what it says.
_TEXTS = ("content", "text", "memory", "data", "value", "fact")


def recognises(files: SourceFiles) -> bool:
    """Whether it is one file of items."""
    if len(files.names) != 1:
        return False
    head = files.head(files.names[0], 64 * 1024)
    return all(f'"{field}"' in head for field in ("namespace", "key", "value"))


def read(files: SourceFiles) -> Iterator[Found]:
    """An entry for each item; each namespace is a channel."""
    (name,) = files.names
    with files.stream(name) as file:
        for number, row in enumerate(map(as_object, JsonElements(file, name)), 1):
            yield _item(row, f"{name}#{text_of(row, 'key') or number}")


def _item(row: Json, origin: str) -> Found:
    namespace = "/".join(one for one in as_list(row.get("namespace")) if isinstance(one, str))
    value = as_object(row.get("value"))
    if not value:
        return Skipped(origin, "an item without a value")
    text = text_of(value, *_TEXTS) or json.dumps(value, ensure_ascii=False)
    when = time_of(row.get("updated_at")) or time_of(row.get("created_at"))
    return FoundEntry(text, origin, when=when, channel=namespace)


FORMAT = SourceFormat("langgraph", "a dump of a LangGraph store", recognises, read)
