"""Changes of the ledger that go with what a person reworded, moved, deleted or added.

Lines of SESSION.md and HISTORY.md that restate a deleted entry go with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.ledger import Delta, Record, Tombstone, tombstone_names
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust
from pipimem.text.folding import folded_as_shown

# A line of history ends with a full stop where the entry may have none.
_ENDS = ".!。"


def restating_lines(notes: Notes, entries: Iterable[Entry]) -> list[Entry]:
    """Return the lines of SESSION.md and HISTORY.md with the text of any of the entries.

    When an entry is superseded or taken out, they are no longer so either: they stay in their
    files, but are not recalled. Case, bullets, marks of bold and the final full stop do not count;
    a line that is merely alike may say something else.
    """
    texts = {_folded(entry.text) for entry in entries}
    lines = (*notes.session.entries, *notes.history.entries) if texts else ()
    return [line for line in lines if _folded(line.text) in texts]


def _folded(text: str) -> str:
    return folded_as_shown(text).rstrip(_ENDS)


def reconciled(old: Notes, new: Notes) -> Delta:
    """What a person's edit between two readings means for the ledger; that of `new` is not read.

    A bullet that kept its text keeps its record wherever it stands. A reworded one inherits the
    record of the bullet whose place it took, and is a person's from now on. What is deleted or
    reworded leaves a tombstone, and so do lines of SESSION.md and HISTORY.md with the same text.
    """
    before, after = _bullets(old), _bullets(new)
    lost = [entry for name, entry in before.items() if name not in after]
    fresh = [entry for name, entry in after.items() if name not in before]
    predecessors = _predecessors(before, after)
    records = _moved(old, before, after)
    records |= {entry.id: None for entry in lost if entry.id in old.ledger.records}
    # Talk that is not consolidated yet may be learnt: it came after what the entry rests on.
    stone = Tombstone("deleted by hand", upto=old.ledger.cursor)
    buried = [entry.id for entry in (*lost, *restating_lines(old, lost)) if entry.id not in after]
    tombstones: dict[str, Tombstone | None] = dict.fromkeys(buried, stone)
    for entry in fresh:
        records[entry.id] = _by_hand(old, entry, predecessors.get(entry.id, ""))
        cleared_tombstones = old.ledger.tombstones.keys() & tombstone_names(entry.id)
        tombstones |= dict.fromkeys(cleared_tombstones)
    return Delta(records=records, tombstones=tombstones)


def _bullets(notes: Notes) -> dict[str, Entry]:
    """The bullets of MEMORY.md by id, of equal texts the first."""
    return {entry.id: entry for entry in reversed(notes.memory.entries) if entry.bullet}


def _moved(
    old: Notes, before: Mapping[str, Entry], after: Mapping[str, Entry]
) -> dict[str, Record | None]:
    """The records of bullets that stand under the heading of another kind now."""
    records: dict[str, Record | None] = {}
    for name, entry in after.items():
        record, kind = old.ledger.records.get(name), kind_of(entry.section)
        if record is None or name not in before or before[name].section == entry.section:
            continue
        if kind not in (None, record.kind):
            records[name] = replace(record, kind=kind)
    return records


def _by_hand(old: Notes, entry: Entry, predecessor: str) -> Record:
    """The record of an entry that a person wrote.

    It keeps what its predecessor rests on, but not who said the old words and when.
    """
    record = old.ledger.records.get(predecessor)
    known = record or Record(Trust.HUMAN)
    return replace(
        known,
        trust=Trust.HUMAN,
        quote_reason="",
        kind=kind_of(entry.section) or known.kind,
        predecessor=predecessor if record else "",
        speaker="",
        when="",
        learnt="",
        probation_until="",
    )


def _predecessors(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> dict[str, str]:
    """Return the ids of entries that took the place of another, with the id of that one.

    A place lies in a section, right before an entry that both texts have. Where exactly one entry
    left a place and exactly one came, that one was reworded, however unlike they are.
    """
    left, came = _by_place(before, after), _by_place(after, before)
    return {
        came[place][0]: left[place][0]
        for place in left.keys() & came.keys()
        if len(left[place]) == len(came[place]) == 1
    }


def _by_place(
    entries: Mapping[str, Entry], others: Mapping[str, Entry]
) -> dict[tuple[str, str], list[str]]:
    """Return the ids of the entries that `others` lacks by place: section, and next entry of both.

    `entries` are the last first.
    """
    places: dict[tuple[str, str], list[str]] = {}
    following = ""
    for name, entry in entries.items():
        if name in others:
            following = name
        else:
            places.setdefault((entry.section, following), []).append(name)
    return places
