"""What a forgetting removes, as one value, and a text, a message or a ledger without it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from msgspec import Struct, field, structs

from pipimem.notes.entry import content_id, said_mark
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.message import Message
from pipimem.text.characters import without_emoji
from pipimem.text.folding import MARKERS, folded, folded_as_shown, is_decorated, stands_in
from pipimem.text.markdown.lines import split_lines
from pipimem.text.markdown.parser import BlockKind, Document, MarkdownBlock, parsed

Line = TypeVar("Line", bound=Hashable)
# They go whole.
_ENTRY_KINDS = (BlockKind.ENTRY, BlockKind.PARAGRAPH)
_MARKER = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?")


class LineEdit(NamedTuple):
    """Lines `[start, end)` of a text, and the lines that take their place."""

    start: int
    end: int
    kept: list[str]


class HeldBlock(NamedTuple):
    """A block of a Markdown text that holds a target; `entry` is the text if it is an entry."""

    section: str
    entry: str
    lines: Sequence[str]
    edit: LineEdit

    @property
    def removed(self) -> str:
        """What goes, as it may be shown: an entry that only loses a quote with what stays of it."""
        rest = "".join(self.edit.kept).lstrip(MARKERS).rstrip()
        if self.entry:
            return f"{self.entry} → {rest}" if rest else self.entry
        return "".join(line for line in self.lines if line not in self.edit.kept).strip()


class ForgetTargets(Struct, frozen=True):
    """Folded texts, ids of messages to be emptied, and entries that go.

    `lines` has folded entries that were learnt from the messages, each with the text that takes its
    place: empty, or the entry without a quote. They go from notes, the archive and past texts where
    nothing but one of them is said, never from what people said. `entries` are the ids of entries
    that are not learnt again from older talk. `inside_words` is as in `stands_in`. `are_named` says
    that entries or messages are meant by their ids, or as those of a person.
    """

    texts: tuple[str, ...] = ()
    messages: frozenset[str] = frozenset()
    inside_words: bool = False
    lines: Mapping[str, str] = field(default_factory=dict)
    entries: frozenset[str] = frozenset()
    keep_transcript: bool = False
    actor: str = ""
    are_named: bool = False

    @classmethod
    def of(
        cls, texts: Iterable[str], messages: Iterable[str] = (), *, inside_words: bool = False
    ) -> ForgetTargets:
        """Fold the texts, also without their emoji; empty ones are left out."""
        given = {folded(form) for text in texts for form in (text, without_emoji(text))} - {""}
        return cls(tuple(sorted(given)), frozenset(messages), inside_words)

    def are_in(self, text: str) -> bool:
        """Return whether a text holds any of the texts, as it was typed or as it is shown."""
        if self._any_in(folded(text)):
            return True
        return is_decorated(text) and self._any_in(folded_as_shown(text))

    def are_in_block(self, text: str) -> bool:
        """Return whether a block of a note holds any of the texts, or is one of the lines."""
        return self.are_in(text) or (bool(self.lines) and folded_as_shown(text) in self.lines)

    def are_in_a_line_of(self, text: str) -> bool:
        """Return whether a note, or a line of it, holds any."""
        by_line = bool(self.lines) and any(map(self.are_in_block, text.splitlines()))
        return self.are_in(text) or by_line

    def _any_in(self, text: str) -> bool:
        return any(stands_in(text, needle, inside_words=self.inside_words) for needle in self.texts)

    def held_in(self, text: str) -> list[HeldBlock]:
        """Return the blocks of a Markdown text that hold any, and what stays of each."""
        if not self.are_in_a_line_of(text):
            return []
        document = parsed(text)
        return [
            HeldBlock(
                section.title,
                block.text if block.kind in _ENTRY_KINDS else "",
                document.lines[block.start : block.end],
                LineEdit(block.start, block.end, _left_of(document, block, self)),
            )
            for section in document.sections
            for block in section.blocks
            if self.are_in_block("".join(document.lines[block.start : block.end]))
        ]


def without(text: str, targets: ForgetTargets, key: bytes) -> tuple[str, list[str]]:
    """Return a Markdown text without what holds a target, and the ids of the entries that went."""
    held = targets.held_in(text)
    if not held:
        return text, []
    lines = list(split_lines(text))
    for block in reversed(held):
        lines[block.edit.start : block.edit.end] = block.edit.kept
    return "".join(lines), [content_id(key, block.entry) for block in held if block.entry]


def lines_that_go(lines: Sequence[Line], edits: Sequence[LineEdit]) -> set[Line]:
    """Return the lines that a text, or ids of lines, has no more after edits."""
    left = list(lines)
    for edit in reversed(edits):
        del left[edit.start : edit.end]
    return set(lines).difference(left)


def _left_of(document: Document, block: MarkdownBlock, targets: ForgetTargets) -> list[str]:
    """Return the lines that stay of a block that holds a target."""
    lines = document.lines[block.start : block.end]
    if block.kind in _ENTRY_KINDS:
        whole = "".join(lines)
        rest = "" if targets.are_in(whole) else targets.lines.get(folded_as_shown(whole), "")
        return _with_marker(lines[0], rest, document.eol) if rest else []
    if block.kind is BlockKind.HEADING:
        # A heading stays one, or what stands below would come under another.
        return [f"{'#' * block.level} …{document.eol}"]
    kept = [line for line in lines if not targets.are_in_block(line)]
    return [] if targets.are_in_block("".join(kept)) else kept


def _with_marker(first: str, text: str, eol: str) -> list[str]:
    """Return the lines of an entry with another text; `first` is its line as it stands."""
    found = _MARKER.match(first)
    marker = found[0] if found else ""
    indent = " " * len(marker)
    lines = text.split("\n")
    return [f"{indent if number else marker}{line}{eol}" for number, line in enumerate(lines)]


def blanked_ledger(ledger: Ledger, targets: ForgetTargets, said: Iterable[Message] = ()) -> Ledger:
    """Return a ledger without the targets.

    Speakers and reasons that hold one are emptied, pending bullets and questions removed, and so
    are sources: those of an import are names of files. Of the people who were there, those go too
    who said nothing but targets, as far as `said` tells.
    """
    gone = _speakers_of_nothing_else(said, targets)

    def blank(text: str) -> str:
        return "" if text and targets.are_in_block(text) else text

    known = ledger.records.items()
    records = {name: _blanked_record(record, targets) for name, record in known}
    # The reason of a newer word may be that word.
    tombstones = {
        name: structs.replace(stone, reason=blank(stone.reason))
        for name, stone in ledger.tombstones.items()
    }
    return structs.replace(
        ledger,
        records=records,
        speakers=tuple("" if name in gone else blank(name) for name in ledger.speakers),
        tombstones=tombstones,
        settled=_settled_without(ledger.settled, targets),
        pending=tuple(bullet for bullet in ledger.pending if blank(bullet.text)),
        holes=tuple(hole._replace(reason=blank(hole.reason)) for hole in ledger.holes),
        asked=tuple(asked for asked in ledger.asked if blank(asked.text)),
    )


def _settled_without(settled: Mapping[str, str], targets: ForgetTargets) -> dict[str, str]:
    """Return settled pairs without those of an entry that goes."""
    return {pair: day for pair, day in settled.items() if targets.entries.isdisjoint(pair.split())}


def _blanked_record(record: Record, targets: ForgetTargets) -> Record:
    """Return a record without a speaker and sources that hold a target."""
    sources = tuple(source for source in record.sources if not targets.are_in(source))
    speaker = "" if record.speaker and targets.are_in(record.speaker) else record.speaker
    return structs.replace(record, speaker=speaker, sources=sources)


def _speakers_of_nothing_else(said: Iterable[Message], targets: ForgetTargets) -> set[str]:
    gone, stay = set[str](), set[str]()
    for message in said if targets.messages else ():
        if message.id in targets.messages:
            gone.add(message.speaker)
        elif message.content:
            stay.add(message.speaker)
    return gone - stay


def blanked_message(message: Message, targets: ForgetTargets, key: bytes = b"") -> Message:
    """Return a message with its content emptied if it holds a target, and so its speaker.

    It keeps its place and id, and with a `key` a mark of what it said: handed in once more, by the
    platform or by a host that has no ids, it is not taken in again.
    """
    if message.id in targets.messages or targets.are_in(message.content):
        said = message.content and key
        mark = said_mark(key, message.role, message.content) if said else message.emptied
        message = replace(message, content="", emptied=mark)
    if targets.are_in(message.speaker):
        message = replace(message, speaker="")
    return message
