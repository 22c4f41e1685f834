"""The knowledge graph of MCP's reference memory server: entities and relations, one a line."""

from __future__ import annotations

from collections.abc import Iterator

from pipimem.runtime.transfer.formats.values import Json, as_list, as_object, text_of, with_name
from pipimem.runtime.transfer.found import Found, FoundEntry, Skipped, SourceFormat
from pipimem.runtime.transfer.source_files import JsonElements, SourceFiles


def recognises(files: SourceFiles) -> bool:
    """Whether it is one file that begins with an entity or a relation."""
    if len(files.names) != 1:
        return False
    head = files.head(files.names[0], 64 * 1024)
    return '"entityType"' in head or '"relationType"' in head


def read(files: SourceFiles) -> Iterator[Found]:
    """An entry for each observation, behind its entity's name, and for each relation."""
    (name,) = files.names
    with files.stream(name) as file:
        for number, row in enumerate(map(as_object, JsonElements(file, name)), 1):
            origin = f"{name}:{number}"
            match row.get("type"):
                case "entity":
                    yield from _entity(row, origin)
                case "relation":
                    yield _relation(row, origin)
                case _:
                    yield Skipped(origin, "neither an entity nor a relation")


def _entity(row: Json, origin: str) -> Iterator[Found]:
    name = text_of(row, "name")
    said = [one for one in as_list(row.get("observations")) if isinstance(one, str) and one.strip()]
    if not name or not said:
        yield Skipped(origin, "an entity without name or observations")
        return
    for number, one in enumerate(said, 1):
        yield FoundEntry(with_name(name, one), f"{origin}#{number}")


def _relation(row: Json, origin: str) -> Found:
    parts = [text_of(row, field) for field in ("from", "relationType", "to")]
    if not all(parts):
        return Skipped(origin, "a relation with a part missing")
    return FoundEntry(" ".join(part.replace("_", " ") for part in parts), origin)


FORMAT = SourceFormat(
    "mcp-memory", "the JSON Lines of MCP's reference memory server", recognises, read
)
