"""One change of the notes taken back by a three-way merge, while what came later stays.

With the texts goes the change of the ledger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

from pipimem.notes.entry import Entry
from pipimem.notes.files import NOTE_FILES, File
from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone, tombstone_names
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Change
from pipimem.store.merge.three_way import clashing_lines, merged
from pipimem.text.markdown.line_edits import Splice, spliced, splices_between
from pipimem.text.markdown.lines import split_lines
from pipimem.text.markdown.parser import BlockKind, parsed

_Entry = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Clash:
    """Why a change cannot be taken back: `lines` of it were changed again.

    Where `moves_entries`, none was, but without these lines other entries would change their words
    or their section.
    """

    lines: tuple[str, ...]
    moves_entries: bool = False


def reverted(before: str, after: str, now: str) -> str | Clash:
    """`now` without the change that led from `before` to `after`; both must be the whole texts.

    Headings that the change made stay where later entries need them. Returns `now` itself where
    nothing of the change is left.
    """
    if now == after:
        return before
    whole = _merged(before, after, now, before)
    if whole is not None:
        return whole
    without_entries = _merged(before, after, now, _with_headings_of(after, before))
    if without_entries not in (None, now):
        return without_entries
    return clash(before, after, now) or Clash(_changed_lines(after, before), moves_entries=True)


def clash(before: str, after: str, later: str) -> Clash | None:
    """The lines of a change, except headings, that `later` has changed again; `None` for none."""
    lines = clashing_lines(after, _with_headings_of(after, before), later)
    return Clash(lines) if lines else None


def _merged(before: str, after: str, now: str, wanted: str) -> str | None:
    """`now` with what leads from `after` to `wanted`; `None` where other entries would change."""
    if clashing_lines(after, wanted, now):
        return None
    text = merged(after, wanted, now)
    return text if _spares_others(before, after, now, text) else None


def _with_headings_of(after: str, before: str) -> str:
    """`before` with the headings and blank lines that the change to `after` brought."""

    def kept(splice: Splice) -> tuple[str, ...]:
        return splice.added or tuple(filter(_is_frame, splice.removed))

    undo = splices_between(after, before)
    return spliced(after, (Splice(splice.start, splice.removed, kept(splice)) for splice in undo))


def _is_frame(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _changed_lines(after: str, before: str) -> tuple[str, ...]:
    undo = splices_between(after, before)
    return tuple(line for splice in undo for line in splice.removed or splice.added)


def _spares_others(before: str, after: str, now: str, text: str) -> bool:
    """Whether entries that have none of the change's lines keep their words and their section.

    One may go back to where it stood before the change.
    """
    undo = splices_between(after, before)
    touched = {line.strip() for splice in undo for line in (*splice.removed, *splice.added)}
    old, new = _entries(now), _entries(text)
    removed, added = old - new - _entries(after), new - old - _entries(before)
    return all(touched.intersection(_lines(entry)) for entry in (*removed, *added))


def _entries(text: str) -> Counter[_Entry]:
    """Section and whole lines of each entry and paragraph."""
    document = parsed(text)
    return Counter(
        (section.title, "".join(document.lines[block.start : block.end]))
        for section in document.sections
        for block in section.blocks
        if block.kind in (BlockKind.ENTRY, BlockKind.PARAGRAPH)
    )


def _lines(entry: _Entry) -> Iterator[str]:
    return (line.strip() for line in split_lines(entry[1]))


def reverted_ledger(
    old: Notes, new: Notes, then: Ledger, undone: Delta | None, reason: str
) -> Delta:
    """The change of the ledger that goes with the texts of `new`.

    `old` has today's ledger, `then` is the ledger that goes with the past. `undone` is the one
    change that is taken back, `None` where all goes back to that time. `reason` is that of the
    tombstones of what leaves MEMORY.md.
    """
    ledger = old.ledger
    before, after = _names(old), _names(new)
    gone = before - after
    records: dict[str, Record | None] = dict.fromkeys(gone & ledger.records.keys())
    unknown = after - (before & ledger.records.keys())
    records |= {name: then.records[name] for name in unknown & then.records.keys()}
    if undone is not None:
        records |= _records_before(ledger, then, undone, after)
    tombstones = _tombstones_before(ledger, then, undone, after)
    left, came = _bullets(old) - _bullets(new), _bullets(new) - _bullets(old)
    tombstones |= dict.fromkeys(left, Tombstone(reason, ledger.cursor))
    for name in came:
        tombstones |= dict.fromkeys(ledger.tombstones.keys() & tombstone_names(name))
    return Delta(records, tombstones)


def _records_before(
    ledger: Ledger, then: Ledger, undone: Delta, after: Set[str]
) -> dict[str, Record | None]:
    """The records that a change made, as they were before it; those altered again since stay."""
    found: dict[str, Record | None] = {}
    for name, left in undone.records.items():
        current, before = ledger.records.get(name), then.records.get(name)
        if current is None or left is None or _with_recalls_of(left, current) != left:
            continue
        found[name] = _with_recalls_of(current, before) if before and name in after else None
    return found


def _with_recalls_of(counted: Record, record: Record) -> Record:
    """The record with the recalls of another; a recall that it lacks has ended its probation."""
    is_over = counted.recalls > record.recalls
    probation = counted.probation_until if is_over else record.probation_until
    return replace(
        record, recalls=counted.recalls, recalled=counted.recalled, probation_until=probation
    )


def changes_between(old: Notes, new: Notes) -> Iterator[Change]:
    """What left and what came back, entry by entry, for people."""
    for file in (File.MEMORY, File.SESSION, File.HISTORY):
        before, after = _by_place(old, file), _by_place(new, file)
        texts = {entry.id for entry in after.values()}
        for place, entry in before.items():
            if place not in after and entry.id not in texts:
                yield Change("taken out", file, entry.section, entry.text, id=entry.id)
        for place, entry in after.items():
            if place not in before:
                yield Change("brought back", file, entry.section, after=entry.text, id=entry.id)
        if old.note(file).text != new.note(file).text and before.keys() == after.keys():
            yield Change("taken back", file, reason="no entry is concerned")


def _by_place(notes: Notes, file: File) -> dict[tuple[str, str, int], Entry]:
    return {(entry.section, entry.id, entry.ordinal): entry for entry in notes.note(file).entries}


def _names(notes: Notes) -> set[str]:
    """The names of all records that the lines of the notes may have."""
    return {
        entry.record_name
        for file in NOTE_FILES
        for entry in notes.note(file).entries
        if entry.bullet or file is not File.MEMORY
    }


def _bullets(notes: Notes) -> set[str]:
    return {entry.id for entry in notes.memory.entries if entry.bullet}


def _tombstones_before(
    ledger: Ledger, then: Ledger, undone: Delta | None, after: Set[str]
) -> dict[str, Tombstone | None]:
    """The tombstones of the past, where they differ from today's.

    Those of the change that is taken back, if nothing has replaced them since; without one, those
    of the texts that stand then.
    """
    current, past = ledger.tombstones, then.tombstones
    if undone is not None:
        names = [name for name, stone in undone.tombstones.items() if current.get(name) == stone]
    else:
        ids = {_id(name) for name in after}
        names = [name for name in (*current, *past) if _id(name) in ids]
    return {name: past.get(name) for name in names if current.get(name) != past.get(name)}


def _id(name: str) -> str:
    return name.rpartition(":")[2]
