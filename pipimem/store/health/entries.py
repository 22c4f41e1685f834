"""Entries that repeat or contradict each other, go out of date, are too long, or wait or order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pipimem.notes import guards
from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.notes import Notes
from pipimem.notes.quote_reason import awaiting, why_awaiting
from pipimem.settings import SecretSettings
from pipimem.store.health.finding import Finding, worth_knowing, wrong
from pipimem.text.dates import dated
from pipimem.text.injection import injection_kind
from pipimem.text.private import without_private
from pipimem.text.quotes import read_quote
from pipimem.text.secrets import NO_LIST, redacted
from pipimem.text.words.opposites import contradictions
from pipimem.text.words.similarity import SimilarTexts

_FILES = (File.MEMORY, File.SESSION, File.HISTORY)
# An entry should say one thing; a turn is shown five thousand characters in all.
_LONG = 800
_SHOWN = 60
_Quoted = Callable[[str], str]


def entry_findings(
    path: Path, notes: Notes, now: datetime, own: SecretSettings = NO_LIST
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


def _relative_date(where: str, text: str, said: datetime, quoted: _Quoted) -> Iterator[Finding]:
    """A date such as "tomorrow" in an entry that was learnt at `said`."""
    absolute = dated(text, said)
    if absolute != text:
        what = f"a relative date, which will not stay true: {quoted(text)}; "
        yield wrong(where, f"{what}as of {said:%Y-%m-%d} it means: {quoted(absolute)}")


def _twins(path: Path, entries: Sequence[Entry], quoted: _Quoted) -> Iterator[Finding]:
    """One finding an entry, however many say the same or allow what it forbids."""
    first: dict[str, Entry] = {}
    for entry in entries:
        earlier = first.setdefault(entry.id, entry)
        if earlier is not entry:
            yield _found(path, entry, earlier, quoted)
    distinct = list(first.values())
    similar = SimilarTexts(entry.text for entry in distinct)
    for place, entry in enumerate(distinct):
        same = similar.of(entry.text)
        if same and same[0] < place:
            yield _found(path, entry, distinct[same[0]], quoted)
    for earlier_place, place in contradictions([entry.text for entry in distinct]):
        yield _found(path, distinct[place], distinct[earlier_place], quoted, "contradicts")


def _found(
    path: Path,
    entry: Entry,
    earlier: Entry,
    quoted: _Quoted,
    relation: str = "says the same as",
) -> Finding:
    what = f"{relation} line {earlier.start + 1}: {quoted(entry.text)} / {quoted(earlier.text)}"
    return worth_knowing(f"{path}, line {entry.start + 1}", what)


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
    for entry, record in awaiting(notes.memory.entries, notes):
        who = redacted(why_awaiting(record), own=own)
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
