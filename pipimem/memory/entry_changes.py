"""Changes of entries that somebody asks for by id: another text, taken out, of help or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from msgspec.structs import replace

from pipimem.errors import NothingFound, PipimemError
from pipimem.memory.remember import quoted_addition
from pipimem.notes.entry import Entry, content_id
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import File, Kind
from pipimem.notes.ledger import Record
from pipimem.notes.note_draft import bullet_text
from pipimem.notes.notes import Notes
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Author,
    Bullet,
    Confirm,
    Decision,
    Doubt,
    Evidence,
    Invalidate,
    LeftOut,
    Move,
    Supersede,
    Trust,
)
from pipimem.text.dates import Span, mentioned, without_days
from pipimem.text.injection import injection_kind
from pipimem.text.patterns import Pattern
from pipimem.text.quotes import day_of, read_quote

_ASKED_FOR = "asked for"
_SIGNS = Pattern(r"[\W_]+")
# An inferred entry that was of no help goes after so many days, unless it is recalled within them.
_DOUBTED_DAYS = 14


def entries_of(notes: Notes, names: Iterable[str]) -> list[Entry]:
    """The entries of MEMORY.md by their ids, with `memory:` in front or without.

    Raises `NothingFound` for an id of none, and for one of another file.
    """
    known = {entry.ref: entry for entry in notes.memory.entries if entry.bullet}
    found = []
    for name in names:
        entry = known.get(name.strip().removeprefix("memory:"))
        if entry is None:
            raise NothingFound(
                f"No entry of MEMORY.md has the id {name!r}. Search for it: an entry that was "
                "reworded has another id, and lines of SESSION and HISTORY are not changed by id."
            )
        found.append(entry)
    return found


def unless_it_stands(decision: Decision, notes: Notes, now: datetime) -> Decision:
    """A decision that adds one entry, as one that confirms the entry which says the same already.

    That has the same words, and the same days however they are written: "1 Dec" is 1 December.
    """
    (add,) = (one for one in decision.operations if isinstance(one, Add))
    wanted = _said(add.text, now)
    if not wanted.days:
        return decision
    words = wanted.words.split()
    for entry in notes.memory.entries:
        # Finding the days of every entry would take far longer than looking for these words.
        if not _has_words(entry.text, words):
            continue
        record = notes.record(entry.id)
        when = record.when if record and record.when else now.isoformat()
        if entry.bullet and _said(entry.text, datetime.fromisoformat(when)) == wanted:
            confirm = Confirm(entry.target, add.evidence)
            return replace(decision, operations=(confirm,))
    return decision


def with_due(decision: Decision, due: date) -> Decision:
    """A decision that adds one entry, as one whose entry is due on a day."""
    operations = tuple(
        replace(one, due=due) if isinstance(one, Add) else one for one in decision.operations
    )
    return replace(decision, operations=operations)


def _has_words(text: str, words: Iterable[str]) -> bool:
    said = read_quote(text).said.casefold()
    return all(word in said for word in words)


class _Said(NamedTuple):
    """Whose words an entry is, the words without days, and the days it names."""

    name: str
    words: str
    days: tuple[Span, ...]


def _said(text: str, when: datetime) -> _Said:
    """Days that count from one are those of the day it was said, `when` it tells none."""
    quote, day = read_quote(text), day_of(text)
    if day is not None:
        when = datetime.combine(day, time(12), when.tzinfo)
    words = _SIGNS().sub(" ", without_days(quote.said, when)).casefold().strip()
    return _Said(quote.name, words, mentioned(quote.said, when))


def superseding(
    decision: Decision, notes: Notes, names: Sequence[str], kind: Kind | None
) -> Decision:
    """A decision that adds one entry, as one that puts it in the place of those of some ids.

    It keeps the first one's heading where `kind` is `None`; a text that is kept as a quote is a
    fact whatever `kind` says. Raises `NothingFound` for an unknown id, and `PipimemError` for what
    a person typed.
    """
    entries = entries_of(notes, names)
    _refuse_typed(notes, entries)
    (add,) = (one for one in decision.operations if isinstance(one, Add))
    if _stands_elsewhere(notes, add.text, entries):
        # Its own record stays: a person may have typed it.
        gone = tuple(Invalidate(entry.target, _ASKED_FOR) for entry in entries)
        return replace(decision, operations=(*gone, add))
    instead = Supersede(
        tuple(entry.target for entry in entries),
        add.text,
        add.trust,
        add.evidence,
        _ASKED_FOR,
        add.kind if add.trust is Trust.QUOTED else kind,
        add.expires,
        is_newer=True,
        quote_reason=add.quote_reason,
        due=add.due,
    )
    return replace(decision, operations=(instead,))


def reworded(decision: Decision, notes: Notes, name: str, kind: Kind | None) -> Decision:
    """A decision that adds one entry, as one that puts it in the place of the entry of an id.

    Its speaker and last day stay where no others are given. The same text under another kind only
    moves. What was kept as a quote stays one, whatever is made of its words, and never moves:
    raises `PipimemError` there, for what a person typed, and `NothingFound` for an unknown id.
    """
    (entry,) = entries_of(notes, [name])
    record = notes.record(entry.id)
    (add,) = (one for one in decision.operations if isinstance(one, Add))
    is_same = content_id(notes.key, bullet_text(add.text)) == entry.id
    if is_same and kind is not None and kind_of(entry.section) is not kind:
        _refuse_typed(notes, [entry])
        _refuse_quoted(add, record)
        return replace(decision, operations=(Move(entry.target, kind),))
    add = _completed(add, record) if record is not None else add
    return superseding(replace(decision, operations=(add,)), notes, [name], kind)


def _completed(add: Add, record: Record) -> Add:
    """An addition with the speaker and the last day of the entry whose place it takes."""
    evidence = replace(add.evidence, speaker=add.evidence.speaker or record.speaker)
    known = date.fromisoformat(record.expires) if record.expires else None
    due = date.fromisoformat(record.due) if record.due else None
    add = replace(add, evidence=evidence, expires=add.expires or known, due=add.due or due)
    is_quote = record.trust is Trust.QUOTED
    return quoted_addition(add, record.quote_reason) if is_quote else add


def _refuse_quoted(add: Add, record: Record | None) -> None:
    """Raises `PipimemError` for what is kept as a quote, or would be."""
    if Trust.QUOTED in (add.trust, record and record.trust):
        raise PipimemError(
            "It is kept as somebody's words: it reads like an instruction to the bot, or one "
            "member of a group alone said it. It stays where it is; `remember` makes a rule of it."
        )


def kept_kind(notes: Notes, name: str) -> Kind:
    """The kind of the heading under which an entry stands; a fact under one of people's own."""
    (entry,) = entries_of(notes, [name])
    return kind_of(entry.section) or Kind.FACT


