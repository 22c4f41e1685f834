"""Memories of mem0 as `get_all` returns them: a list, or an object with `results`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pipimem.runtime.transfer.formats.values import Json, as_list, as_object, text_of, time_of
from pipimem.runtime.transfer.found import Found, FoundEntry, Skipped, SourceFormat
from pipimem.runtime.transfer.limits import MOST_NOTES
from pipimem.runtime.transfer.source_files import JsonElements, SourceFiles


def recognises(files: SourceFiles) -> bool:
    """Whether it is one JSON file of memories."""
    if len(files.named(".json", ".jsonl")) != 1 or len(files.names) != 1:
        return False
    head = files.head(files.names[0], 64 * 1024)
    return '"memory"' in head and '"id"' in head and '"entityType"' not in head


def read(files: SourceFiles) -> Iterator[Found]:
    """An entry for each memory; of several users, each has a channel of their own."""
    (name,) = files.names
    has_users = _has_several_users(files, name)
    for number, row in enumerate(_rows(files, name), 1):
        origin = f"{name}#{text_of(row, 'id') or number}"
        text = text_of(row, "memory")
        if text:
            when = time_of(row.get("updated_at")) or time_of(row.get("created_at"))
            channel = text_of(row, "user_id") if has_users else ""
            yield FoundEntry(text, origin, when=when, channel=channel)
        else:
            yield Skipped(origin, "a row without a memory")


def _has_several_users(files: SourceFiles, name: str) -> bool:
    """Whether the memories are of more than one user, among so many as an import takes."""
    rows = (row for row in _rows(files, name) if text_of(row, "memory"))
    users = (text_of(row, "user_id") for row in islice(rows, MOST_NOTES))
    first = next(users, "")
    return any(user != first for user in users)


def _rows(files: SourceFiles, name: str) -> Iterator[Json]:
    with files.stream(name) as file:
        for row in map(as_object, JsonElements(file, name)):
            if "results" in row:
                yield from map(as_object, as_list(row["results"]))
            else:
                yield row


FORMAT = SourceFormat("mem0", "memories of mem0, as get_all returns them", recognises, read)
