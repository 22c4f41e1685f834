"""What a person edits of the notes: their draft merged into a text, and what came of it.

They saw no secrets and nothing private of the text, and neither may be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from pipimem.errors import PipimemError
from pipimem.notes.entry import Entry
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Notes, Outcome
from pipimem.notes.operations import Change
from pipimem.notes.reconcile import reconciled
from pipimem.store.commit.manual_edits import described_edit
from pipimem.text.markdown.line_edits import Splice, spliced_lines, splices_between
from pipimem.text.markdown.lines import (
    BOM,
    TAB,
    bullet,
    dedented,
    indentation,
    line_ending,
    split_lines,
)
from pipimem.text.markdown.parser import INNER, BlockKind, Document, MarkdownBlock, parsed
from pipimem.text.private import has_mark
from pipimem.text.secrets import mark_pattern
from pipimem.text.words.similarity import REWORDED, alike, bigrams

_HIDDEN = (
    "a line that you changed has something hidden in it, which would be lost. Take the whole entry "
    "out, or edit the file in an editor"
)
_HIDDEN_LINES = (
    "the file hides something that goes over several lines: edit it in an editor, or change one "
    "entry at a time"
)
_NO_WORDS = "an entry needs words. To remove the entry, use “Take out”"
_HEADING = "a heading in an entry would begin a section. Leave out its sign, or edit the whole file"
_SEVERAL = "the text would be several entries. Save one, and remember the others"
_NOT_ONE_ENTRY = (
    "the text would not stay one entry, or would change what is around it. Close the code or the "
    "comment that it opens, or edit the whole file"
)
# A line below a draft: it is no paragraph if the draft opens code or a comment without its end.
_BELOW = "x"
# A bullet that is typed before the words is the entry's own; a number may belong to the words.
_SIGNS = ("-", "*", "+")


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """One entry of a file as a page showed it: its section, its id, its lines as it showed them."""

    file: File
    section: str
    id: str
    source: str


@dataclass(frozen=True, slots=True)
class SavedNote:
    """A file was saved: the number of the change in the log, and the mark of the text.

    `hides` says that a secret or private stretch of the draft was not written.
    """

    number: int
    etag: str
    hides: bool = False


@dataclass(frozen=True, slots=True)
class EditConflict:
    """Nothing was saved: the file is not what the draft was made of any more.

    `etag` and `current` are of the file as it stands, `merged` is that with what the draft changed:
    where both changed the same lines, both stand there. `clashing` are such lines as they were.
    `theirs` are the words an entry most likely was reworded to; empty where nothing is like it.
    """

    file: File
    etag: str
    current: str
    merged: str
    clashing: tuple[str, ...] = ()
    theirs: str = ""


def with_newlines(text: str) -> str:
    """The text with `\\n` for each line end, as the field of a form has it.

    Without NUL, with which a file is no text to anybody: it may be pasted into a field.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def with_draft(raw: str, shown: str, draft: str) -> str:
    """`raw` with the lines that `draft` has otherwise than `shown`, which is `raw` as it was seen.

    Line ends of other lines stay as they are, and so does what `shown` hides. Raises `PipimemError`
    where a changed line would have the mark in the place of what it hides.
    """
    lines, seen = split_lines(raw), split_lines(with_newlines(shown))
    if len(lines) != len(seen):
        raise PipimemError(f"Nothing was saved: {_HIDDEN_LINES}.")
    eol = line_ending(lines)
    changed = []
    for splice in splices_between("".join(seen), with_newlines(draft)):
        end = splice.start + len(splice.removed)
        originals = lines[splice.start : end]
        _refuse_lost(originals, splice)
        added = tuple(line.replace("\n", eol) for line in splice.added)
        changed.append(Splice(splice.start, originals, added))
    return "".join(spliced_lines(lines, changed))


