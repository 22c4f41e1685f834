"""What `forget` looks for, and a text, a record or a message without it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pipimem.notes.entry import content_id
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Change
from pipimem.notes.operations import Bullet
from pipimem.store.records import FileChange, JournalRecord
from pipimem.text.markdown import Block, Document, Kind, parsed
from pipimem.text.splices import Splice
from pipimem.text.whitespace import white_folded

_MARKERS = "-*+#> \t"


@dataclass(frozen=True, slots=True)
class Needles:
    """Texts to be forgotten, folded (white space as one blank, case aside), and ids of messages to be
    emptied."""

    texts: tuple[str, ...]
    messages: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str], messages: Iterable[str] = ()) -> Needles:
        """The needles of some texts; empty ones are none."""
        return cls(tuple(sorted({found for text in texts if (found := _folded(text))})), frozenset(messages))

    def are_in(self, text: str) -> bool:
        """Whether any of them stands in a text, whatever its white space and the bullets of its lines."""
        plain = _folded(text)
        if any(needle in plain for needle in self.texts):
            return True
        bare = _folded(" ".join(line.lstrip(_MARKERS) for line in text.splitlines()))
        return any(needle in bare for needle in self.texts)


def without(text: str, needles: Needles, key: bytes) -> tuple[str, list[str]]:
    """A Markdown text without what holds a needle, and the ids of the entries that went.

    An entry goes whole.
    """
    document = parsed(text)
    lines, gone = list(document.lines), []
    for block in reversed([block for section in document.sections for block in section.blocks]):
        if block.kind is not Kind.BLANK and needles.are_in("".join(document.lines[block.start : block.end])):
            lines[block.start : block.end] = _left_of(document, block, needles)
            if block.kind in (Kind.ENTRY, Kind.PARAGRAPH):
                gone.append(content_id(key, block.text))
    return "".join(lines), gone


def _left_of(document: Document, block: Block, needles: Needles) -> list[str]:
    match block.kind:
        case Kind.ENTRY | Kind.PARAGRAPH:
            return []
        case Kind.HEADING:
            # A heading stays one, or what stands below would come under another.
            return [f"{'#' * block.level} …{document.eol}"]
        case _:
            left = [line for line in document.lines[block.start : block.end] if not needles.are_in(line)]
            return [] if needles.are_in("".join(left)) else left


def blanked_record(record: JournalRecord, needles: Needles) -> JournalRecord:
    """A journal record with every text that holds a needle emptied; who, when and what for stay."""
    progress = record.delta.progress
    pending = None if progress.pending is None else pending_without(progress.pending, needles)
    return replace(
        record,
        why=_blank(record.why, needles),
        changes=tuple(_blank_change(change, needles) for change in record.changes),
        refused=tuple(
            replace(line, text=_blank(line.text, needles), reason=_blank(line.reason, needles))
            for line in record.refused
        ),
        notes=tuple(_blank(note, needles) for note in record.notes),
        files={file: _blank_file(change, needles) for file, change in record.files.items()},
        archived=_blank(record.archived, needles),
        # A question may quote a message that is emptied; which ones do is not known here.
        delta=replace(record.delta, progress=replace(progress, pending=pending), asked=()),
    )


def pending_without(pending: Iterable[Bullet], needles: Needles) -> tuple[Bullet, ...]:
    """The bullets that wait for the next boundary, without those that hold a needle."""
    return tuple(bullet for bullet in pending if not needles.are_in(bullet.text))


def blanked_message(message: Message, needles: Needles) -> Message:
    """A message with its content emptied where it holds a needle.

    It keeps its place and id, so that it is not taken in again when the platform delivers it once more.
    """
    if message.id in needles.messages or needles.are_in(message.content):
        return replace(message, content="")
    return message


def sources_of(ledger: Ledger, ids: Iterable[str]) -> frozenset[str]:
    """The messages that entries rest on."""
    records = (ledger.records.get(name) for name in ids)
    return frozenset(source for record in records if record for source in record.sources)


def _blank(text: str, needles: Needles) -> str:
    return "" if needles.are_in(text) else text


def _blank_change(change: Change, needles: Needles) -> Change:
    return replace(
        change,
        section=_blank(change.section, needles),
        before=_blank(change.before, needles),
        after=_blank(change.after, needles),
        reason=_blank(change.reason, needles),
    )


def _blank_file(change: FileChange, needles: Needles) -> FileChange:
    return replace(change, splices=tuple(_blank_splice(splice, needles) for splice in change.splices))


def _blank_splice(splice: Splice, needles: Needles) -> Splice:
    def lines(side: tuple[str, ...]) -> tuple[str, ...]:
        return () if needles.are_in("".join(side)) else side

    return Splice(splice.start, lines(splice.removed), lines(splice.added))


def _folded(text: str) -> str:
    return white_folded(text).casefold()
