"""The notes for eyes: their entries with all that is known of them, and a file block by block."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import NoneType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from pipimem.errors import require_one_of, require_type
from pipimem.memory.expire import first_end
from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import File, Kind
from pipimem.notes.ledger import Record
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Trust
from pipimem.runtime.note_edits import entry_words, with_newlines
from pipimem.text.dates.bounds import aware, later
from pipimem.text.markdown.parser import BlockKind, Document, MarkdownBlock, parsed

if TYPE_CHECKING:
    from pipimem.runtime.channel_access import ChannelAccess

_UNSEEN = (BlockKind.BLANK, BlockKind.COMMENT)
# The title of a section, and a block in it.
_Placed = tuple[str, MarkdownBlock]


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """One entry of MEMORY.md, or a line of SESSION.md or HISTORY.md.

    `since` is when it was said, else when it was learnt; `None` for what a person typed. `recalls`
    counts the turns that showed it, `recalled` is the last of them. It `expires` then, `why` in a
    sentence, unless it is recalled before; `None` where it stays. `sources` are ids of messages.
    `heard_by` are the people who were there when it was learnt: all who had spoken by then.
    """

    id: str
    text: str
    section: str
    kind: Kind | None
    trust: Trust
    speaker: str = ""
    since: datetime | None = None
    recalls: int = 0
    recalled: datetime | None = None
    expires: datetime | None = None
    why: str = ""
    sources: tuple[str, ...] = ()
    heard_by: tuple[str, ...] = ()


def listed_entries(
    notes: Notes,
    now: datetime,
    kind: Kind | None = None,
    trust: Trust | None = None,
    older_than: timedelta | None = None,
) -> list[ListedEntry]:
    """The entries in the order of the file: of a kind, of a trust, known for longer than that."""
    oldest = later(now, -older_than) if older_than is not None else None
    found = all_listed(notes, File.MEMORY, now)
    return [entry for entry in found if _is_meant(entry, kind, trust, oldest)]


def _is_meant(
    entry: ListedEntry, kind: Kind | None, trust: Trust | None, oldest: datetime | None
) -> bool:
    if kind is not None and entry.kind != kind:
        return False
    if trust is not None and entry.trust != trust:
        return False
    return oldest is None or (entry.since is not None and entry.since <= oldest)


@dataclass(slots=True, eq=False)
class EntryList:
    """The entries of one conversation's MEMORY.md."""

    _access: ChannelAccess

    async def entries(
        self,
        *,
        kind: Kind | None = None,
        trust: Trust | None = None,
        older_than: timedelta | None = None,
    ) -> tuple[ListedEntry, ...]:
        """The entries of MEMORY.md in their order: of a kind, of a trust, older than that."""
        if kind is not None:
            require_one_of(kind, Kind, "kind")
        if trust is not None:
            require_one_of(trust, Trust, "trust")
        require_type(older_than, (timedelta, NoneType), "older_than", "Give a timedelta.")
        notes, now = await self._access.read_notes(), self._access.clock.now()
        return tuple(listed_entries(notes, now, kind, trust, older_than))


def all_listed(notes: Notes, file: File, now: datetime) -> Iterator[ListedEntry]:
    """The entries of a file, as its `Note` has them."""
    listed = listing(notes, file, now)
    return map(listed, notes.note(file).entries)


def listing(notes: Notes, file: File, now: datetime) -> Callable[[Entry], ListedEntry]:
    """A function that tells what is known of an entry of a file."""

    def listed(entry: Entry) -> ListedEntry:
        record = notes.record(entry.record_name) or Record(Trust.HUMAN)
        ends = first_end(notes, entry, now) if file is File.MEMORY else (None, "")
        found = _listed(entry, record, *ends)
        return replace(found, heard_by=notes.ledger.heard_by(record))

    return listed


def _listed(entry: Entry, record: Record, end: datetime | None, why: str) -> ListedEntry:
    return ListedEntry(
        id=entry.ref,
        text=entry.text,
        section=entry.section,
        kind=kind_of(entry.section),
        trust=record.trust,
        speaker=record.speaker,
        since=_time(record.when or record.learnt),
        recalls=record.recalls,
        recalled=_time(record.recalled),
        expires=end,
        why=why,
        sources=record.sources,
    )


def _time(text: str) -> datetime | None:
    return aware(datetime.fromisoformat(text)) if text else None


@dataclass(frozen=True, slots=True)
class NoteBlock:
    """A heading, an entry, or other Markdown, as it may be shown.

    `source` are its lines with `\\n` at their ends; `text` what they say: without the marker of an
    entry or heading. `words` is the text of an entry as `save_entry` takes it back: its
    comments are part of it. `level` is that of a heading, else 0. `entry` is what is known of it;
    `None` where nothing is.
    """

    kind: Literal["heading", "entry", "text"]
    section: str
    source: str
    text: str
    level: int = 0
    entry: ListedEntry | None = None
    is_pinned: bool = False
    words: str = ""


class EntryFilter(Struct, frozen=True):
    """Which entries are meant: of a kind, of a trust, with these words; by default all of them."""

    kind: Kind | None = None
    trust: Trust | None = None
    words: str = ""

    def __bool__(self) -> bool:
        return self != EntryFilter()

    def lets_pass(self, entry: ListedEntry, text: str) -> bool:
        """Whether an entry is meant; `text` is what is shown of it."""
        if self.kind is not None and entry.kind != self.kind:
            return False
        if self.trust is not None and entry.trust != self.trust:
            return False
        shown = f"{text}\n{entry.speaker}".casefold()
        return all(word in shown for word in self.words.casefold().split())


