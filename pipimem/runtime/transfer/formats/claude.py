"""Claude's data export: `conversations.json`, a list of messages for each conversation."""

from __future__ import annotations

from collections.abc import Iterator

from pipimem.notes.message import Message
from pipimem.runtime.transfer.formats.conversation_files import (
    conversations,
    has_conversations_with,
)
from pipimem.runtime.transfer.formats.values import (
    Json,
    as_list,
    as_object,
    role_of,
    session_label,
    text_of,
    texts_of_blocks,
    time_of,
)
from pipimem.runtime.transfer.found import Found, FoundMessage, Skipped, SourceFormat
from pipimem.runtime.transfer.source_files import SourceFiles


def recognises(files: SourceFiles) -> bool:
    """Whether the conversations have lists of messages."""
    return has_conversations_with(files, "chat_messages")


def read(files: SourceFiles) -> Iterator[Found]:
    """The messages of each conversation in their order."""
    for row, name in conversations(files):
        yield from _conversation(row, name)


def _conversation(row: Json, name: str) -> Iterator[Found]:
    key = text_of(row, "uuid")
    session = session_label(text_of(row, "name"), key)
    for number, one in enumerate(as_list(row.get("chat_messages")), 1):
        message = as_object(one)
        origin = f"{name}#{key}/{text_of(message, 'uuid') or number}"
        for kind in ("attachments", "files"):
            for _ in as_list(message.get(kind)):
                yield Skipped(origin, "a file beside a message")
        yield _found(message, origin, session)


def _found(message: Json, origin: str, session: str) -> Found:
    role = role_of(text_of(message, "sender"))
    text = _text(message)
    if role is None:
        return Skipped(origin, "a message of an unknown sender")
    if not text:
        return Skipped(origin, "a message without text")
    when = time_of(message.get("created_at"))
    return FoundMessage(Message(role, text, text_of(message, "uuid"), when, "", session))


def _text(message: Json) -> str:
    """What was said, without reasoning and calls of tools; older exports have no blocks."""
    if as_list(message.get("content")):
        return texts_of_blocks(message)
    return text_of(message, "text")


FORMAT = SourceFormat("claude", "Claude's data export", recognises, read)
