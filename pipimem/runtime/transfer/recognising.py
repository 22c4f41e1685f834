"""Which kind of source some files are."""

from __future__ import annotations

from pipimem.errors import ArchiveError
from pipimem.runtime.transfer.formats import (
    basic_memory,
    chatgpt,
    claude,
    claude_code,
    langgraph_store,
    mcp_memory,
    mem0,
    message_log,
    nanobot,
    openclaw,
    pipiclaw,
    reme,
)
from pipimem.runtime.transfer.found import SourceFormat
from pipimem.runtime.transfer.source_files import SourceFiles

# The surest signs come first: a log of messages may look like anything.
FORMATS: tuple[SourceFormat, ...] = (
    chatgpt.FORMAT,
    claude.FORMAT,
    pipiclaw.FORMAT,
    reme.FORMAT,
    nanobot.FORMAT,
    basic_memory.FORMAT,
    openclaw.FORMAT,
    claude_code.FORMAT,
    mcp_memory.FORMAT,
    langgraph_store.FORMAT,
    mem0.FORMAT,
    message_log.FORMAT,
)


def format_of(files: SourceFiles, name: str = "") -> SourceFormat:
    """The format of a name, else the one that the files are of.

    Raises `ArchiveError` where nothing is known of them.
    """
    for one in FORMATS:
        if one.name == name or (not name and one.recognises(files)):
            return one
    known = ", ".join(one.name for one in FORMATS)
    raise ArchiveError(
        f"{files.path} is nothing that is known. Say with --from what it is: {known}"
    )
