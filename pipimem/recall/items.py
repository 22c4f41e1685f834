"""What can be recalled: entries, sections, history bullets and messages as one kind of value."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from operator import attrgetter

from pipimem.notes.entry import Entry
from pipimem.notes.history import read_heading
from pipimem.notes.kinds import kind_of
from pipimem.notes.ledger import Record
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.notes.session import section_of
from pipimem.text.quotes import day_of, read_quote

# What people and older tools write into a section that has nothing to say.
_EMPTY = frozenset(
    (
        "none",
        "n/a",
        "na",
        "tbd",
        "todo",
        "nothing",
        "nothing yet",
        "empty",
        "-",
        "无",
        "暂无",
        "没有",
        "待定",
        "空",
    )
)
_LONGEST_EMPTY = max(map(len, _EMPTY))


class Source(StrEnum):
    """Where an item stands; the value is the first part of its id."""

    SESSION = "session"
    MEMORY = "memory"
    WORKSPACE = "workspace"
    HISTORY = "history"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be recalled.

    `head` are words that stand beside the text and count as part of it for searching: the title of a history
    block, a heading of people's own, the date and speaker of a message. `section` is the heading as the file
    has it; `when` has an offset; `kind` is the kind of a durable entry or the standard name of a SESSION section, empty where
    there is none. `place` is where an entry of SESSION.md stands in its file: of equals the upper is first.
    """

    id: str
    source: Source
    section: str
    head: str
    text: str
    when: datetime | None = None
    kind: str = ""
    trust: str = ""
    recalls: int = 0
    speaker: str = ""
    role: str = ""
    place: int = 0

    @property
    def searched(self) -> str:
        """What is indexed and embedded: its text, under what stands beside it.

        Of a quote the name counts, the day does not: it is asked for as a day, by `when`.
        """
        quote = read_quote(self.text)
        text = f"{quote.name}\n{quote.said}" if quote.name else self.text
        return f"{self.head}\n{text}" if self.head else text


def items_of(notes: Notes, backlog: Sequence[Message] = ()) -> tuple[Item, ...]:
    """Everything of a channel that can be recalled, SESSION first; of equal ids the first stands."""
    found = (
        *session_items(notes.session, notes.ledger.tombstones),
        *memory_items(notes.memory, notes.ledger.records),
        *workspace_items(notes.workspace),
        *history_items(notes.history, notes.ledger.tombstones),
        *backlog_items(backlog),
    )
    return tuple({item.id: item for item in reversed(found)}.values())[::-1]


def session_items(note: Note, gone: Container[str] = ()) -> list[Item]:
    """One item for each entry of SESSION.md that is not `gone` by its id.

    A whole section would speak of many things: it shares a word with nearly every question, and takes the room of five.
    """
    items = _items(
        Source.SESSION,
        note,
        lambda section: (_own_heading(section), section_of(section), None),
        gone,
    )
    return [replace(item, place=place) for place, item in enumerate(items)]


def memory_items(note: Note, records: Mapping[str, Record]) -> list[Item]:
    """One item for each entry of the channel's MEMORY.md, with what the ledger knows of it."""
    items: list[Item] = []
    for section, group in groupby(note.entries, key=attrgetter("section")):
        head, kind, end = _own_heading(section), kind_of(section), read_heading(section)[1]
        said = (entry for entry in group if _says_something(entry))
        items += [_memory_item(entry, records.get(entry.id), head, kind, end) for entry in said]
    return items


def workspace_items(note: Note) -> list[Item]:
    """One item for each entry of the MEMORY.md that all channels share."""
    return _items(
        Source.WORKSPACE, note, lambda section: (_own_heading(section), kind_of(section), None)
    )


def history_items(note: Note, gone: Container[str] = ()) -> list[Item]:
    """One item for each bullet of HISTORY.md that is not `gone`, under the title and the end of its block."""
    return _items(Source.HISTORY, note, _history_heading, gone)


def backlog_items(messages: Iterable[Message]) -> tuple[Item, ...]:
    """One item for each message that is not consolidated yet; what tools printed is none."""
    return tuple(
        message_item(message) for message in messages if message.role in ("user", "assistant")
    )


def message_item(message: Message) -> Item:
    """A message as an item; its date and speaker can be searched like its words."""
    date = f"{message.time:%Y-%m-%d}" if message.time else ""
    return Item(
        f"{Source.LOG}:{message.id}",
        Source.LOG,
        date,
        f"{date} {message.speaker}".strip(),
        message.content,
        when=aware(message.time) if message.time else None,
        speaker=message.speaker,
        role=message.role,
    )


def aware(when: datetime) -> datetime:
    """A time as it can be compared: one without an offset, as hands and older tools write it, is taken as UTC."""
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _items(
    source: Source,
    note: Note,
    heading: Callable[[str], tuple[str, str | None, datetime | None]],
    gone: Container[str] = (),
) -> list[Item]:
    """One item for each entry that says something; `heading` tells the words beside it, its kind and its time."""
    items: list[Item] = []
    for section, group in groupby(note.entries, key=attrgetter("section")):
        head, kind, when = heading(section)
        for entry in group:
            if entry.id not in gone and _says_something(entry):
                name = f"{source}:{entry.ref}"
                items.append(
                    Item(
                        name,
                        source,
                        section,
                        head,
                        entry.text,
                        _said_on(entry.text) or when,
                        kind or "",
                    )
                )
    return items


def _history_heading(section: str) -> tuple[str, None, datetime | None]:
    _, end, _, title = read_heading(section)
    return title if title != section else _own_heading(section), None, end


def _memory_item(
    entry: Entry, record: Record | None, head: str, kind: str | None, end: datetime | None
) -> Item:
    name, section = f"{Source.MEMORY}:{entry.ref}", entry.section
    if record is None:
        return Item(
            name, Source.MEMORY, section, head, entry.text, _said_on(entry.text) or end, kind or ""
        )
    when = _time(record.when) if record.when else _said_on(entry.text) or end
    # An entry on probation is a guess that may still expire.
    trust = "probation" if record.probation_until else str(record.trust)
    return Item(
        name,
        Source.MEMORY,
        section,
        head,
        entry.text,
        when,
        kind or record.kind,
        trust,
        record.recalls,
        record.speaker,
    )


def _own_heading(section: str) -> str:
    """A heading that says more than the kind of what is under it; times and standard names say nothing."""
    if kind_of(section) or section_of(section) or read_heading(section)[1]:
        return ""
    return section


def _says_something(entry: Entry) -> bool:
    bare = entry.text.strip(" \t\n.。()（）*_")
    return len(bare) > _LONGEST_EMPTY or (
        bare.casefold() not in _EMPTY and bool(entry.text.strip())
    )


def _said_on(text: str) -> datetime | None:
    """The day of a quote, as a time that compares."""
    day = day_of(text)
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC) if day else None


def _time(text: str) -> datetime | None:
    try:
        return aware(datetime.fromisoformat(text))
    except ValueError:
        return None
