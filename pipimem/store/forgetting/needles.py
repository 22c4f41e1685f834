"""What `forget` looks for, and a text, a record or a message without it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pipimem.errors import NothingFound
from pipimem.notes.echoes import echoes
from pipimem.notes.entry import Entry, content_id
from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger, Record, Tombstone
from pipimem.notes.message import Message
from pipimem.notes.notes import Change, Notes
from pipimem.notes.operations import Bullet, Hole
from pipimem.store.journal.records import FileChange, JournalRecord
from pipimem.text.markdown import Block, Document, Kind, parsed
from pipimem.text.splices import Splice
from pipimem.text.whitespace import white_folded

_MARKERS = "-*+#> \t"
# How recall names a message.
_MESSAGE = "log:"
_NOTES = (File.SESSION, File.MEMORY, File.HISTORY)


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
    return document_without(parsed(text), needles, key, {})


def document_without(document: Document, needles: Needles, key: bytes, held: dict[str, bool]) -> tuple[str, list[str]]:
    """The same of a document; `held` remembers which blocks hold a needle, for the next document like it."""
    lines, gone = list(document.lines), []
    for block in reversed([block for section in document.sections for block in section.blocks]):
        if block.kind is Kind.BLANK:
            continue
        words = "".join(document.lines[block.start : block.end])
        if words not in held:
            held[words] = needles.are_in(words)
        if held[words]:
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
    delta, progress = record.delta, record.delta.progress
    pending = None if progress.pending is None else pending_without(progress.pending, needles)
    holes = None if progress.holes is None else _blank_holes(progress.holes, needles)
    return replace(
        record,
        why=_blank(record.why, needles),
        actor=_blank(record.actor, needles),
        changes=tuple(_blank_change(change, needles) for change in record.changes),
        refused=tuple(
            replace(line, text=_blank(line.text, needles), reason=_blank(line.reason, needles))
            for line in record.refused
        ),
        notes=tuple(_blank(note, needles) for note in record.notes),
        files={file: _blank_file(change, needles) for file, change in record.files.items()},
        archived=_blank(record.archived, needles),
        # A question may quote a message that is emptied; which ones do is not known here.
        delta=replace(
            delta,
            records={name: known and _blank_known(known, needles) for name, known in delta.records.items()},
            tombstones={name: stone and _blank_stone(stone, needles) for name, stone in delta.tombstones.items()},
            progress=replace(progress, pending=pending, holes=holes),
            asked=(),
        ),
    )


def blanked_ledger(ledger: Ledger, needles: Needles) -> Ledger:
    """A ledger with every text that holds a needle taken out, and no question of the past."""
    return replace(
        ledger,
        records={name: _blank_known(known, needles) for name, known in ledger.records.items()},
        tombstones={name: _blank_stone(stone, needles) for name, stone in ledger.tombstones.items()},
        pending=pending_without(ledger.pending, needles),
        holes=_blank_holes(ledger.holes, needles),
        asked=(),
    )


def held_in(ledger: Ledger, needles: Needles) -> int:
    """How many texts of a ledger hold a needle."""
    texts = (
        *(known.speaker for known in ledger.records.values()),
        *(stone.reason for stone in ledger.tombstones.values()),
        *(bullet.text for bullet in ledger.pending),
        *(hole.reason for hole in ledger.holes),
        *(asked.text for asked in ledger.asked),
    )
    return sum(needles.are_in(text) for text in texts)


def pending_without(pending: Iterable[Bullet], needles: Needles) -> tuple[Bullet, ...]:
    """The bullets that wait for the next boundary, without those that hold a needle."""
    return tuple(bullet for bullet in pending if not needles.are_in(bullet.text))


def blanked_message(message: Message, needles: Needles) -> Message:
    """A message with its content emptied where it holds a needle.

    It keeps its place and id, so that it is not taken in again when the platform delivers it once more.
    """
    speaker = _blank(message.speaker, needles)
    content = "" if message.id in needles.messages else _blank(message.content, needles)
    return replace(message, content=content, speaker=speaker)


def _said_in(notes: Notes, entry: Entry) -> tuple[str, ...]:
    """The text of an entry, and of the lines of SESSION and HISTORY that say the same of the same messages."""
    lines = {line.id: line.text for line in (*notes.session.entries, *notes.history.entries)}
    return (entry.text, *(lines[name] for name in echoes(notes, entry)))


def named(notes: Notes, what: str | Sequence[str]) -> tuple[Needles, list[str]]:
    """What a text, or ids as recall tells them, mean: the needles, and the ids of entries that stand.

    A text that is an entry's id means the entry. `log:<id>` is a message. Raises `NothingFound` for an id of nothing.
    """
    given = [what] if isinstance(what, str) else list(what)
    messages = frozenset(each.removeprefix(_MESSAGE) for each in given if each.startswith(_MESSAGE))
    asked = [each for each in given if not each.startswith(_MESSAGE)]
    standing = {entry.id: entry for file in _NOTES for entry in notes.note(file).entries}
    ids = [name for each in asked if (name := _bare(each)) in standing]
    if len(ids) < len(asked) and not isinstance(what, str):
        missing = next(each for each in asked if _bare(each) not in standing)
        raise NothingFound(f"There is no entry {missing!r}. See `pipimem blame --json` for the ids, or give the text.")
    texts = [text for name in ids for text in _said_in(notes, standing[name])] or asked
    needles = Needles.of(texts, messages | _sources_of(notes, ids))
    if not needles.texts and not messages:
        raise NothingFound("Nothing to forget: the text is empty.")
    return needles, ids


def _bare(name: str) -> str:
    """The id in `memory:abcd2345.2`."""
    return name.rpartition(":")[2].partition(".")[0]


def _sources_of(notes: Notes, ids: Iterable[str]) -> frozenset[str]:
    """The messages that entries rest on."""
    # Of entries only: a line of history may sum up an hour of talk, which nobody asked to forget.
    records = (notes.ledger.records.get(name) for name in ids)
    return frozenset(source for record in records if record for source in record.sources)


def _blank_known(known: Record, needles: Needles) -> Record:
    return replace(known, speaker=_blank(known.speaker, needles))


def _blank_stone(stone: Tombstone, needles: Needles) -> Tombstone:
    # The reason of a newer word may be that word.
    return replace(stone, reason=_blank(stone.reason, needles))


def _blank_holes(holes: Iterable[Hole], needles: Needles) -> tuple[Hole, ...]:
    return tuple(replace(hole, reason=_blank(hole.reason, needles)) for hole in holes)


def _blank(text: str, needles: Needles) -> str:
    return "" if text and needles.are_in(text) else text


def _blank_change(change: Change, needles: Needles) -> Change:
    return replace(
        change,
        section=_blank(change.section, needles),
        before=_blank(change.before, needles),
        after=_blank(change.after, needles),
        reason=_blank(change.reason, needles),
    )


def _blank_file(change: FileChange, needles: Needles) -> FileChange:
    splices, others = (
        tuple(_blank_splice(splice, needles) for splice in each) for each in (change.splices, change.found_splices)
    )
    return replace(change, splices=splices, found_splices=others)


def _blank_splice(splice: Splice, needles: Needles) -> Splice:
    def lines(side: tuple[str, ...]) -> tuple[str, ...]:
        return () if needles.are_in("".join(side)) else side

    return Splice(splice.start, lines(splice.removed), lines(splice.added))


def _folded(text: str) -> str:
    return white_folded(text).casefold()
