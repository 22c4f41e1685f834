"""`conversations.json` of chat services' exports, one array of conversations, or its parts."""

from __future__ import annotations

from collections.abc import Iterator

from pipimem.runtime.transfer.formats.values import Json, as_object
from pipimem.runtime.transfer.source_files import JsonElements, SourceFiles

# Large exports have conversations-000.json, -001 … in its place.
_BEGINS, _ENDS = "conversations", ".json"
# The first conversation begins within so many bytes, whatever it says.
_HEAD_BYTES = 256 * 1024


def has_conversations_with(files: SourceFiles, key: str) -> bool:
    """Whether a file of conversations has a key near its beginning."""
    heads = (files.head(name, _HEAD_BYTES) for name in _names(files))
    return any(f'"{key}"' in head for head in heads)


def conversations(files: SourceFiles) -> Iterator[tuple[Json, str]]:
    """Each conversation, and the name of its file."""
    for name in _names(files):
        with files.stream(name) as file:
            for one in JsonElements(file, name):
                yield as_object(one), name


def _names(files: SourceFiles) -> list[str]:
    """The files of conversations in their order; a single file may have any name."""
    named = [name for name in files.named(_ENDS) if files.base(name).startswith(_BEGINS)]
    if not named and len(files.names) == 1:
        return list(files.names)
    return sorted(named)