def _refuse_lost(originals: Sequence[str], splice: Splice) -> None:
    """Raises `PipimemError` where a mark would be written over what it stands for."""
    hides = any(
        with_newlines(line) != seen for line, seen in zip(originals, splice.removed, strict=True)
    )
    if hides and any(has_mark(line) or mark_pattern()().search(line) for line in splice.added):
        raise PipimemError(f"Nothing was saved: {_HIDDEN}.")


def entry_words(source: str) -> str:
    """Return the words of an entry as a person edits them: without its bullet and indentation."""
    return "\n".join(_layout(source)[2]).strip("\n")


def with_words(source: str, draft: str) -> str:
    """Return the lines of an entry with other words behind its bullet.

    Raises `PipimemError` if the words are empty, have a heading, begin with several bullets, or
    open code or a comment without its end.
    """
    source, draft = with_newlines(source), with_newlines(draft).strip("\n")
    if draft == entry_words(source):
        return source
    prefix, indent, words = _layout(source)
    first, *inner = _checked_words(draft, prefix).split("\n")
    known = dict(zip(words[1:], source.split("\n")[1:], strict=False))
    lines = [known.get(line, f"{' ' * indent}{line}".rstrip(" ")) for line in inner]
    end = "\n" if source.endswith("\n") else ""
    return "\n".join([f"{prefix}{first.lstrip()}", *lines]) + end


def _layout(source: str) -> tuple[str, int, list[str]]:
    """Return what precedes an entry's first word, the indent of its inner lines, and its words."""
    first, *inner = with_newlines(source).removesuffix("\n").split("\n")
    text = first.removeprefix(BOM)
    found = bullet(text)
    if found is None:
        prefix, indent = text[: len(text) - len(text.lstrip())], 0
    else:
        prefix, width = found.marker, len(found.marker.rstrip().expandtabs(TAB)) + 1
        prefix += "" if prefix[-1].isspace() else " "
        columns = [indentation(line) for line in inner if line.strip()]
        own = [column for column in columns if column >= found.column + INNER]
        indent = min(own, default=width)
    words = [text[len(prefix) :], *(dedented(line, indent) for line in inner)]
    return first[: len(first) - len(text)] + prefix, indent, words


def _checked_words(draft: str, prefix: str) -> str:
    """Return a draft without the bullet that it begins with. Raises as `with_words`."""
    *blocks, below = _blocks(parsed(f"{draft}\n\n{_BELOW}\n"))
    kinds = [block.kind for block in blocks]
    if (below.kind, below.text) != (BlockKind.PARAGRAPH, _BELOW):
        raise PipimemError(f"Nothing was saved: {_NOT_ONE_ENTRY}.")
    if all(kind is BlockKind.COMMENT for kind in kinds):
        raise PipimemError(f"Nothing was saved: {_NO_WORDS}.")
    if BlockKind.HEADING in kinds:
        raise PipimemError(f"Nothing was saved: {_HEADING}.")
    if kinds[0] is BlockKind.ENTRY and blocks[0].marker.strip() in (*_SIGNS, prefix.strip()):
        if len(kinds) > 1:
            raise PipimemError(f"Nothing was saved: {_SEVERAL}.")
        return entry_words(draft)
    return draft


def replaced_entry(document: Document, start: int, end: int, source: str) -> str:
    """Return the text with other lines for an entry's, `[start, end)`; no lines remove it.

    Raises `PipimemError` unless all other blocks of the text stay as they are and the new lines are
    one entry.
    """
    lines = document.lines
    text = "".join((*lines[:start], source, *lines[end:]))
    before, after = _blocks(document), _blocks(parsed(text))
    index = next(index for index, block in enumerate(before) if block.start == start)
    rest = index + 1 if source else index
    stays = _contents(before, index, index + 1) == _contents(after, index, rest)
    placed = [block.kind for block in after[index:rest] if block.text.strip()]
    if not stays or placed != [before[index].kind][: rest - index]:
        raise PipimemError(f"Nothing was saved: {_NOT_ONE_ENTRY}.")
    return text


