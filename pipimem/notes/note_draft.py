"""A draft of one note: entries and sections added, replaced or removed, no other line touched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from pipimem.notes.entry import Entry
from pipimem.notes.headings import HEADINGS, SECTIONS
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Loss, Record, Tombstone
from pipimem.notes.notes import Note, Notes, Refusal
from pipimem.notes.operations import Change, Target
from pipimem.text.characters import is_chinese
from pipimem.text.markdown.lines import BOM, indentation, split_lines, white_folded, without_ending
from pipimem.text.markdown.parser import INNER, BlockKind, Document, MarkdownBlock, Section, parsed

# Twenty sources say enough; the newest are kept, for they are what a person would look up.
MOST_SOURCES = 20
_FRESH = {
    File.MEMORY: ("# Memory", "# 记忆"),
    File.SESSION: ("# Session", "# 会话"),
    File.HISTORY: ("# History", "# 历史"),
}
_ORDER = {
    File.MEMORY: {name: place for place, names in enumerate(HEADINGS.values()) for name in names},
    File.SESSION: {name: place for place, names in enumerate(SECTIONS.values()) for name in names},
    File.HISTORY: {},
}


@dataclass(slots=True)
class AppliedDraft:
    """What the operations of one decision share."""

    notes: Notes
    now: datetime
    refused: list[Refusal]
    drafts: dict[File, Draft] = field(default_factory=dict)
    taken: set[Target] = field(default_factory=set)
    records: dict[str, Record | None] = field(default_factory=dict)
    tombstones: dict[str, Tombstone | None] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    settled: dict[str, str | None] = field(default_factory=dict)
    speakers: list[str] = field(default_factory=list)
    archived: str = ""

    def add_speakers(self, names: Iterable[str]) -> None:
        """Adds who has not spoken before to the speakers of the channel."""
        fresh = (name for name in dict.fromkeys(names) if name and name not in self.speakers)
        self.speakers.extend(fresh)

    def draft(self, file: File) -> Draft:
        """The file as it will be."""
        if file not in self.drafts:
            fresh = _FRESH[file]
            others = self.headings_beside(file)
            if others:
                fresh = (fresh[is_chinese(others)],) * 2
            self.drafts[file] = Draft(self.notes.note(file).document, fresh, _ORDER[file])
        return self.drafts[file]

    def said_in(self, file: File, text: str) -> str:
        """What decides in which language a file's headings are: its own text, where it has entries.

        A new file follows the headings of the channel's others; without any, the `text` to write.
        """
        note = self.notes.note(file)
        return note.text if note.entries else self.headings_beside(file) or text

    def headings_beside(self, file: File) -> str:
        """The standard headings of the channel's other files, those to be written included."""
        found: list[str] = []
        for other in _ORDER.keys() - {file}:
            draft = self.drafts.get(other)
            sections = self.notes.note(other).document.sections
            titles = draft.titles if draft else [section.title for section in sections]
            found += [title for title in titles if title in _ORDER[other]]
        return " ".join(found)

    def take(self, *targets: Target) -> list[Entry]:
        """The entries of the targets; empty if one is not there or another operation has it."""
        wanted = dict.fromkeys(targets)
        found = [self.notes.find(target) for target in wanted if target not in self.taken]
        entries = [entry for entry in found if entry is not None]
        if len(entries) < len(wanted):
            return []
        self.taken.update(wanted)
        return entries


def lines_of(note: Note, start: int, end: int) -> str:
    """Lines of a note word for word, the last one ended."""
    text = "".join(note.document.lines[start:end])
    return text if text.endswith(("\n", "\r")) else text + note.document.eol


_TEXT_KINDS = (BlockKind.ENTRY, BlockKind.PARAGRAPH)
_ORDERED = re.compile(r"(\s*)(\d{1,9})([.)]\s+)$")


def bullet_text(text: str) -> str:
    """The text folded to one line that Markdown reads back as one bullet with just this text.

    Empty if there is none. A model's text may begin like a heading, a fence or a comment; a
    backslash or a blank keeps it plain text.
    """
    return _readable(text, "- ", BlockKind.ENTRY)


def paragraph_text(text: str) -> str:
    """The text folded to one line that Markdown reads back as a paragraph, or nothing."""
    return _readable(text, "", BlockKind.PARAGRAPH)


def heading_text(text: str) -> str:
    """The text folded to one line, for a heading."""
    # A file with one NUL byte is no text any more: nothing of it could be read or written again.
    return white_folded(text.replace("\0", " "))


