"""A workspace of ReMe: `digest/`, `daily/`, and the conversations in `session/dialog/`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.runtime.transfer.formats.markdown_files import front_matter, paragraphs
from pipimem.runtime.transfer.formats.values import (
    Json,
    as_object,
    day_of_name,
    role_of,
    text_of,
    texts_of_blocks,
    time_of,
)
from pipimem.runtime.transfer.found import (
    Found,
    FoundDay,
    FoundEntry,
    FoundMessage,
    Skipped,
    SourceFormat,
)
from pipimem.runtime.transfer.source_files import JsonElements, SourceFiles

_DIGEST = re.compile(r"digest/(personal|procedure|wiki)/.+\.md")
_DAILY = re.compile(r"daily/(\d{4}-\d{2}-\d{2})/[^/]+\.md")
_DIALOG = re.compile(r"session/dialog/([^/]+)\.jsonl")
_KINDS = {"procedure": Kind.LESSON, "wiki": Kind.FACT, "personal": Kind.FACT}
_SOURCES = "sources"


def recognises(files: SourceFiles) -> bool:
    """Whether there is a node of the digest, a card of a day or a dialog."""
    return any(_place(name) for name in files.names)


def _place(name: str) -> re.Match[str] | None:
    return _DIGEST.fullmatch(name) or _DAILY.fullmatch(name) or _DIALOG.fullmatch(name)


def read(files: SourceFiles) -> Iterator[Found]:
    """Entries of the digest, a day for the cards of each, and messages of the dialogs."""
    days: dict[date, list[str]] = {}
    for name in files.names:
        if found := _DIGEST.fullmatch(name):
            yield from _node(files.text(name), name, found[1])
        elif found := _DAILY.fullmatch(name):
            day = day_of_name(found[1])
            if day is not None:
                days.setdefault(day, []).extend(_card(files.text(name)))
        elif found := _DIALOG.fullmatch(name):
            yield from _dialog(files, name, found[1])
        else:
            yield Skipped(name, "neither digest, daily card nor dialog")
    for day, lines in days.items():
        yield FoundDay(day, tuple(lines), f"daily/{day}")


def _node(text: str, name: str, folder: str) -> Iterator[Found]:
    fields = front_matter(text)
    kind = Kind.PREFERENCE if fields.get("kind") == "preference" else _KINDS[folder]
    title = fields.get("name", "")
    if fields.get("description"):
        yield FoundEntry(fields["description"], name, kind)
    for one in paragraphs(text):
        if one.section.casefold() != _SOURCES:
            said = f"{title}: {one.text}" if title else one.text
            yield FoundEntry(said, f"{name}:{one.line}", kind)


def _card(text: str) -> Iterator[str]:
    """The lines of a card of a day: what it says in short, or all of it."""
    short = front_matter(text).get("description")
    if short:
        yield short
    else:
        yield from (one.text for one in paragraphs(text) if one.section.casefold() != _SOURCES)


def _dialog(files: SourceFiles, name: str, session: str) -> Iterator[Found]:
    with files.stream(name) as file:
        for number, row in enumerate(map(as_object, JsonElements(file, name)), 1):
            role, text = role_of(text_of(row, "role")), _text(row)
            if role is None or not text:
                yield Skipped(f"{name}:{number}", "a message without role or text")
                continue
            speaker = text_of(row, "name") if role == "user" else ""
            when = time_of(row.get("timestamp")) or time_of(row.get("created_at"))
            yield FoundMessage(Message(role, text, text_of(row, "id"), when, speaker, session))


def _text(row: Json) -> str:
    """What a message says: its content, or the texts among its blocks."""
    return texts_of_blocks(row) or text_of(row, "content")


FORMAT = SourceFormat("reme", "a workspace of ReMe", recognises, read)