def _blocks(document: Document) -> list[MarkdownBlock]:
    """Return the blocks of a document that are not blank."""
    blocks = (block for section in document.sections for block in section.blocks)
    return [block for block in blocks if block.kind is not BlockKind.BLANK]


def _contents(
    blocks: Sequence[MarkdownBlock], start: int, end: int
) -> list[tuple[BlockKind, int, str, str]]:
    """Return what the blocks outside `[start, end)` are and say."""
    outside = (*blocks[:start], *blocks[end:])
    return [(block.kind, block.level, block.marker, block.text) for block in outside]


def with_block(text: str, section: str, source: str) -> str:
    """The text with some lines at the end of a section, or at its own end without that section."""
    document = parsed(text)
    at = len(document.lines)
    for each in document.sections:
        if each.title == section:
            blocks = [block for block in each.blocks if block.text.strip()]
            at = blocks[-1].end if blocks else each.end
    before = "".join(document.lines[:at])
    if before and not before.endswith("\n"):
        before += "\n"
    return f"{before}{source.rstrip()}\n{''.join(document.lines[at:])}"


def hiding(saved: SavedNote | EditConflict, hides: bool) -> SavedNote | EditConflict:
    """Note in what was saved whether a part of the draft was not written."""
    return replace(saved, hides=hides) if isinstance(saved, SavedNote) else saved


def rewritten(notes: Notes, file: File, text: str, change: Change | None = None) -> Outcome:
    """Return the notes with another text of a file, and what that does to the ledger."""
    before = notes.note(file).text
    if text == before:
        return Outcome()
    delta = reconciled(notes, notes.with_texts({file: text}))
    change = change or described_edit(file, before, text, text)
    return Outcome({file: text}, "", delta, (change,))


def successor(notes: Notes, place: EntryPlace) -> Entry | None:
    """What an entry that is not there any more was reworded to, where that can be told.

    What the ledger knows as its rewording, else the entry that says most nearly the same.
    """
    old, entries = place.id.partition(".")[0], notes.note(place.file).entries
    for entry in entries:
        record = notes.record(entry.id)
        if record is not None and record.predecessor == old:
            return entry
    wanted = bigrams(place.source)
    likeness = [(alike(bigrams(entry.text), wanted), entry) for entry in entries]
    best = max(likeness, key=lambda pair: pair[0], default=None)
    return best[1] if best is not None and best[0] >= REWORDED else None


def with_predecessor(notes: Notes, outcome: Outcome, place: EntryPlace) -> Outcome:
    """The outcome of an edit of one entry, whose new wording is known as that in the ledger.

    Without it the ledger would tell a rewording by its likeness alone.
    """
    known = {entry.id for entry in notes.memory.entries}
    records = outcome.delta.records
    fresh = [name for name, record in records.items() if record is not None and name not in known]
    if len(fresh) != 1:
        return outcome
    record = records[fresh[0]]
    assert record is not None
    renamed = structs.replace(record, predecessor=place.id.partition(".")[0])
    delta = structs.replace(outcome.delta, records={**records, fresh[0]: renamed})
    return structs.replace(outcome, delta=delta)


def carried(notes: Notes, outcome: Outcome, place: EntryPlace) -> Delta:
    """The ledger's change where an entry got a mark: it is the same entry, said by the same."""
    if place.file not in outcome.texts:
        return outcome.delta
    old = place.id.partition(".")[0]
    record = notes.record(old)
    if record is None:
        return structs.replace(outcome.delta, tombstones={})
    known = {entry.id for entry in notes.memory.entries}
    after = notes.with_texts(outcome.texts).memory.entries
    fresh = {entry.id for entry in after} - known
    records = {
        **outcome.delta.records,
        **dict.fromkeys(fresh, structs.replace(record, predecessor=old)),
    }
    return structs.replace(outcome.delta, records=records, tombstones={})