def _readable(text: str, marker: str, kind: BlockKind) -> str:
    """The first candidate that is one block of a kind, and leaves what stands below it alone."""
    line = heading_text(text).replace("<!--", "< !--")
    tame = line.replace("```", "'''").replace("~~~", "~ ~ ~")
    for candidate in (line, f"\\{line}", tame, line.strip("-*+# \t`~>")):
        # Code without an end takes in a paragraph below it; a bullet would end it.
        sections = parsed(f"{marker}{candidate}\n\nx\n\n- x\n").sections
        blocks = [block for section in sections for block in section.blocks]
        found = [(block.kind, block.text) for block in blocks if block.kind is not BlockKind.BLANK]
        below = [(BlockKind.PARAGRAPH, "x"), (BlockKind.ENTRY, "x")]
        if line and found == [(kind, candidate), *below]:
            return candidate
    return ""


@dataclass(slots=True)
class Draft:
    """Edits gathered on one document; line numbers are those of the document as it was.

    `fresh_titles` are the first line of an empty file in English and Chinese, `order` the places of
    headings among each other, by name; one of another name goes to the end.
    """

    document: Document
    fresh_titles: tuple[str, str]
    order: Mapping[str, int]
    _replaced: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    # New lines by heading.
    _added: dict[str, list[str]] = field(default_factory=dict)
    # Sections that lost lines and may lose their heading, by their first line.
    _thinned: dict[int, Section] = field(default_factory=dict)
    _paragraphs: list[MarkdownBlock] = field(init=False)

    def __post_init__(self) -> None:
        blocks = (block for section in self.document.sections for block in section.blocks)
        self._paragraphs = [block for block in blocks if block.kind is BlockKind.PARAGRAPH]

    @property
    def titles(self) -> list[str]:
        """The headings of the draft, those it adds included."""
        return [
            *(section.title for section in self.document.sections if section.level),
            *self._added,
        ]

    def replace(self, start: int, end: int, lines: Sequence[str]) -> None:
        """Puts other lines in the place of `[start, end)`; prose next to them stays a paragraph."""
        joins = self._begins_prose(end) or (
            not lines and any(block.end == start for block in self._paragraphs)
        )
        is_below_text = bool(lines) or (start > 0 and self.document.lines[start - 1].strip())
        self._replaced[start, end] = [*lines, ""] if joins and is_below_text else list(lines)

    def remove(self, start: int, end: int) -> None:
        """Take lines out."""
        self.replace(start, end, [])

    def remove_with_heading(self, start: int, end: int) -> None:
        """Takes lines out, and the heading above them where the draft leaves nothing below it."""
        self.remove(start, end)
        section = next(s for s in self.document.sections if s.start <= start < s.end)
        self._thinned[section.start] = section

    def _emptied(self) -> list[Section]:
        """The sections that lost their last line and get no new one."""
        emptied = []
        for section in self._thinned.values():
            removed = {line for span in self._replaced_in(section) for line in range(*span)}
            if section.title not in self._added and self._is_emptied(section, removed):
                emptied.append(section)
        return emptied

    def _replaced_in(self, section: Section) -> list[tuple[int, int]]:
        return [span for span in self._replaced if section.start <= span[0] < section.end]

    def _is_emptied(self, section: Section, removed: Set[int]) -> bool:
        """Whether nothing but blank lines is left of a section that has none below it."""
        for block in section.blocks[1:]:
            if block.kind is not BlockKind.BLANK and block.start not in removed:
                return False
        below = (s.level for s in self.document.sections if s.start == section.end)
        return max(below, default=0) <= section.level

    def move(self, start: int, end: int, title: str) -> None:
        """Take an entry's lines out and put them, word for word, at the end of another section."""
        lines = [line.rstrip("\r\n") for line in self.document.lines[start:end]]
        self.remove(start, end)
        self._add(title, lines)

    def put(self, title: str, texts: Sequence[str]) -> None:
        """New bullets at the end of a section, which is made if it is not there."""
        section = self._section(title)
        marker = _next_marker(section) if section else "- "
        self._add(title, [f"{marker}{text}" for text in texts])

    def fill(
        self, title: str, items: Sequence[str], is_ours: Callable[[str], bool], *, plain: bool
    ) -> bool:
        """Makes `items` the runtime's lines of a section; lines of people stay.

        `is_ours` says by its text whether the runtime wrote a line. A `plain` section holds one
        paragraph instead of bullets, and a person's own paragraph there is left alone. Returns
        whether anything changes.
        """
        ours, theirs = self._by_author(title, is_ours)
        wanted = [item for item in items if item not in theirs]
        standing = [white_folded(block.text) for block in ours]
        if standing == wanted or (plain and theirs):
            return False
        marker = "" if plain else "- "
        lines = [f"{marker}{item}" for item in wanted]
        if ours:
            self._exchange(ours, lines)
        else:
            self._add(title, lines)
        return True

    def _exchange(self, blocks: Sequence[MarkdownBlock], lines: Sequence[str]) -> None:
        """Puts lines in the place of the first of the blocks and takes the others out."""
        self.replace(blocks[0].start, blocks[0].end, lines)
        for block in blocks[1:]:
            self.remove(block.start, block.end)

    def text(self) -> str:
        """The document with all edits made."""
        emptied = self._emptied()
        for gone in emptied:
            for span in self._replaced_in(gone):
                del self._replaced[span]
            self._replaced[gone.start, gone.end] = []
        edits = [(start, end, lines) for (start, end), lines in self._replaced.items()]
        new: dict[str, list[str]] = {}
        for title, lines in self._added.items():
            section = self._section(title)
            if section is None:
                new[title] = lines
            else:
                edits.append(self._insertion(section, lines))
        edits += self._new_sections(new)
        text = edited(self.document, edits)
        return text.rstrip("\r\n") + self.document.eol if emptied else text

    def _section(self, title: str) -> Section | None:
        return next((s for s in self.document.sections if s.level and s.title == title), None)

    def _by_author(
        self, title: str, is_ours: Callable[[str], bool]
    ) -> tuple[list[MarkdownBlock], list[str]]:
        """The runtime's entries and paragraphs of a section, and people's: all with a comment."""
        ours: list[MarkdownBlock] = []
        theirs: list[str] = []
        section = self._section(title)
        for block in section.blocks if section else ():
            if block.kind not in _TEXT_KINDS or not block.text.strip():
                continue
            lines = self.document.lines[block.start : block.end]
            if is_ours(block.text) and not any("<!--" in line for line in lines):
                ours.append(block)
            else:
                theirs.append(white_folded(block.text))
        return ours, theirs

    def _add(self, title: str, lines: list[str]) -> None:
        if lines:
            self._added.setdefault(title, []).extend(lines)

    def _end(self) -> int:
        """The last line a new section can stand at: above code or a comment that is not closed.

        An entry or a paragraph that holds such a thing stays in its section: the new one goes above
        the whole section.
        """
        section = self.document.sections[-1]
        probe = parsed("".join((*self.document.lines[section.start :], "\n\n## x\n"))).sections[-1]
        if (probe.title, probe.level) == ("x", 2):
            return len(self.document.lines)
        last = section.blocks[-1]
        return section.start if section.level and last.kind in _TEXT_KINDS else last.start

    def _insertion(self, section: Section, lines: list[str]) -> tuple[int, int, list[str]]:
        """New lines below the last entry, or below the heading and what else stands there."""
        limit = self._end()
        ends = [block.end for block in section.blocks if block.kind is BlockKind.ENTRY]
        if not ends:
            return self._below_heading(section, lines, limit)
        at = min(max(ends), limit)
        # Prose straight below an empty bullet would go on with the entry that is now between.
        return at, at, [*lines, ""] if self._begins_prose(at) else lines

    def _below_heading(
        self, section: Section, lines: list[str], limit: int
    ) -> tuple[int, int, list[str]]:
        """With a blank line on either side."""
        blocks = (block for block in section.blocks if block.kind is not BlockKind.BLANK)
        at = max((block.end for block in blocks if block.start < limit), default=section.body)
        if self._is_blank(at):
            if at + 1 == len(self.document.lines) or self._is_blank(at + 1):
                return at + 1, at + 1, lines
            return at + 1, at + 1, [*lines, "", *self._divider(at + 1)]
        if at == len(self.document.lines):
            return at, at, ["", *lines]
        return at, at, ["", *lines, "", *self._divider(at)]

    def _is_blank(self, at: int) -> bool:
        return any(not line.strip() for line in self.document.lines[at : at + 1])

    def _begins_prose(self, at: int) -> bool:
        return any(block.start == at for block in self._paragraphs)

    def _divider(self, at: int) -> list[str]:
        """A rule above a line so far to the right that it would belong to an entry above it."""
        line = next((line for line in self.document.lines[at:] if line.strip()), "")
        return ["---", ""] if indentation(line) >= INNER else []

    def _new_sections(self, new: Mapping[str, list[str]]) -> list[tuple[int, int, list[str]]]:
        """New sections by the place they go to."""
        places: dict[int, list[str]] = {}
        total = len(self.document.lines)
        # Sections of older tools are H1; a new one is as high as those that stand there.
        level = next((s.level for s in self.document.sections if s.title in self.order), 2)
        for title in sorted(new, key=self._rank):
            at = self._place(title)
            section = [f"{'#' * level} {title}", "", *new[title]]
            around = ["", *section] if at == total else [*section, "", *self._divider(at)]
            places.setdefault(at, []).extend(around)
        if total in places:
            places[total] = self._at_end(places[total])
        return [(at, at, lines) for at, lines in places.items()]

    def _at_end(self, lines: list[str]) -> list[str]:
        if not self.document.lines:
            return [self._fresh_title(lines), *lines]
        return lines if self.document.lines[-1].strip() else lines[1:]

    def _fresh_title(self, lines: list[str]) -> str:
        """The first line of an empty file: in the language of its first heading, where that has
        words, else of all that is written.
        """
        english, chinese = self.fresh_titles
        heading = next((line for line in lines if line.strip()), "")
        has_words = any(character.isalpha() for character in heading)
        said = heading if has_words else "\n".join(lines)
        return chinese if is_chinese(said) else english

    def _place(self, title: str) -> int:
        rank = self._rank(title)
        later = (s.start for s in self.document.sections if self.order.get(s.title, -1) > rank)
        return next(later, self._end())

    def _rank(self, title: str) -> int:
        return self.order.get(title, len(self.order))


