"""What can be recalled: entries, sections, history bullets and messages as one kind of value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of, read_heading, section_of
from pipimem.notes.ledger import Record, sources_by_name
from pipimem.notes.message import Message
from pipimem.notes.notes import Note
from pipimem.notes.operations import Trust
from pipimem.recall.scoring import Part, scored
from pipimem.resources import sections
from pipimem.settings import SecretSettings
from pipimem.text.characters import HAN
from pipimem.text.dates.bounds import aware
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import day_of, read_quote
from pipimem.text.secrets import NO_LIST, redacted

# What speaks for an item beside its words, and how many hundredths of its evidence it adds.
Circumstance = tuple[str, float]


class Candidate(NamedTuple):
    """An item that was found: its score, how many words it shares, its rank from 1 once known.

    `values` are what spoke for it, by `names`, 0.0 for what did not; `circumstances` add hundredths
    of their sum. The first `strong` of the values are those of words that mean something. A tuple,
    for a turn makes two dozen and a frozen class costs four times that.
    """

    item: Item
    score: float
    matches: int
    slot: int
    names: Sequence[str] = ()
    values: Sequence[float] = ()
    circumstances: Sequence[Circumstance] = ()
    rank: int = 0
    strong: int = 0

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts whose sum, from left to right, is the score; made for who asks why."""
        named = zip(self.names, self.values, strict=True)
        evidence = [Part(name, value) for name, value in named if value]
        total = scored(evidence)
        added = [Part(name, total * part / 100) for name, part in self.circumstances]
        return (*evidence, *added)


# A name of a word or two before a colon.
_IN_FRONT = Pattern(rf"([A-Z][\w'-]*(?: [A-Z][\w'-]*)?|[{HAN}]{{1,4}})[:：](?=\s?\S)")
# Longer than anything in `data/recall/empty_entries.txt`.
_LONGEST_EMPTY = 20


class Source(StrEnum):
    """Where an item stands; the value is the first part of its id."""

    SESSION = "session"
    MEMORY = "memory"
    WORKSPACE = "workspace"
    HISTORY = "history"
    LOG = "log"


_OF_NOTES = (Source.SESSION, Source.MEMORY, Source.WORKSPACE, Source.HISTORY)


def with_copies(ids: Collection[str]) -> frozenset[str]:
    """The ids of items, and those of the same texts in the other files of notes."""
    found = set(ids)
    for each in ids:
        source, _, name = each.partition(":")
        if source in _OF_NOTES:
            found.update([f"{other}:{name}" for other in _OF_NOTES])
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be recalled.

    `head` are words that stand beside the text and count as part of it for searching: a heading of
    people's own, the date and speaker of a message. `section` is the
    heading as the file has it; `when` has an offset; `kind` is the kind of a durable entry or the
    standard name of a SESSION section, empty where there is none. `place` is where an entry of
    SESSION.md stands in its file: of equals the upper is first. Of `by_day` items only the day of
    `when` is known. What `awaits_second_voice` is a quote until another member agrees. One that
    `is_attributed` is shown with who said it and when behind it, as in a group. A search says of a
    message that its speaker asked to keep it, or what it answers, `off_the_record`.
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
    by_day: bool = False
    awaits_second_voice: bool = False
    is_attributed: bool = False
    off_the_record: bool = False

    @property
    def time(self) -> str:
        """`when` to the minute, or to the day where no more is known; empty where nothing is."""
        if self.when is None:
            return ""
        return f"{self.when:%Y-%m-%d}" if self.by_day else self.when.isoformat(timespec="minutes")

    @property
    def searched(self) -> str:
        """What is indexed and embedded: its text, under what stands beside it.

        Of a quote the name counts, the day does not: it is asked for as a day, by `when`.
        """
        quote = read_quote(self.text)
        text = f"{quote.name}\n{quote.said}" if quote.name else self.text
        return f"{self.head}\n{text}" if self.head else text


def masked_items(items: Iterable[Item], own: SecretSettings) -> tuple[Item, ...]:
    """The items with nothing of a workspace's own list: older notes and messages may have it."""
    if own == NO_LIST:
        return tuple(items)
    return tuple(masked_item(item, own) for item in items)


def masked_item(item: Item, own: SecretSettings) -> Item:
    """The item with nothing that a workspace masks in its text and what stands beside it."""
    text, speaker = redacted(item.text, own=own), redacted(item.speaker, own=own)
    section, head = redacted(item.section, own=own), redacted(item.head, own=own)
    return replace(item, text=text, speaker=speaker, section=section, head=head)


def said_by(item: Item) -> str:
    """Who said it: as its record knows, as a quote says, or by a name in front ("Maya: …")."""
    in_front = _IN_FRONT().match(item.text)
    return item.speaker or read_quote(item.text).name or (in_front[1] if in_front else "")


