"""ChatGPT's data export: `conversations.json`, a tree of messages for each conversation."""

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
    time_of,
)
from pipimem.runtime.transfer.found import Found, FoundMessage, Skipped, SourceFormat
from pipimem.runtime.transfer.source_files import SourceFiles

_SHOWN = ("text", "multimodal_text")


def recognises(files: SourceFiles) -> bool:
    """Whether the conversations are trees."""
    return has_conversations_with(files, "mapping")


def read(files: SourceFiles) -> Iterator[Found]:
    """The messages of each conversation as its last branch shows them."""
    for row, name in conversations(files):
        yield from _conversation(row, name)


def _conversation(row: Json, name: str) -> Iterator[Found]:
    mapping = as_object(row.get("mapping"))
    key = text_of(row, "conversation_id", "id")
    session = session_label(text_of(row, "title"), key)
    shown = _branch(mapping, text_of(row, "current_node"))
    for node in shown:
        message = as_object(as_object(mapping[node]).get("message"))
        if message:
            yield _found(message, f"{name}#{key}/{node}", session)
    for node in mapping.keys() - set(shown):
        if as_object(as_object(mapping[node]).get("message")):
            yield Skipped(f"{name}#{key}/{node}", "another branch of a conversation")


def _branch(mapping: Json, last: str) -> list[str]:
    """The nodes from the root to the last one; the deepest path where none is named."""
    if last not in mapping:
        last = next(reversed(list(mapping)), "")
    found: list[str] = []
    seen: set[str] = set()
    while last in mapping and last not in seen:
        seen.add(last)
        found.append(last)
        last = text_of(as_object(mapping[last]), "parent")
    return found[::-1]


def _found(message: Json, origin: str, session: str) -> Found:
    content, metadata = as_object(message.get("content")), as_object(message.get("metadata"))
    role = role_of(text_of(as_object(message.get("author")), "role"))
    parts = [part for part in as_list(content.get("parts")) if isinstance(part, str)]
    text = "\n".join(filter(str.strip, parts))
    reason = _why_left_out(message, metadata, str(role), content, text)
    if reason or role is None:
        return Skipped(origin, reason or "a message of an unknown role")
    name = text_of(as_object(message.get("author")), "name") if role == "tool" else ""
    when = time_of(message.get("create_time"))
    return FoundMessage(Message(role, text, text_of(message, "id"), when, name, session))


def _why_left_out(message: Json, metadata: Json, role: str, content: Json, text: str) -> str:
    if role == "system" or metadata.get("is_user_system_message"):
        return "instructions to the model"
    if metadata.get("is_visually_hidden_from_conversation"):
        return "a message that the conversation does not show"
    if role == "assistant" and text_of(message, "recipient") not in ("", "all"):
        return "a call of a tool"
    kind = text_of(content, "content_type") or "text"
    if kind not in _SHOWN:
        return f"content of the type {kind[:40]}"
    return "" if text else "a message without text"


FORMAT = SourceFormat("chatgpt", "ChatGPT's data export", recognises, read)