@dataclass(frozen=True, slots=True)
class NoteView:
    """One file: the mark of its exact text, the text as it may be shown, and a part of its blocks.

    `blocks` are those from the one of number `begin` on, of `total`; `entries` counts the entries
    of the file, `found` those that the filter lets pass. `hides` says whether something is hidden
    in the file.
    """

    file: File
    etag: str
    text: str
    blocks: tuple[NoteBlock, ...]
    hides: bool
    begin: int
    total: int
    entries: int
    found: int


class NoteViewer(Struct, frozen=True):
    """Makes views of a file: `shown` is its text as it may be shown, `mask` takes out the rest."""

    notes: Notes
    file: File
    shown: str
    mask: Callable[[str], str]
    is_pinned: Callable[[str], bool]

    def view(self, now: datetime, begin: int, count: int | None, wanted: EntryFilter) -> NoteView:
        """The blocks from a number on, so many or all; with a filter the entries that it lets pass.

        Those stand under their headings.
        """
        note = self.notes.note(self.file)
        document = note.document if self.shown == note.text else parsed(self.shown)
        visible = _visible(document)
        entries = _Entries(_by_line(note, document), listing(self.notes, self.file, now), self.mask)
        found = len(note.entries)
        if wanted:
            passed = [one for one in visible if entries.lets_pass(wanted, one[1])]
            found = len(passed)
            visible = list(_under_headings(visible, {block.start for _, block in passed}))
        end = len(visible) if count is None else begin + count
        blocks = [
            _block(document, section, block, entries.known(block), self.is_pinned)
            for section, block in visible[begin:end]
        ]
        return NoteView(
            self.file,
            note.etag,
            with_newlines(self.shown),
            tuple(blocks),
            self.shown != note.text,
            begin,
            len(visible),
            len(note.entries),
            found,
        )


class _Entries(Struct, frozen=True):
    """What is known of the entries of a file, as it may be shown; by the line they begin on."""

    by_line: Mapping[int, Entry]
    listed: Callable[[Entry], ListedEntry]
    mask: Callable[[str], str]

    def known(self, block: MarkdownBlock) -> ListedEntry | None:
        """What is known of a block; `None` where it is no entry."""
        entry = self.by_line.get(block.start) if _is_entry(block) else None
        return None if entry is None else _masked(self.listed(entry), block, self.mask)

    def lets_pass(self, wanted: EntryFilter, block: MarkdownBlock) -> bool:
        """Whether a block is an entry that is meant."""
        entry = self.by_line.get(block.start) if _is_entry(block) else None
        if entry is None:
            return False
        known = self.listed(entry)
        return wanted.lets_pass(replace(known, speaker=self.mask(known.speaker)), block.text)


def _visible(document: Document) -> list[_Placed]:
    """The blocks that are shown, each with the title of its section."""
    return [
        (section.title, block)
        for section in document.sections
        for block in section.blocks
        if block.kind not in _UNSEEN
    ]


def _under_headings(visible: Iterable[_Placed], lines: Collection[int]) -> Iterator[_Placed]:
    """The blocks that begin on these lines, and the headings that each stands under."""
    above: list[_Placed] = []
    for one in visible:
        block = one[1]
        if block.kind is BlockKind.HEADING:
            above = [each for each in above if each[1].level < block.level] + [one]
        elif block.start in lines:
            yield from above
            yield one
            above = []


def _masked(entry: ListedEntry, block: MarkdownBlock, mask: Callable[[str], str]) -> ListedEntry:
    """What is known of an entry, with nothing in it that may not be shown."""
    return replace(
        entry,
        text=block.text,
        section=mask(entry.section),
        speaker=mask(entry.speaker),
        heard_by=tuple(map(mask, entry.heard_by)),
    )


def _is_entry(block: MarkdownBlock) -> bool:
    return block.kind in (BlockKind.ENTRY, BlockKind.PARAGRAPH)


def _by_line(note: Note, document: Document) -> Mapping[int, Entry]:
    """The entries by the line of the shown document on which they begin."""
    if len(note.document.lines) == len(document.lines):
        return {entry.start: entry for entry in note.entries}
    # What is hidden goes over several lines: the entries in which nothing is are known by words.
    by_text = {entry.text: entry for entry in note.entries}
    found = {}
    for section in document.sections:
        for block in section.blocks:
            if _is_entry(block) and block.text in by_text:
                found[block.start] = by_text[block.text]
    return found


def _block(
    document: Document,
    section: str,
    block: MarkdownBlock,
    listed: ListedEntry | None,
    is_pinned: Callable[[str], bool],
) -> NoteBlock:
    source = with_newlines("".join(document.lines[block.start : block.end]))
    if block.kind is BlockKind.HEADING:
        return NoteBlock("heading", section, source, block.text, block.level)
    if block.kind is BlockKind.ENTRY or listed is not None:
        pinned = is_pinned(block.text)
        words = entry_words(source)
        return NoteBlock("entry", section, source, block.text, 0, listed, pinned, words)
    return NoteBlock("text", section, source, source)
