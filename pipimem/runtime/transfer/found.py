"""What is found in another program's files: messages, entries, days, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime

from msgspec import Struct

from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.runtime.transfer.source_files import SourceFiles


class FoundMessage(Struct, frozen=True):
    """A message of a conversation; without an id it is known by what it says.

    `channel` is the source's own name for where it was said, empty where it has none.
    """

    message: Message
    channel: str = ""


class FoundEntry(Struct, frozen=True):
    """What a memory holds, for MEMORY.md; `origin` is the file and the place in it.

    `trust` is explicit for what people wrote, inferred for what a model concluded.
    """

    text: str
    origin: str
    kind: Kind = Kind.FACT
    trust: Trust = Trust.INFERRED
    speaker: str = ""
    when: datetime | None = None
    channel: str = ""


class FoundDay(Struct, frozen=True):
    """What went on in one day, for HISTORY.md: lines, and where they stand."""

    day: date
    lines: tuple[str, ...]
    origin: str
    title: str = ""
    channel: str = ""


class Skipped(Struct, frozen=True):
    """What is not taken in, by its place in the source, and why in a few words."""

    origin: str
    reason: str


Found = FoundMessage | FoundEntry | FoundDay | Skipped


class SourceFormat(Struct, frozen=True):
    """A kind of source: its `name` for `--from`, whether files are of it, and what they hold.

    `read` raises `ArchiveError` for files that are broken. `is_group` says of a channel's name
    whether several people speak there; where it does not know, whoever imports says it.
    """

    name: str
    what: str
    recognises: Callable[[SourceFiles], bool]
    read: Callable[[SourceFiles], Iterator[Found]]
    is_group: Callable[[str], bool] = lambda _: False
