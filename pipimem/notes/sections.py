"""A draft of one note: entries and sections put in, replaced or taken out, touching no other line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pipimem.text.growing import INNER
from pipimem.text.markdown import Block, Document, Kind, Section, parsed
from pipimem.text.marks import indentation
from pipimem.text.splices import edited
from pipimem.text.whitespace import white_folded

# What a blank line ends, if no comment was opened in it.
_CLOSED = frozenset((Kind.PARAGRAPH, Kind.HEADING, Kind.RULE, Kind.TABLE))
_ORDERED = re.compile(r"(\s*)(\d{1,9})([.)]\s+)$")


def bullet_text(text: str) -> str:
    """The text folded to one line that Markdown reads back as one bullet with just this text; empty if there is none.

    A model's text may begin like a heading, a fence or a comment; a backslash or a blank keeps it plain text.
    """
    # A paragraph below is what code without an end takes in: the next bullet would end it.
    return next(
        (
            line
            for line in _candidates(text)
            if _reads_back(f"- {line}\n\nx\n\n- x\n", line, Kind.ENTRY)
        ),
        "",
    )


def paragraph_text(text: str) -> str:
    """The text folded to one line that Markdown reads back as a paragraph with just this text, as `bullet_text` does."""
    return next(
        (
            line
            for line in _candidates(text)
            if _reads_back(f"{line}\n\nx\n\n- x\n", line, Kind.PARAGRAPH)
        ),
        "",
    )


def heading_text(text: str) -> str:
    """The text folded to one line, for a heading."""
    # A file with one NUL byte is no text any more: nothing of it could be read or written again.
    return white_folded(text.replace("\0", " "))


def _candidates(text: str) -> Iterator[str]:
    line = heading_text(text).replace("<!--", "< !--")
    tame = line.replace("```", "'''").replace("~~~", "~ ~ ~")
    shielded = f"\\{line}" if line else ""
    return (
        candidate for candidate in (line, shielded, tame, line.strip("-*+# \t`~>")) if candidate
    )


def _reads_back(note: str, line: str, kind: Kind) -> bool:
    blocks = [
        block
        for section in parsed(note).sections
        for block in section.blocks
        if block.kind is not Kind.BLANK
    ]
    told = [(block.kind, block.text) for block in blocks]
    return told == [(kind, line), (Kind.PARAGRAPH, "x"), (Kind.ENTRY, "x")]


@dataclass(slots=True)
class Draft:
    """Edits gathered on one document; line numbers are those of the document as it was.

    `fresh_title` is the first line of an empty file, `order` the headings in the order that new sections are put in;
    one of another name goes to the end.
    """

    document: Document
    fresh_title: str
    order: Sequence[str]
    _replaced: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    # New lines by heading, and the level of the heading where the section is new.
    _added: dict[str, tuple[int, list[str]]] = field(default_factory=dict)

    @property
    def titles(self) -> list[str]:
        """The headings of the draft, those it adds included."""
        return [
            *(section.title for section in self.document.sections if section.level),
            *self._added,
        ]

    def replace(self, start: int, end: int, lines: Sequence[str]) -> None:
        """Other lines instead of `[start, end)`; prose above or below them does not go on with what it now stands next to."""
        joins = self._begins_prose(end) or (not lines and self._ends_prose(start))
        is_below_text = bool(lines) or (start > 0 and self.document.lines[start - 1].strip())
        self._replaced[start, end] = [*lines, ""] if joins and is_below_text else list(lines)

    def remove(self, start: int, end: int) -> None:
        """Take lines out."""
        self.replace(start, end, [])

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
        self, title: str, items: Sequence[str], ours: Callable[[str], bool], *, plain: bool
    ) -> bool:
        """Make `items` the runtime's lines of a section; what a person put there stays. False if nothing changes.

        `ours` tells by its text whether the runtime wrote a line. A `plain` section holds one paragraph instead of
        bullets, and a person's own paragraph there is left alone.
        """
        section = self._section(title)
        blocks = section.blocks if section else ()
        written = [b for b in blocks if b.kind in (Kind.ENTRY, Kind.PARAGRAPH) and b.text.strip()]
        mine = [block for block in written if ours(block.text)]
        theirs = {white_folded(block.text) for block in written if not ours(block.text)}
        wanted = [item for item in items if item not in theirs]
        if [white_folded(block.text) for block in mine] == wanted or (plain and theirs):
            return False
        lines = wanted if plain else [f"- {item}" for item in wanted]
        if mine:
            self.replace(mine[0].start, mine[0].end, lines)
        else:
            self._add(title, lines, self._level())
        for block in mine[1:]:
            self.remove(block.start, block.end)
        return True

    def text(self) -> str:
        """The document with all edits made."""
        edits = [(start, end, lines) for (start, end), lines in self._replaced.items()]
        new: list[tuple[str, int, list[str]]] = []
        for title, (level, lines) in self._added.items():
            if section := self._section(title):
                edits.append(self._insertion(section, lines))
            else:
                new.append((title, level, lines))
        edits += self._new_sections(new)
        return edited(self.document, sorted(edits, key=lambda edit: (edit[0], edit[1])))

    # ── where things go ───────────────────────────────────────────────────────────────────────────────────────

    def _section(self, title: str) -> Section | None:
        return next((s for s in self.document.sections if s.level and s.title == title), None)

    def _level(self) -> int:
        """Sections of older tools are H1; a new one is as high as those that stand there."""
        return next((s.level for s in self.document.sections if s.title in self.order), 2)

    def _add(self, title: str, lines: list[str], level: int = 2) -> None:
        if lines:
            self._added.setdefault(title, (level, []))[1].extend(lines)

    def _end(self) -> int:
        """The last line a new section can stand at: above code or a comment that somebody has not closed.

        An entry or a paragraph that holds such a thing stays in its section: the new one goes above the whole section.
        """
        section = self.document.sections[-1]
        if not section.blocks or section.blocks[-1].kind is Kind.BLANK:
            return len(self.document.lines)
        last = section.blocks[-1]
        if last.kind in _CLOSED and not any(
            "<!--" in line for line in self.document.lines[last.start :]
        ):
            return len(self.document.lines)
        probe = parsed("".join((*self.document.lines[section.start :], "\n\n## x\n")))
        if (probe.sections[-1].title, probe.sections[-1].level) == ("x", 2):
            return len(self.document.lines)
        is_memory = last.kind in (Kind.ENTRY, Kind.PARAGRAPH)
        return section.start if is_memory and section.level else last.start

    def _insertion(self, section: Section, lines: list[str]) -> tuple[int, int, list[str]]:
        ends = [block.end for block in section.blocks if block.kind is Kind.ENTRY]
        if ends:
            at = min(max(ends), self._end())
            # Prose straight below an empty bullet would go on with the entry that now stands between.
            return at, at, [*lines, ""] if self._begins_prose(at) else lines
        return self._into_empty(section, lines)

    def _into_empty(self, section: Section, lines: list[str]) -> tuple[int, int, list[str]]:
        """Below the heading and what else stands there, with a blank line on either side."""
        end = self._end()
        standing = (b.end for b in section.blocks if b.kind is not Kind.BLANK and b.start < end)
        last = max(standing, default=section.body)
        following = self.document.lines[last : last + 1]
        if following and not following[0].strip():
            at = last + 1
            after = self.document.lines[at : at + 1]
            return at, at, [*lines, "", *self._divider(at)] if after and after[0].strip() else lines
        return last, last, ["", *lines, "", *self._divider(last)] if following else ["", *lines]

    def _begins_prose(self, at: int) -> bool:
        return any(
            block.start == at and block.kind is Kind.PARAGRAPH for block in self._blocks_around(at)
        )

    def _ends_prose(self, at: int) -> bool:
        return any(
            block.end == at and block.kind is Kind.PARAGRAPH for block in self._blocks_around(at)
        )

    def _blocks_around(self, at: int) -> Iterator[Block]:
        """The blocks of the sections that line `at` stands in or ends."""
        return (
            b
            for section in self.document.sections
            if section.start <= at <= section.end
            for b in section.blocks
        )

    def _divider(self, at: int) -> list[str]:
        """A rule between new entries and a line so far to the right that it would belong to the last of them."""
        line = next((line for line in self.document.lines[at:] if line.strip()), "")
        return ["---", ""] if indentation(line) >= INNER else []

    def _new_sections(
        self, new: list[tuple[str, int, list[str]]]
    ) -> list[tuple[int, int, list[str]]]:
        """New sections by the place they go to."""
        places: dict[int, list[str]] = {}
        total = len(self.document.lines)
        for title, level, lines in sorted(new, key=lambda section: self._rank(section[0])):
            at = self._place(title)
            heading = [f"{'#' * level} {title}", "", *lines]
            places.setdefault(at, []).extend(
                [*heading, "", *self._divider(at)] if at < total else ["", *heading]
            )
        if total in places:
            places[total] = self._at_end(places[total])
        return [(at, at, lines) for at, lines in places.items()]

    def _at_end(self, lines: list[str]) -> list[str]:
        if not self.document.lines:
            return [self.fresh_title, *lines]
        return lines if self.document.lines[-1].strip() else lines[1:]

    def _place(self, title: str) -> int:
        later = self.order[self._rank(title) + 1 :]
        return next((s.start for s in self.document.sections if s.title in later), self._end())

    def _rank(self, title: str) -> int:
        return self.order.index(title) if title in self.order else len(self.order)


def _next_marker(section: Section) -> str:
    markers = [
        block.marker
        for block in section.blocks
        if block.kind is Kind.ENTRY and block.marker.strip()
    ]
    if not markers:
        return "- "
    if numbered := _ORDERED.match(markers[-1]):
        return f"{numbered[1]}{int(numbered[2]) + 1}{numbered[3]}"
    return markers[-1] if markers[-1].endswith((" ", "\t")) else f"{markers[-1]} "
