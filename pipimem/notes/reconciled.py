"""The ledger carried along when a person changed a text: what was reworded, moved, deleted or added by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipimem.notes.echoes import Echoes
from pipimem.notes.entry import Entry
from pipimem.notes.kinds import kind_of
from pipimem.notes.ledger import Delta, Record, Tombstone, still
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust
from pipimem.text.similarity import REWORDED, alike, bigrams

# Comparing each lost entry with each new one is quadratic; a file that changed more than this was rewritten.
_MOST_PAIRS = 200_000
# The same in pairs of letters, where entries are long: half a second.
_MOST_LOOKS = 20_000_000
# Pairs of a deleted entry and a line of SESSION.md or HISTORY.md: two seconds. Who deletes more has cleared a file;
# lines in the same words go with it by their id.
_MOST_ECHOES = 4_000_000
# Of two texts equally alike, the one in the same section is more likely the same entry.
_SAME_SECTION = 0.1


def reconciled(old: Notes, new: Notes) -> Delta:
    """What a person's edit between two readings means for the ledger; `new.ledger` is not looked at.

    A bullet that kept its text keeps its record wherever it stands. A reworded one inherits the record of the
    bullet it most resembles, and is a person's from now on. One that is gone leaves a tombstone.
    """
    before = old.ledger.records
    was, now = _bullets(old), _bullets(new)
    lost = [entry for name, entry in was.items() if name not in now]
    fresh = [entry for name, entry in now.items() if name not in was]
    heirs = _heirs(lost, fresh)
    records: dict[str, Record | None] = {entry.id: None for entry in lost if entry.id in before}
    # What was said before the deletion and is not consolidated yet may be learnt: it was said
    # after what the entry rests on.
    stone = Tombstone("deleted by hand", upto=old.ledger.cursor)
    reworded = frozenset(heirs.values())
    deleted = [entry for entry in lost if entry.id not in reworded]
    tombstones: dict[str, Tombstone | None] = {entry.id: stone for entry in deleted}
    tombstones |= dict.fromkeys(_echoes(old, deleted), stone)
    for entry in fresh:
        predecessor = heirs.get(entry.id, "")
        records[entry.id] = _inherited(before.get(predecessor), entry, predecessor)
        for name in (entry.id, still(entry.id)):
            if name in old.ledger.tombstones:
                tombstones[name] = None
    for name, entry in now.items():
        if name in was and name in before and entry.section != was[name].section:
            kind = kind_of(entry.section) or before[name].kind
            if kind != before[name].kind:
                records[name] = replace(before[name], kind=kind)
    return Delta(records=records, tombstones=tombstones)


def _echoes(old: Notes, deleted: Sequence[Entry]) -> Iterator[str]:
    lines = len(old.session.entries) + len(old.history.entries)
    if not deleted or len(deleted) * lines > _MOST_ECHOES:
        return
    echoes = Echoes(old)
    for entry in deleted:
        yield from (line.id for line in echoes.of(entry))


def _bullets(notes: Notes) -> dict[str, Entry]:
    """The bullets of MEMORY.md by id, of equal texts the first."""
    found: dict[str, Entry] = {}
    for entry in notes.memory.entries:
        if entry.bullet:
            found.setdefault(entry.id, entry)
    return found


def _inherited(record: Record | None, entry: Entry, predecessor: str) -> Record:
    kind = kind_of(entry.section) or ""
    if record is None:
        return Record(trust=Trust.HUMAN, kind=kind)
    return replace(
        record,
        trust=Trust.HUMAN,
        kind=kind or record.kind,
        predecessor=predecessor,
        probation_until="",
    )


def _heirs(lost: Sequence[Entry], fresh: Sequence[Entry]) -> dict[str, str]:
    """New id → old id, the most alike first, each used once; one lost and one new in the same place also pair."""
    if len(lost) * len(fresh) > _MOST_PAIRS:
        return {}
    grams = {entry.id: bigrams(entry.text) for entry in (*lost, *fresh)}
    if len(fresh) * sum(len(grams[entry.id]) for entry in lost) > _MOST_LOOKS:
        return {}
    pairs: list[tuple[float, str, str]] = []
    for gone in lost:
        for came in fresh:
            bonus = _SAME_SECTION if gone.section == came.section else 0.0
            score = alike(grams[gone.id], grams[came.id]) + bonus
            pairs.append((score, gone.id, came.id))
    heirs: dict[str, str] = {}
    used: set[str] = set()
    for score, gone_id, came_id in sorted(pairs, reverse=True):
        if score < REWORDED:
            break
        if came_id not in heirs and gone_id not in used:
            heirs[came_id] = gone_id
            used.add(gone_id)
    return heirs
