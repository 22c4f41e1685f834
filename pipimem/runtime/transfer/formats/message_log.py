"""Plain logs of messages: JSON Lines, a JSON array, or CSV with a header."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import suppress

from pipimem.errors import ArchiveError
from pipimem.notes.message import Message
from pipimem.runtime.transfer.formats.values import (
    Json,
    as_list,
    as_object,
    role_of,
    text_of,
    time_of,
)
from pipimem.runtime.transfer.found import Found, FoundMessage, Skipped, SourceFormat
from pipimem.runtime.transfer.source_files import JsonElements, SourceFiles

# The fields of the logs that people have, the likeliest first.
_CONTENT = ("content", "text", "message", "body", "msg")
_ROLE = ("role", "sender_type", "author_role")
_NAME = ("name", "speaker", "user_name", "username", "sender", "author", "from", "user")
_TIME = ("ts", "timestamp", "time", "created_at", "datetime", "date", "create_time")
_ID = ("id", "message_id", "msg_id", "uuid")
_SESSION = ("session", "session_id", "conversation_id", "thread_id", "conversation", "thread")
_CHANNEL = ("channel", "channel_id", "room", "chat_id")
_SAYS_WHO = (*_ROLE, *_NAME, "type")
_LOOKED_AT = 3
# Characters of a row of CSV; its fields may take many times as much memory.
_LONGEST_ROW = 2_000_000
_JSON, _CSV = (".jsonl", ".ndjson", ".json"), (".csv", ".tsv")


def recognises(files: SourceFiles) -> bool:
    """Whether each file is a log whose first row says who said what."""
    if not files.names or len(files.names) != len(files.named(*_JSON, *_CSV)):
        return False
    return all(_is_log(files, name) for name in files.names)


def _is_log(files: SourceFiles, name: str) -> bool:
    head = files.head(name, 64 * 1024)
    if name.endswith(_CSV):
        fields = {field.strip().casefold() for field in _delimited(head, name)}
        return bool(fields & set(_CONTENT)) and bool(fields & set(_SAYS_WHO))
    return any(
        _content(row) and text_of(row, *_SAYS_WHO) for row in map(as_object, _first_rows(head))
    )


def _first_rows(head: str) -> Iterator[object]:
    """The first values of a file; the very first may say what the file is."""
    at, decoder = 0, json.JSONDecoder()
    with suppress(ValueError, RecursionError):
        for _ in range(_LOOKED_AT):
            at += len(head[at:]) - len(head[at:].lstrip("[, \t\r\n"))
            row, at = decoder.raw_decode(head, at)
            yield row


def _delimited(head: str, name: str) -> list[str]:
    first = head.split("\n", 1)[0]
    return next(csv.reader([first], delimiter="\t" if name.endswith(".tsv") else ","), [])


def read(files: SourceFiles) -> Iterator[Found]:
    """The messages of each log in their order."""
    for name in files.names:
        rows = _csv_rows(files, name) if name.endswith(_CSV) else _json_rows(files, name)
        for number, row in enumerate(rows, 1):
            yield _message(row, f"{name}:{number}")


def _json_rows(files: SourceFiles, name: str) -> Iterator[Json]:
    with files.stream(name) as file:
        yield from map(as_object, JsonElements(file, name))


def _csv_rows(files: SourceFiles, name: str) -> Iterator[Json]:
    with files.stream(name) as file:
        lines = _Lines(io.TextIOWrapper(file, encoding="utf-8-sig", newline=""), name)
        rows = csv.DictReader(lines, delimiter="\t" if name.endswith(".tsv") else ",", strict=True)
        try:
            for row in rows:
                lines.row_length = 0
                yield {str(field).strip().casefold(): value for field, value in row.items()}
        except (csv.Error, UnicodeDecodeError) as error:
            raise ArchiveError(
                f"{name}, line {rows.line_num + 1}: {error}; nothing was taken in"
            ) from error


class _Lines:
    """The lines of a text. Raises `ArchiveError` where a row has too many characters.

    Whoever reads rows sets `row_length` back to 0 after each.
    """

    def __init__(self, text: io.TextIOBase, name: str) -> None:
        self._text, self._name = text, name
        self._number = 0
        self.row_length = 0

    def __iter__(self) -> Iterator[str]:
        for line in iter(lambda: self._text.readline(_LONGEST_ROW), ""):
            self._number += 1
            self.row_length += len(line)
            if self.row_length >= _LONGEST_ROW:
                raise ArchiveError(
                    f"{self._name}, line {self._number}: the row is too long, or never ends; "
                    "nothing was taken in"
                )
            yield line


def _content(row: Json) -> str:
    """What was said: a text, or the texts among the parts of a message."""
    parts = [as_object(one) for one in as_list(row.get("content"))]
    said = [text_of(one, "text") for one in parts if one.get("type") == "text"]
    return "\n\n".join(filter(None, said)) or text_of(row, *_CONTENT)


def _message(row: Json, origin: str) -> Found:
    content, who = _content(row), text_of(row, *_ROLE)
    if not content:
        return Skipped(origin, "a row without content")
    # In some logs the type is who spoke, in others that it is a message.
    role = role_of(who) or role_of(text_of(row, "type")) or role_of(text_of(row, *_NAME))
    if role is None and who:
        return Skipped(origin, f"a row of the role {who[:40]!r}")
    name = "" if role_of(text_of(row, *_NAME)) else text_of(row, *_NAME)
    when = next(filter(None, (time_of(row.get(field)) for field in _TIME)), None)
    ids = (text_of(row, *_ID), when, name, text_of(row, *_SESSION))
    return FoundMessage(Message(role or "user", content, *ids), text_of(row, *_CHANNEL))


FORMAT = SourceFormat("log", "a log of messages as JSON Lines, JSON or CSV", recognises, read)
