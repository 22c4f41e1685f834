"""What a source holds for one channel, cleaned as all that is written, and counted."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from msgspec import structs

from pipimem.errors import ArchiveError, NothingFound
from pipimem.memory.remember import foreign_addition, without_hidden
from pipimem.notes.entry import content_id
from pipimem.notes.headings import personal_kind
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Tombstone, tombstone_names
from pipimem.notes.message import YEARS, Message
from pipimem.notes.note_draft import bullet_text
from pipimem.notes.operations import Add, AddBlock, Bullet, Evidence, Operation, Trust
from pipimem.runtime.intake import Intake, rememberable
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
from pipimem.runtime.transfer.found import FoundDay, FoundEntry, FoundMessage, Skipped, SourceFormat
from pipimem.runtime.transfer.source_files import SourceFiles
from pipimem.store.disk.syscalls import opened
from pipimem.store.transcript.log import KnownIds
from pipimem.store.transcript.message_line import line, parsed
from pipimem.text.injection import injection_kind
from pipimem.text.private import without_marks
from pipimem.text.quotes import words_said

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


_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class SpoolFile:
    """The one file in which the messages of all channels are kept."""

    path: Path
    _file: BinaryIO | None = None
    _end: int = 0

    def __enter__(self) -> Self:
        descriptor = opened(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        self._file = os.fdopen(descriptor, "w+b")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, data: bytes) -> int:
        """Writes a line; returns the byte where it begins."""
        assert self._file is not None
        begins = self._end
        self._file.seek(begins)
        self._file.write(data)
        self._end += len(data)
        return begins

    def line_at(self, place: int) -> bytes:
        """The line that begins at a byte."""
        assert self._file is not None
        self._file.seek(place)
        return self._file.readline()


@dataclass(slots=True)
class _Session:
    """When a session began, and the numbers of its first and its last message."""

    began: datetime
    first: int
    last: int


@dataclass(slots=True)
class Spool:
    """Messages of one channel, session by session: whichever began first comes first.

    In memory are 12 bytes of each, and each session's name.
    """

    file: SpoolFile
    # Where each message begins, and the next one of its session, counted from 1; 0 for none.
    _places: array[int] = field(default_factory=lambda: array("Q"))
    _next: array[int] = field(default_factory=lambda: array("I"))
    _sessions: dict[str, _Session] = field(default_factory=dict)

    def add(self, message: Message) -> None:
        """Keeps a message, which must have an id."""
        number = len(self._places) + 1
        session = self._sessions.get(message.session)
        if session is None:
            self._sessions[message.session] = _Session(message.time or _LONG_AGO, number, number)
        else:
            self._next[session.last - 1] = number
            session.last = number
        self._places.append(self.file.append(line(replace(message, number=number))))
        self._next.append(0)

    def messages(self) -> Iterator[Message]:
        """All messages in their order, without numbers."""
        # Of sessions that began at once the one that was found first comes first.
        for session in sorted(self._sessions.values(), key=lambda one: one.began):
            number = session.first
            while number:
                message = parsed(self.file.line_at(self._places[number - 1]))
                assert message is not None
                yield replace(message, number=0)
                number = self._next[number - 1]


_ID_BYTES = 10
_MARK = "[secret:"
# A reason may quote the source, which may have a million roles.
_MOST_REASONS, _OTHER = 100, "other reasons"
_NOTHING = "nothing of it may be written"
_TAKEN_OUT = "taken out of this memory before"


@dataclass(slots=True)
class ImportCounts:
    """What came of a source for one channel, or for all of them.

    `messages`, `entries` and `days` are new; `known` stood there already. `secrets` were masked,
    `private` stretches left out, `quoted` entries read like instructions to the bot. `left_out`
    has how often each reason was met, `examples` the first place of each.
    """

    messages: int = 0
    entries: int = 0
    days: int = 0
    known: int = 0
    secrets: int = 0
    private: int = 0
    quoted: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def leave_out(self, one: Skipped) -> None:
        """Counts what is not taken in; beyond a hundred reasons all others are one."""
        is_own_reason = one.reason in self.left_out or len(self.left_out) < _MOST_REASONS
        reason = one.reason if is_own_reason else _OTHER
        self.left_out[reason] += 1
        self.examples.setdefault(reason, one.origin)

    def add(self, other: ImportCounts) -> None:
        """Adds up the counts of another channel."""
        for name in ("messages", "entries", "days", "known", "secrets", "private", "quoted"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.left_out += other.left_out
        self.examples = other.examples | self.examples


@dataclass(slots=True)
class Gathering:
    """Takes what is found for one channel; nothing of it is in memory's files yet.

    `known_ids` are ids of messages in its transcript, `known_texts` ids of entries and lines under
    its `key`. Messages go to `spool`, where there is one.
    """

    kind: str
    key: bytes
    intake: Intake
    now: datetime
    known_ids: KnownIds = field(default_factory=KnownIds)
    known_texts: set[str] = field(default_factory=set)
    taken_out: Mapping[str, Tombstone] = field(default_factory=dict)
    may_come_again: set[str] = field(default_factory=set)
    spool: Spool | None = None
    counts: ImportCounts = field(default_factory=ImportCounts)
    additions: list[Add] = field(default_factory=list)
    blocks: list[AddBlock] = field(default_factory=list)
    # Ids of messages that were taken, and those that were made for messages without one.
    _taken: KnownIds = field(default_factory=KnownIds)
    _made: KnownIds = field(default_factory=KnownIds)

    def take_message(self, one: FoundMessage) -> None:
        """Takes a message: cleaned, under an id that it has each time it is found."""
        message = replace(one.message, id=self._id(one.message), time=_usable(one.message.time))
        is_again = bool(one.message.id) and message.id in self._taken
        if is_again or message.id in self.known_ids:
            self.counts.known += 1
            return
        cleaned = self.intake.cleaned([message], self.now)
        if not cleaned or not cleaned[0].content.strip():
            self.counts.leave_out(Skipped(message.id, _NOTHING))
            return
        self._count_hidden(message.content, cleaned[0].content)
        if one.message.id:
            self._taken.add(message.id)
        self.counts.messages += 1
        if self.spool is not None:
            self.spool.add(cleaned[0])

    def take_entry(self, one: FoundEntry) -> None:
        """Takes an entry: cleaned, as a quote where it reads like an instruction."""
        try:
            said = rememberable(without_hidden(one.text), one.speaker, self.now, self.intake)
        except NothingFound:
            self.counts.leave_out(Skipped(one.origin, _NOTHING))
            return
        self._count_hidden(one.text, said.content)
        when = _usable(one.when) or self.now
        evidence = Evidence((self.intake.named(one.origin),), 0, said.speaker, when, self.now)
        # Other programs have no kind for wishes and health.
        is_general = one.kind in (Kind.FACT, Kind.PREFERENCE, Kind.IDENTITY)
        kind = (personal_kind(words_said(said.content)) if is_general else None) or one.kind
        add = foreign_addition(Add(kind, said.content, one.trust, evidence), self.kind)
        if self._is_new(add.text):
            self._add(one, add)

    def _add(self, one: FoundEntry, add: Add) -> None:
        """Takes a new addition, unless somebody took its text out of this memory."""
        name = content_id(self.key, bullet_text(add.text))
        found = [self.taken_out[key] for key in tombstone_names(name) if key in self.taken_out]
        if found and name not in self.may_come_again:
            self.counts.leave_out(Skipped(one.origin, _TAKEN_OUT))
            return
        if found:  # it rests on what is newer than the taking back
            newest = 1 + max(tombstone.upto for tombstone in found)
            add = structs.replace(add, evidence=structs.replace(add.evidence, newest=newest))
        self.counts.entries += 1
        self.counts.quoted += add.trust is Trust.QUOTED
        self.additions.append(add)

    def take_day(self, one: FoundDay) -> None:
        """Takes what went on in a day: cleaned, without lines that read like instructions."""
        bullets = [Bullet(kept, (self.intake.named(one.origin),)) for kept in self._lines(one)]
        bullets = [bullet for bullet in bullets if self._is_new(bullet.text)]
        if bullets and one.day.year in YEARS:
            start = datetime.combine(one.day, time(), self.now.tzinfo)
            end = datetime.combine(one.day, time(23, 59), self.now.tzinfo)
            title = without_marks(self.intake.cleaned_text(one.title)).strip()
            self.counts.days += 1
            self.blocks.append(AddBlock(start, end, title, tuple(bullets)))

    def _lines(self, one: FoundDay) -> Iterator[str]:
        for given in one.lines:
            text = ""
            with suppress(NothingFound):
                text = rememberable(without_hidden(given), "", self.now, self.intake).content
            if not text or injection_kind(text):
                why = "reads like an instruction to the bot" if text else _NOTHING
                self.counts.leave_out(Skipped(one.origin, why))
                continue
            self._count_hidden(given, text)
            yield bullet_text(text)

    def _is_new(self, text: str) -> bool:
        name = content_id(self.key, bullet_text(text))
        if name in self.known_texts:
            self.counts.known += 1
            return False
        self.known_texts.add(name)
        return True

    def _id(self, message: Message) -> str:
        """Its own id under the source's name, else one made of what it says, keyed."""
        if message.id:
            return f"{self.kind}:{message.id}"
        when = message.time.isoformat() if message.time else ""
        said = "\0".join((message.session, message.role, when, message.speaker, message.content))
        digest = blake2b(
            said.encode("utf-8", "surrogatepass"), key=self.key[:64], digest_size=_ID_BYTES
        ).hexdigest()
        times = self._times_made(digest) + 1
        self._made.add(f"{digest}-{times}")
        again = f"-{times}" if times > 1 else ""
        return f"{self.kind}:{digest}{again}"

    def _times_made(self, digest: str) -> int:
        """How often an id was made of this: numbers are made one by one, so halving finds it."""
        above = 1
        while f"{digest}-{above}" in self._made:
            above *= 2
        low, high = above // 2, above
        while high - low > 1:
            middle = (low + high) // 2
            is_made = f"{digest}-{middle}" in self._made
            low, high = (middle, high) if is_made else (low, middle)
        return low

    def drop_ids(self) -> None:
        """Drops what is needed only while messages are taken: writing them needs the room."""
        self.known_ids, self._taken, self._made = KnownIds(), KnownIds(), KnownIds()

    def _count_hidden(self, before: str, after: str) -> None:
        self.counts.secrets += max(0, after.count(_MARK) - before.count(_MARK))
        self.counts.private += self.intake.private_counts(before).stretches

    def refuse(self, operation: Operation, reason: str) -> None:
        """Counts as left out what the notes refused as they stood when it was written."""
        match operation:
            case Add(evidence=evidence):
                self.counts.entries -= 1
                self.counts.leave_out(Skipped(" ".join(evidence.sources), reason))
            case AddBlock(title=title):
                self.counts.days -= 1
                self.counts.leave_out(Skipped(title, reason))

    @property
    def has_news(self) -> bool:
        """Whether anything is new."""
        return bool(self.counts.messages) or self.has_notes

    @property
    def has_notes(self) -> bool:
        """Whether anything is for MEMORY.md or HISTORY.md."""
        return bool(self.additions or self.blocks)

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who is named as the speaker of an entry."""
        named = chain(add.evidence.speaker for add in self.additions)
        return tuple(dict.fromkeys(filter(None, named)))


def _usable(when: datetime | None) -> datetime | None:
    return when if when is not None and when.year in YEARS else None
