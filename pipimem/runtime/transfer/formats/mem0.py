"""Memories of mem0 as `get_all` returns them: a list, or an object with `results`."""

from __future__ import annotations

from collections.abc import Iterator

from pipimem.runtime.transfer.formats.values import Json, as_list, as_object, text_of, time_of
from pipimem.runtime.transfer.found import Found, FoundEntry, LeftOut, SourceFormat
from pipimem.runtime.transfer.json_elements import JsonElements
from pipimem.runtime.transfer.source_files import SourceFiles


def recognises(files: SourceFiles) -> bool:
    """Whether it is one JSON file of memories."""
    if len(files.named(".json", ".jsonl")) != 1 or len(files.names) != 1:
        return False
    head = files.head(files.names[0], 64 * 1024)
    return '"memory"' in head and '"id"' in head and '"entityType"' not in head


def read(files: SourceFiles) -> Iterator[Found]:
    """An entry for each memory; of several users, each has a channel of their own."""
    (name,) = files.names
    with files.stream(name) as file:
        rows = list(_rows(JsonElements(file, name)))
    users = {text_of(row, "user_id") for row in rows}
    for number, row in enumerate(rows, 1):
        origin = f"{name}#{text_of(row, 'id') or number}"
        text = text_of(row, "memory")
        if text:
            when = time_of(row.get("updated_at")) or time_of(row.get("created_at"))
            channel = text_of(row, "user_id") if len(users) > 1 else ""
            yield FoundEntry(text, origin, when=when, channel=channel)
        else:
            yield LeftOut(origin, "a row without a memory")


def _rows(values: JsonElements) -> Iterator[Json]:
    for value in values:
        row = as_object(value)
        if "results" in row:
            yield from map(as_object, as_list(row["results"]))
        else:
            yield row


FORMAT = SourceFormat("mem0", "memories of mem0, as get_all returns them", recognises, read)
