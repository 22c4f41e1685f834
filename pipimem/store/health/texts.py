"""Whether a note can be read, what its Markdown hides, and where a secret stands in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pipimem.errors import PipimemError, UnreadableNote
from pipimem.notes import guards
from pipimem.notes.entry import Entry
from pipimem.notes.kinds import File
from pipimem.notes.notes import Notes
from pipimem.settings import SecretSettings, Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.commit.working_copy import UnreadableFile
from pipimem.store.disk.files import read_text
from pipimem.store.health.finding import Finding, worth_knowing, wrong
from pipimem.store.health.kept_secrets import secrets_in_file
from pipimem.text.dates import dated
from pipimem.text.injection import injection_kind
from pipimem.text.markdown.parser import BlockKind, Document, MarkdownBlock, parsed
from pipimem.text.private import without_private
from pipimem.text.quotes import read_quote
from pipimem.text.secrets import NO_LIST, redacted

_FILES = (File.MEMORY, File.SESSION, File.HISTORY)
# An entry should say one thing; a turn is shown five thousand characters in all.
_LONG = 800
_SHOWN = 60
_SETTLE = "; `pipimem conflicts CHANNEL` lists such pairs, to be settled"
# Of a MEMORY.md so many times as long as what a turn may show, a turn shows 1 %. With the default
# settings these are 500,000 characters, or 5,000 entries: a process's first turn takes 1.2 s.
_TOO_LONG = 100
_Quoted = Callable[[str], str]
Pairs = Callable[[Notes], Iterable[tuple[Entry, Entry]]]
"""Returns the pairs of entries of a channel that may contradict each other, the older first."""


def entry_findings(
    path: Path,
    notes: Notes,
    now: datetime,
    own: SecretSettings = NO_LIST,
    contradicting: Pairs = lambda _notes: (),
) -> Iterator[Finding]:
    """What is to be said about the entries of a channel's MEMORY.md.

    Their words are quoted without secrets, those of `own` among them, and private stretches.
    """

    def quoted(text: str) -> str:
        return _short(redacted(without_private(text), own=own))

    entries = notes.memory.entries
    for entry in entries:
        where = f"{path}, line {entry.start + 1}"
        if len(entry.text) > _LONG:
            what = f"an entry of {len(entry.text)} characters; recall finds shorter ones better"
            yield worth_knowing(where, what)
        # A quote has its day in front.
        if not read_quote(entry.text).day:
            yield from _relative_date(where, entry.text, _learnt_at(notes, entry) or now, quoted)
    if guards.is_used_up(notes, now.date()):
        what = f"{guards.TOOK_HALF} and may take out no more before "
        undo = "`pipimem undo CHANNEL --author model --since 30d` takes back all that they changed"
        yield worth_knowing(path, f"{what}{guards.reopens(notes, now.date())}; {undo}")
    yield from _twins(path, [entry for entry in entries if entry.bullet], quoted)
    for older, newer in contradicting(notes):
        yield _found(path, newer, older, quoted, "may contradict", _SETTLE)


def _relative_date(where: str, text: str, said: datetime, quoted: _Quoted) -> Iterator[Finding]:
    """A date such as "tomorrow" in an entry that was learnt at `said`."""
    absolute = dated(text, said)
    if absolute != text:
        what = f"a relative date, which will not stay true: {quoted(text)}; "
        yield wrong(where, f"{what}as of {said:%Y-%m-%d} it means: {quoted(absolute)}")


def _twins(path: Path, entries: Sequence[Entry], quoted: _Quoted) -> Iterator[Finding]:
    """Yield one finding for each entry that an earlier one says word for word."""
    first: dict[str, Entry] = {}
    for entry in entries:
        earlier = first.setdefault(entry.id, entry)
        if earlier is not entry:
            yield _found(path, entry, earlier, quoted, "says the same as")


def _found(
    path: Path, entry: Entry, earlier: Entry, quoted: _Quoted, relation: str, hint: str = ""
) -> Finding:
    what = f"{relation} line {earlier.start + 1}: {quoted(entry.text)} / {quoted(earlier.text)}"
    return worth_knowing(f"{path}, line {entry.start + 1}", f"{what}{hint}")


def _learnt_at(notes: Notes, entry: Entry) -> datetime | None:
    known = notes.ledger.records.get(entry.id)
    if known is None or not known.when:
        return None
    return datetime.fromisoformat(known.when)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line}”" if len(line) <= _SHOWN else f"“{line[: _SHOWN - 1]}…”"


def awaiting_findings(
    folder: Path, notes: Notes, own: SecretSettings = NO_LIST
) -> Iterator[Finding]:
    """One finding for each rule that waits for another member; its words are not repeated."""
    for entry, record in notes.awaiting(notes.memory.entries):
        who = redacted(record.why_awaiting, own=own)
        what = (
            f"a rule that binds nobody yet: {who}. It does once another member agrees in the "
            "talk, or a person rewords the line; else take it out"
        )
        yield worth_knowing(f"{folder / File.MEMORY}, line {entry.start + 1}", what)


def injection_findings(folder: Path, notes: Notes) -> Iterator[Finding]:
    """One finding for each entry that reads like an instruction to the bot.

    Its words are not repeated, for findings are read by bots as well.
    """
    for file in _FILES:
        for entry in notes.note(file).entries:
            kind = injection_kind(entry.text)
            if kind:
                what = f"reads like an instruction to the bot ({kind}); it is shown as data only, "
                where = f"{folder / file}, line {entry.start + 1}"
                yield worth_knowing(where, f"{what}take it out if nobody needs it")


_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\S")
# What a merge of git leaves, and what nobody would write at the beginning of a line.
_CONFLICT = re.compile(r"(?:<{7}|>{7}) ")


def unreadable_finding(store: ChannelStore, file: File, found: UnreadableFile) -> Finding:
    """Return the finding about a note that is no text."""
    path = store.folder / file

    def put_back(now: datetime) -> str:
        aside = store.set_note_aside(file, now)
        return f"its last good text is back; what stood there is in {aside}" if aside else "a text"

    if _has_text(path, store.workspace.root):
        return wrong(path, found.sentence)  # a conflict: people choose between the sides
    if not found.has_good_text:
        return wrong(path, found.sentence)
    mend = f"`pipimem doctor --fix` renames it to {path.name}.unreadable and puts that text back."
    return wrong(path, f"{found.sentence} {mend}", put_back)


def _has_text(path: Path, root: Path) -> bool:
    """Return whether a file can be read as a text."""
    try:
        return read_text(path, root) is not None
    except UnreadableNote:
        return False


def text_findings(
    path: Path, root: Path, settings: Settings, unreadable: Finding | None = None
) -> Iterator[Finding]:
    """What is to be said about a file as a text; a secret itself is never shown.

    `unreadable` is the finding about a note that is no text.
    """
    if unreadable is not None:
        yield unreadable
    try:
        text = read_text(path, root) or ""
    except PipimemError as error:
        if unreadable is None:
            yield wrong(path, str(error))
        return
    yield from secrets_in_file(path, text, settings.secrets)
    if path.name == File.MEMORY:
        yield from _length(path, len(text), settings.recall.max_chars)
    if path.suffix == ".md":
        yield from _hidden(path, parsed(text))


def _length(path: Path, length: int, shown: int) -> Iterator[Finding]:
    if length > _TOO_LONG * shown:
        what = f"{length:,} characters, of which a turn shows at most {shown:,} (max_chars under "
        more = "[recall]): far too long. Take out what nobody will ask for, such as a pasted log"
        yield worth_knowing(path, what + more)


def _hidden(path: Path, document: Document) -> Iterator[Finding]:
    """Lines that look like entries and are none, and what a merge left behind."""
    for number, line in enumerate(document.lines, start=1):
        if _CONFLICT.match(line):
            what = "a merge left its marks here; keep one side and take out the marks"
            yield wrong(f"{path}, line {number}", what)
    blocks = [block for section in document.sections for block in section.blocks]
    filled = [block for block in blocks if block.kind is not BlockKind.BLANK]
    if filled and _swallows(document, filled[-1]):
        yield from _swallowed(path, document, filled[-1])
    yield from _empty_bullets(path, blocks)


def _empty_bullets(path: Path, blocks: Iterable[MarkdownBlock]) -> Iterator[Finding]:
    for block in blocks:
        if block.kind is BlockKind.ENTRY and not block.text.strip():
            yield worth_knowing(f"{path}, line {block.start + 1}", "a bullet without text")


def _swallowed(path: Path, document: Document, block: MarkdownBlock) -> Iterator[Finding]:
    """Bullets in a comment or code at the end of a file, which nobody closed."""
    lines = document.lines[block.start + 1 : block.end]
    bullets = sum(1 for line in lines if _BULLET.match(line))
    if bullets:
        what = f"what begins here is not closed: {bullets} bullets below it are no entries; "
        yield wrong(f"{path}, line {block.start + 1}", f"{what}close the comment or code")


def _swallows(document: Document, last: MarkdownBlock) -> bool:
    """Whether the last block of a file would hide a bullet behind it."""
    probe = parsed("".join((*document.lines[last.start :], "\n\n- x\n")))
    end = probe.sections[-1].blocks[-1]
    return end.kind is not BlockKind.ENTRY or end.text != "x"
