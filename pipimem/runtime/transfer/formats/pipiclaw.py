"""A workspace of pipiclaw: for each channel its notes, their ids and metadata, and its log."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256

from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.runtime.transfer.formats.markdown_files import kind_of_item, paragraphs
from pipimem.runtime.transfer.formats.values import (
    Json,
    as_object,
    day_of_name,
    text_of,
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

_CHANNEL = re.compile(r"(?:.*/)?((?:dm|group)_[^/]+)/(.+)")
_ID = re.compile(r"<!--\s*id:(m-[a-z0-9]+)\s*-->", re.IGNORECASE)
_UPDATE = re.compile(r"Update\s+(\S+)")
_KINDS = {
    "preference": Kind.PREFERENCE,
    "decision": Kind.DECISION,
    "constraint": Kind.CONSTRAINT,
    "open-loop": Kind.OPEN_LOOP,
    "lesson": Kind.LESSON,
}
# A block's heading is a time, alone or behind words: "Folded History Through …", "Archived …".
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LOGS = ("log.jsonl.1", "log.jsonl")
_NOT_READ = {"SESSION.md": "what was going on then"}
_METADATA = ".memory/entries.json"
_TOMBSTONES = ".memory/tombstones.jsonl"
_DELETED = "it was deleted there"
_HISTORIES = ("HISTORY.archive.md", "HISTORY.md")


def recognises(files: SourceFiles) -> bool:
    """Whether there is a channel's folder with its notes or its log."""
    known = {"MEMORY.md", _METADATA, *_LOGS}
    return any(place in known for _, place in _places(files))


def _places(files: SourceFiles) -> Iterator[tuple[str, str]]:
    """The channel's folder of each file, and its place in it."""
    for name in files.names:
        found = _CHANNEL.fullmatch(name)
        if found:
            yield name.removesuffix(f"/{found[2]}"), found[2]


def read(files: SourceFiles) -> Iterator[Found]:
    """Entries, days and messages of each channel; ids of channels are as their folders say."""
    by_folder: dict[str, set[str]] = {}
    for folder, place in _places(files):
        by_folder.setdefault(folder, set()).add(place)
    for folder, places in sorted(by_folder.items()):
        # pipiclaw writes / in an id as two underscores.
        channel = folder.rpartition("/")[2].replace("__", "/")
        if "MEMORY.md" in places:
            entries = _entries(files, folder, channel, has_metadata=_METADATA in places)
            deleted = _deleted(files, f"{folder}/{_TOMBSTONES}") if _TOMBSTONES in places else {}
            yield from (_unless_deleted(entry, deleted) for entry in entries)
        for place in (*_HISTORIES, *_LOGS, *_NOT_READ):
            if place in places:
                yield from _of(files, folder, place, channel)


def _of(files: SourceFiles, folder: str, place: str, channel: str) -> Iterator[Found]:
    """What is found in one file of a channel."""
    name = f"{folder}/{place}"
    if place in _HISTORIES:
        yield from _days(files, name, channel)
    elif place in _LOGS:
        yield from _messages(files, name, channel)
    else:
        yield Skipped(name, _NOT_READ[place])


def _deleted(files: SourceFiles, name: str) -> Mapping[str, datetime | None]:
    """When each entry was deleted, by its id and by the hash of its text."""
    found: dict[str, datetime | None] = {}
    with files.stream(name) as file:
        for row in map(as_object, JsonElements(file, name)):
            when = time_of(row.get("deletedAt"))
            found |= {text_of(row, "entryId"): when, text_of(row, "contentHash"): when}
    found.pop("", None)
    return found


def _unless_deleted(entry: FoundEntry, deleted: Mapping[str, datetime | None]) -> Found:
    """The entry, unless its id or its text was deleted and it was not asked for anew since."""
    plain = " ".join(unicodedata.normalize("NFKC", entry.text).split()).lower()
    for key in (entry.origin.rpartition("#")[2], sha256(plain.encode()).hexdigest()):
        when = deleted.get(key)
        if key in deleted and not (when and entry.when and entry.when > when):
            return Skipped(entry.origin, _DELETED)
    return entry


def _entries(
    files: SourceFiles, folder: str, channel: str, *, has_metadata: bool
) -> Iterator[FoundEntry]:
    name = f"{folder}/MEMORY.md"
    text = files.text(name)
    known: Json = {}
    if has_metadata:
        with files.stream(f"{folder}/{_METADATA}") as file:
            known = as_object(as_object(next(iter(JsonElements(file, name)), None)).get("entries"))
    lines = text.split("\n")
    for one in paragraphs(text):
        # What stands above the first section says what the file is.
        if not one.section or one.is_below_title:
            continue
        # The comment with the id stands behind the text, in the entry's own first line.
        found = _ID.search(lines[one.line - 1])
        fields = as_object(known.get(found[1])) if found else {}
        origin = f"{name}#{found[1]}" if found else f"{name}:{one.line}"
        kind = kind_of(one.section) or _KINDS.get(text_of(fields, "kind"), Kind.FACT)
        when = time_of(fields.get("createdAt")) or _time_of_update(one.section)
        kind = kind_of_item(one.text, kind)
        yield FoundEntry(one.text, origin, kind, when=when, channel=channel)


def _time_of_update(section: str) -> datetime | None:
    found = _UPDATE.fullmatch(section)
    return time_of(found[1]) if found else None


def _days(files: SourceFiles, name: str, channel: str) -> Iterator[Found]:
    by_day: dict[str, list[str]] = {}
    for one in paragraphs(files.text(name)):
        found = _DAY.search(one.section)
        if found:
            by_day.setdefault(found[0], []).append(one.text)
        elif one.section and not one.is_below_title:
            yield Skipped(f"{name}:{one.line}", "a block without a day")
    for day, lines in by_day.items():
        when = day_of_name(day)
        if when is not None:
            yield FoundDay(when, tuple(lines), name, channel=channel)


def _messages(files: SourceFiles, name: str, channel: str) -> Iterator[Found]:
    with files.stream(name) as file:
        for number, row in enumerate(map(as_object, JsonElements(file, name)), 1):
            yield _message(row, f"{name}:{number}", channel)


def _message(row: Mapping[str, object], origin: str, channel: str) -> Found:
    text = text_of(row, "text")
    if not text:
        return Skipped(origin, "a message without text")
    is_bot = row.get("isBot") is True
    speaker = "" if is_bot else text_of(row, "displayName", "userName", "user")
    key = text_of(row, "ts")
    # A bot's answer may have the time of what it answers.
    name = f"{key}{'-bot' if is_bot else ''}" if key else ""
    when = time_of(row.get("date")) or time_of(key)
    message = Message("assistant" if is_bot else "user", text, name, when, speaker)
    return FoundMessage(message, channel)


def is_group(channel: str) -> bool:
    """Whether a channel is a group, as its name says."""
    return channel.startswith("group_")


FORMAT = SourceFormat("pipiclaw", "a workspace of pipiclaw", recognises, read, is_group)