def taken_out(notes: Notes, names: Sequence[str]) -> Decision:
    """The decision that takes entries out of MEMORY.md, which can be undone.

    Raises `NothingFound` for an unknown id, and `PipimemError` for what a person typed.
    """
    entries = entries_of(notes, names)
    _refuse_typed(notes, entries)
    operations = tuple(Invalidate(entry.target, _ASKED_FOR) for entry in entries)
    return Decision("take out", Author.PERSON, operations, why=_ASKED_FOR)


def rated(notes: Notes, name: str, now: datetime, *, helpful: bool) -> Decision:
    """The decision that an entry was of help, which ends its probation, or that it was of none.

    What was of help counts as recalled once more. What was of none is on probation: it ranks lower,
    and goes if a model inferred it; what a person typed stays as it is. Raises `NothingFound` for
    an unknown id.
    """
    (entry,) = entries_of(notes, [name])
    if helpful:
        confirm = Confirm(entry.target, was_helpful=True)
        return Decision("feedback", Author.PERSON, (confirm,), why="it was of help")
    doubt = Doubt(entry.target, now + timedelta(days=_DOUBTED_DAYS))
    return Decision("feedback", Author.PERSON, (doubt,), why="it was of no help")


def taken_in(
    number: int, item: LeftOut, now: datetime, entry: Callable[[Kind, Evidence], Decision]
) -> Decision:
    """The decision that writes an item that was left out.

    A line of history becomes a block of its day. All else is what `entry` makes of the text, and so
    is a line that reads like an instruction to the bot. Raises `PipimemError` for what may not be
    written: it says what was masked.
    """
    if not item.text:
        raise PipimemError(f"Number {number} is not kept here: it {item.reason}.")
    if item.file is File.HISTORY and not injection_kind(item.text):
        when = item.when or now
        bullet = Bullet(item.text, item.sources, when=when.isoformat(timespec="seconds"))
        decision = Decision("", Author.PERSON, (AddBlock(when, when, "", (bullet,)),))
    else:
        kind = item.kind or (Kind.ONGOING if item.file is File.SESSION else Kind.FACT)
        # Without the number of a message: a person asks for it now, whatever was taken out before.
        decision = entry(kind, Evidence(item.sources, when=item.when, learnt=now))
    why = f"left out before: {item.reason}"
    return replace(decision, task="take in", why=why, taken_in=(number,))


def _stands_elsewhere(notes: Notes, text: str, entries: Sequence[Entry]) -> bool:
    """Whether another bullet than these says the same words."""
    name = content_id(notes.key, bullet_text(text))
    others = (one for one in notes.memory.entries if one.bullet and one not in entries)
    return any(one.id == name for one in others)


def _refuse_typed(notes: Notes, entries: Sequence[Entry]) -> None:
    """Raises `PipimemError` for what a person typed, or may have typed.

    Equal texts have one record, whoever typed one of them; comments are no part of an id.
    """
    for entry in entries:
        record = notes.record(entry.id)
        twins = sum(one.id == entry.id and one.bullet for one in notes.memory.entries)
        lines = notes.memory.document.lines[entry.start : entry.end]
        is_commented = any("<!--" in line for line in lines)
        if record is None or record.trust is Trust.HUMAN or twins > 1 or is_commented:
            raise PipimemError(
                f"{entry.text!r} was typed into MEMORY.md by a person, or one of several lines or "
                "a comment was: only a person changes it, in the file."
            )