def session_items(note: Note, gone: Container[str] = ()) -> list[Item]:
    """One item for each entry of SESSION.md that is not `gone` by its id.

    A whole section would speak of many things: it shares a word with nearly every question, and
    takes the room of five.
    """
    items = _items(
        Source.SESSION,
        note,
        lambda section: (_own_heading(section), section_of(section), None),
        gone,
    )
    return [replace(item, place=place) for place, item in enumerate(items)]


def memory_items(
    note: Note, records: Mapping[str, Record], is_attributed: bool = False
) -> list[Item]:
    """One item for each entry of the channel's MEMORY.md, with what the ledger knows of it.

    `is_attributed` shows each with who said it and when.
    """
    items = _items(Source.MEMORY, note, _dated_heading, records=records)
    return [replace(item, is_attributed=True) for item in items] if is_attributed else items


def workspace_items(note: Note) -> list[Item]:
    """One item for each entry of the MEMORY.md that all channels share."""
    return _items(
        Source.WORKSPACE, note, lambda section: (_own_heading(section), kind_of(section), None)
    )


def history_items(
    note: Note,
    gone: Container[str] = (),
    records: Mapping[str, Record] = MappingProxyType({}),
) -> list[Item]:
    """One item for each bullet of HISTORY.md that is not `gone`.

    The title of its block is no word of it. Its time is that of the messages it rests on, where a
    record knows it, else its own day, else the end of its block.
    """
    return _items(Source.HISTORY, note, _history_heading, gone, records)


def backlog_items(*messages: Message) -> tuple[Item, ...]:
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


def sources_of(items: Iterable[Item], records: Mapping[str, Record]) -> tuple[str, ...]:
    """The ids of the messages that items rest on, each once, by the records of their entries."""
    found: dict[str, None] = {}
    for item in items:
        name = item.id.removeprefix(f"{Source.MEMORY}:")
        if item.source is Source.LOG:
            found[item.id.removeprefix(f"{Source.LOG}:")] = None
        elif item.source is not Source.WORKSPACE:
            found.update(dict.fromkeys(sources_by_name(records, name)))
    return tuple(found)


def _items(
    source: Source,
    note: Note,
    heading: Callable[[str], tuple[str, str | None, datetime | None]],
    gone: Container[str] = (),
    records: Mapping[str, Record] = MappingProxyType({}),
) -> list[Item]:
    """One item for each entry that says something, with what its record knows.

    `heading` gives the words beside an entry, its kind and its time.
    """
    items: list[Item] = []
    for section, group in groupby(note.entries, key=attrgetter("section")):
        head, kind, end = heading(section)
        for entry in group:
            if entry.id in gone or not _says_something(entry):
                continue
            record = records.get(entry.id)
            if record is not None:
                items.append(_recorded(source, entry, head, kind, end, record))
                continue
            day = _said_on(entry.text)
            name, when = f"{source}:{entry.ref}", day or end
            by_day = day is not None
            items.append(
                Item(name, source, section, head, entry.text, when, kind or "", by_day=by_day)
            )
    return items


def _recorded(
    source: Source, entry: Entry, head: str, kind: str | None, end: datetime | None, record: Record
) -> Item:
    is_quote = record.trust is Trust.QUOTED
    day = None if record.when else _said_on(entry.text)
    when = _time(record.when) if record.when else day or end
    return Item(
        f"{source}:{entry.ref}",
        source,
        entry.section,
        head,
        entry.text,
        when,
        kind or record.kind,
        # An entry on probation is a guess that may still expire; a quote binds nobody meanwhile.
        "probation" if record.probation_until and not is_quote else str(record.trust),
        record.recalls,
        record.speaker,
        by_day=day is not None,
        awaits_second_voice=record.awaits_second_voice,
    )


def _dated_heading(section: str) -> tuple[str, str | None, datetime | None]:
    return _own_heading(section), kind_of(section), read_heading(section)[1]


def _history_heading(section: str) -> tuple[str, None, datetime | None]:
    return _own_heading(section), None, read_heading(section)[1]


def _own_heading(section: str) -> str:
    """The heading, or nothing where it is a time, a standard name or the name of a kind."""
    if kind_of(section) or section_of(section) or read_heading(section)[1]:
        return ""
    return section


def _says_something(entry: Entry) -> bool:
    bare = entry.text.strip(" \t\n.。()（）*_")
    if len(bare) > _LONGEST_EMPTY:
        return True
    return bool(entry.text.strip()) and bare.casefold() not in sections("recall/empty_entries")[""]


def _said_on(text: str) -> datetime | None:
    """The day of a quote, as a time that compares."""
    day = day_of(text)
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC) if day else None


def _time(text: str) -> datetime | None:
    try:
        return aware(datetime.fromisoformat(text))
    except ValueError:
        return None