def _next_marker(section: Section) -> str:
    """The marker of a section's next entry, as its last one has it; numbers count on."""
    entries = (block for block in section.blocks if block.kind is BlockKind.ENTRY)
    marker = next((block.marker for block in reversed([*entries]) if block.marker.strip()), "- ")
    numbered = _ORDERED.match(marker)
    if numbered:
        return f"{numbered[1]}{int(numbered[2]) + 1}{numbered[3]}"
    return marker if marker.endswith((" ", "\t")) else f"{marker} "


def edited(document: Document, edits: Sequence[tuple[int, int, Sequence[str]]]) -> str:
    """The text of `document` with each span of lines `[start, end)` replaced by other lines.

    The new lines are given without ending. `start == end` inserts. Several inserts at one place
    keep their order. New lines get the ending of the document; a last line without one gets it only
    if something now follows. A byte order mark stays on top. ValueError if spans overlap or lie
    outside, or if a line holds a line break.
    """
    lines = list(document.lines)
    mark = BOM if lines and lines[0].startswith(BOM) else ""
    if mark:
        lines[0] = lines[0].removeprefix(BOM)
    result: list[str] = []
    reached = 0
    for start, end, added in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        if not reached <= start <= end <= len(lines):
            raise ValueError(
                f"the edit of lines {start} to {end} overlaps another or lies outside the text"
            )
        _append_kept(result, lines[reached:start])
        _append_new(result, added, document.eol)
        reached = end
    _append_kept(result, lines[reached:])
    return mark + "".join(result)


def _append_kept(result: list[str], kept: Sequence[str]) -> None:
    """Appends lines; a "\\r" before a lone "\\n" gets its own, or the two were one ending."""
    if kept and kept[0].startswith("\n") and _ends_with(result, "\r"):
        result[-1] += "\n"
    result += kept


def _append_new(result: list[str], added: Sequence[str], eol: str) -> None:
    """Appends lines given without ending; a last line without one gets its ending first."""
    if added and result and result[-1] and not _ends_with(result, "\n", "\r"):
        result[-1] += eol
    for line in added:
        ended = _one_line(line) + eol
        # A "\n" behind a "\r" would be no line of its own.
        if ended == "\n" and _ends_with(result, "\r"):
            ended = "\r"
        result.append(ended)


def _ends_with(lines: list[str], *endings: str) -> bool:
    return bool(lines) and lines[-1].endswith(endings)


def _one_line(line: str) -> str:
    if without_ending(line) != line or len(split_lines(line)) > 1:
        raise ValueError(f"{line[:40]!r} is more than one line; split it first")
    return line
