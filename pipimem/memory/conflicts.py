"""Pairs of entries of MEMORY.md that may contradict each other, and how a person settles one."""

from __future__ import annotations

from msgspec import Struct

from pipimem.errors import NothingFound
from pipimem.memory.entry_changes import entries_of
from pipimem.notes.entry import Entry
from pipimem.notes.ledger import pair_name
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Decision, Invalidate, Settle
from pipimem.text.quotes import read_quote
from pipimem.text.talk.contradictions import contradictions

_SETTLE = "settle"


class Conflict(Struct, frozen=True):
    """Two entries, under whatever headings, that may contradict each other, the older first."""

    older: Entry
    newer: Entry


def conflicts(notes: Notes) -> tuple[Conflict, ...]:
    """Return the pairs of bullets that nobody settled, in the order of the file."""
    first: dict[str, Entry] = {}
    for entry in notes.memory.entries:
        if entry.bullet:
            first.setdefault(entry.id, entry)
    entries = list(first.values())

    def is_settled(one: int, other: int) -> bool:
        return pair_name(entries[one].id, entries[other].id) in notes.ledger.settled

    pairs = contradictions([entry.text for entry in entries], is_settled)
    return tuple(_conflict(notes, entries[one], entries[other]) for one, other in pairs)


def _conflict(notes: Notes, one: Entry, other: Entry) -> Conflict:
    """The newer one is what was said on the later day, else what stands further down."""
    days = [_said_on(notes, entry) for entry in (one, other)]
    is_turned = all(days) and days[0] > days[1]
    return Conflict(other, one) if is_turned else Conflict(one, other)


def _said_on(notes: Notes, entry: Entry) -> str:
    record = notes.record(entry.id)
    return read_quote(entry.text).day or (record.when[:10] if record else "")


def settled(notes: Notes, keep: str, other: str, *, both: bool) -> Decision:
    """Return a person's decision on a pair: the entry `keep` holds, or both of them do.

    The other one leaves MEMORY.md, which can be undone. Where both hold the pair is listed no more,
    until one of them is reworded. Raises `NothingFound` for an id of no entry, and for one entry
    twice.
    """
    kept, gone = entries_of(notes, (keep, other))
    if kept == gone:
        raise NothingFound(f"{keep} and {other} are one entry: give the ids of two.")
    operation: Settle | Invalidate
    if both:
        operation = Settle(kept.target, gone.target)
    else:
        operation = Invalidate(gone.target, f"settled: {kept.id} holds", holds=kept.target)
    return Decision(_SETTLE, Author.PERSON, (operation,), why="a contradiction is settled")
