"""What `forget` looks for, and a text, a ledger or a message without it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize

from pipimem.errors import NothingFound
from pipimem.notes.echoes import Echoes
from pipimem.notes.entry import Entry, content_id
from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.store.journal.placeholders import MARKERS
from pipimem.text.markdown import Block, Document, Kind, parsed
from pipimem.text.whitespace import white_folded

# How recall names a message.
_MESSAGE = "log:"
_NOTES = (File.SESSION, File.MEMORY, File.HISTORY)


def folded(text: str) -> str:
    """The text as it is compared: every run of white space is one blank, case and width are aside."""
    return white_folded(normalize("NFKC", text)).casefold()


def folded_lines(text: str) -> str:
    """The same, with the bullets and marks at the beginning of each line aside."""
    return folded(" ".join(bare(line) for line in text.splitlines()))


def bare(line: str) -> str:
    """A line without the bullets and marks at its beginning."""
    return line.lstrip(MARKERS)


@dataclass(frozen=True, slots=True)
class Needles:
    """Texts to be forgotten, folded, and ids of messages to be emptied."""

    texts: tuple[str, ...]
    messages: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str], messages: Iterable[str] = ()) -> Needles:
        """The needles of some texts; empty ones are none."""
        return cls(
            tuple(sorted({found for text in texts if (found := folded(text))})), frozenset(messages)
        )

    def are_in(self, text: str) -> bool:
        """Whether any of them stands in a text, whatever its white space and the bullets of its lines."""
        plain = folded(text)
        if any(needle in plain for needle in self.texts):
            return True
        lines = folded_lines(text)
        return any(needle in lines for needle in self.texts)


def without(text: str, needles: Needles, key: bytes) -> tuple[str, list[str]]:
    """A Markdown text without what holds a needle, and the ids of the entries that went.

    An entry goes whole.
    """
    if not needles.are_in(text):
        return text, []
    document = parsed(text)
    lines, gone = list(document.lines), []
    for block in reversed([block for section in document.sections for block in section.blocks]):
        if needles.are_in("".join(document.lines[block.start : block.end])):
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
            left = [
                line for line in document.lines[block.start : block.end] if not needles.are_in(line)
            ]
            return [] if needles.are_in("".join(left)) else left


def blanked_ledger(ledger: Ledger, needles: Needles) -> Ledger:
    """A ledger with every text that holds a needle emptied; bullets and questions that hold one go whole."""

    def blank(text: str) -> str:
        return "" if text and needles.are_in(text) else text

    return replace(
        ledger,
        records={
            name: replace(known, speaker=blank(known.speaker))
            for name, known in ledger.records.items()
        },
        # The reason of a newer word may be that word.
        tombstones={
            name: replace(stone, reason=blank(stone.reason))
            for name, stone in ledger.tombstones.items()
        },
        pending=tuple(bullet for bullet in ledger.pending if not needles.are_in(bullet.text)),
        holes=tuple(replace(hole, reason=blank(hole.reason)) for hole in ledger.holes),
        asked=tuple(asked for asked in ledger.asked if not needles.are_in(asked.text)),
    )


def blanked_message(message: Message, needles: Needles) -> Message:
    """A message with its content emptied where it holds a needle.

    It keeps its place and id, so that it is not taken in again when the platform delivers it once more.
    """
    is_named = message.id in needles.messages or needles.are_in(message.content)
    speaker = "" if needles.are_in(message.speaker) else message.speaker
    return replace(message, content="" if is_named else message.content, speaker=speaker)


def _said_in(notes: Notes, entries: Sequence[Entry]) -> list[str]:
    """The texts of entries, and of the lines of SESSION and HISTORY that say the same of the same messages."""
    echoes = Echoes(notes)
    return [said.text for entry in entries for said in (entry, *echoes.of(entry))]


def named(notes: Notes, what: str | Sequence[str]) -> tuple[Needles, list[str]]:
    """What a text, or ids as recall tells them, mean: the needles, and the ids of entries that stand.

    A text that is an entry's id means the entry. `log:<id>` is a message. Raises `NothingFound` for an id of nothing.
    """
    given = [what] if isinstance(what, str) else list(what)
    messages = frozenset(each.removeprefix(_MESSAGE) for each in given if each.startswith(_MESSAGE))
    asked = [each for each in given if not each.startswith(_MESSAGE)]
    standing = {entry.id: entry for file in _NOTES for entry in notes.note(file).entries}
    ids = [name for each in asked if (name := _id_in(each)) in standing]
    if len(ids) < len(asked) and not isinstance(what, str):
        missing = next(each for each in asked if _id_in(each) not in standing)
        raise NothingFound(
            f"There is no entry {missing!r}. See `pipimem blame --json` for the ids, or give the text."
        )
    texts = _said_in(notes, [standing[name] for name in ids]) if ids else asked
    needles = Needles.of(texts, messages | _sources_of(notes, ids))
    if not needles.texts and not messages:
        raise NothingFound("Nothing to forget: the text is empty.")
    return needles, ids


def _id_in(name: str) -> str:
    """The id in `memory:abcd2345.2`."""
    return name.rpartition(":")[2].partition(".")[0]


def _sources_of(notes: Notes, ids: Iterable[str]) -> frozenset[str]:
    """The messages that entries rest on."""
    # Of entries only: a line of history may sum up an hour of talk, which nobody asked to forget.
    records = (notes.ledger.records.get(name) for name in ids)
    return frozenset(source for record in records if record for source in record.sources)
