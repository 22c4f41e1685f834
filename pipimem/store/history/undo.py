"""Undo and restore: one change taken back, or the notes as they were at a moment, as a commit."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Set
from datetime import datetime
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import CannotTakeBack, NothingFound
from pipimem.notes.entry import Entry
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone, tombstone_names
from pipimem.notes.notes import Notes, Outcome
from pipimem.notes.operations import Author, Change, Decision
from pipimem.state.changes import FORGET, ChangeRecord
from pipimem.store.channel import ChannelStore
from pipimem.store.commit.manual_edits import View
from pipimem.store.commit.past import ChangeWithTexts, Past, Point, record_time
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.merge.three_way import clashing_lines, merged
from pipimem.text.markdown.line_edits import Splice, spliced, splices_between
from pipimem.text.markdown.parser import BlockKind, parsed


def reverted(before: str, after: str, now: str) -> str | None:
    """Return `now` without the change that led from `before` to `after`; `None` if it cannot be.

    That is the merge of `now` with the way back. If it is needed by later entries, a heading that
    the change made stays. Returns `now` itself if nothing of the change is left.
    """
    if now == after:
        return before
    whole = _merged_back(before, after, now, before)
    if whole is not None:
        return whole
    below_headings = _merged_back(before, after, now, _with_headings_of(after, before))
    return None if below_headings == now else below_headings


def clash(before: str, after: str, later: str) -> tuple[str, ...]:
    """Return the lines of a change, except headings, that `later` has changed again."""
    return clashing_lines(after, _with_headings_of(after, before), later)


def _merged_back(before: str, after: str, now: str, wanted: str) -> str | None:
    """Return `now` with what leads from `after` to `wanted`, `None` if other entries would change.

    Every entry of the result stands in `now` or `before`, under the same heading.
    """
    if clashing_lines(after, wanted, now):
        return None
    text = merged(after, wanted, now)
    return text if _entries(text) <= _entries(now) | _entries(before) else None


def _with_headings_of(after: str, before: str) -> str:
    """`before` with the headings and blank lines that the change to `after` brought."""

    def kept(splice: Splice) -> tuple[str, ...]:
        return splice.added or tuple(filter(_is_frame, splice.removed))

    undo = splices_between(after, before)
    return spliced(after, (Splice(splice.start, splice.removed, kept(splice)) for splice in undo))


def _changed_lines(after: str, before: str) -> tuple[str, ...]:
    undo = splices_between(after, before)
    return tuple(line for splice in undo for line in splice.removed or splice.added)


def _is_frame(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _entries(text: str) -> set[tuple[str, str]]:
    """Section and words of each entry and paragraph."""
    return {
        (section.title, block.text)
        for section in parsed(text).sections
        for block in section.blocks
        if block.kind in (BlockKind.ENTRY, BlockKind.PARAGRAPH)
    }


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
    return Delta(records, tombstones, settled=_settled_before(ledger, then, undone))


def _settled_before(ledger: Ledger, then: Ledger, undone: Delta | None) -> dict[str, str | None]:
    """Return the pairs that a change settled as they were before it.

    What is settled stays so where the notes go back to a time.
    """
    names = undone.settled if undone is not None else ()
    current, past = ledger.settled, then.settled
    return {name: past.get(name) for name in names if current.get(name) != past.get(name)}


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


UNDO, RESTORE = "undo", "restore"
_SHOWN = 60


class Undone(Struct, frozen=True):
    """What was taken back: the record, and the number of the commit that did it."""

    record: ChangeRecord
    sequence: int
    outcome: Outcome


class Restored(Struct, frozen=True):
    """The change the notes went back to, the commit that did it, and the hand edits after it."""

    to: int
    sequence: int
    outcome: Outcome
    edits: tuple[ChangeRecord, ...]


def undo(store: ChannelStore, sequence: int | None, now: datetime, actor: str = "") -> Undone:
    """Takes back one change, the newest that still counts by default, as a commit of its own.

    A left-out item that the change took in is listed again.
    Raises `CannotTakeBack`, with nothing changed, where later changes stand on it.
    """
    store.record_edits(now)
    record = chosen(store.past(), sequence)
    number = record.sequence
    what = Decision(
        UNDO,
        Author.PERSON,
        why=f"takes back {number} ({record.task})",
        correlation=str(number),
        left_out=record.taken_items,
    )

    def carry_out(working_copy: WorkingCopy, view: View) -> Outcome:
        return _undoing(Past.of(working_copy, view), view, number)

    done = store.commit(what, now, actor, carry_out=carry_out)
    return Undone(record, done.sequence, done.outcome)


def restore(store: ChannelStore, point: Point, now: datetime, actor: str = "") -> Restored:
    """Puts the notes back to a moment, as one commit."""
    store.record_edits(now)
    past = store.past()
    to = past.sequence_at(point)
    what = Decision(RESTORE, Author.PERSON, why=f"the notes as they stood after change {to}")

    def carry_out(working_copy: WorkingCopy, view: View) -> Outcome:
        return _restoring(working_copy, view, to)

    done = store.commit(what, now, actor, carry_out=carry_out)
    return Restored(to, done.sequence, done.outcome, edits_after(past.records, to))


def chosen(past: Past, sequence: int | None) -> ChangeRecord:
    """The change to take back: that of a number, else the newest that changed a text.

    Without a number, undos and what was taken back already are passed over. Raises `CannotTakeBack`
    and `NothingFound`.
    """
    undone = taken_back(past.records)
    if sequence is None:
        return _newest(past, undone)
    named = past.record(sequence)
    if named.task == FORGET:
        raise CannotTakeBack(f"Change {sequence} is a forgetting: it is for good.")
    if not _touches(named):
        raise CannotTakeBack(
            f"Change {sequence} ({named.task}) changed no text: there is nothing to take back."
        )
    if sequence in undone:
        by = undone[sequence]
        raise CannotTakeBack(
            f"Change {sequence} was taken back by {by}. `pipimem undo CHANNEL {by}` brings it back."
        )
    return named


def _newest(past: Past, undone: Container[int]) -> ChangeRecord:
    for record in reversed(past.records):
        if _touches(record) and record.task != UNDO and record.sequence not in undone:
            return record
    raise NothingFound(
        f"There is nothing to take back. {past.reach} An undo is taken back by its number, see "
        "`pipimem log`."
    )


def to_be_asked(past: Past) -> ChangeRecord | None:
    """What an undo without a number takes back, where that may surprise.

    The newest change may be an undo already, or an edit by hand that no log has shown yet. Else
    `None`: it is the newest change, as anybody expects.
    """
    newest = next((record for record in reversed(past.records) if _touches(record)), None)
    if newest is None or (newest.task != UNDO and newest.author is not Author.EDITOR):
        return None
    return _newest(past, taken_back(past.records))


def changes_of(past: Past, author: Author, since: datetime) -> list[ChangeRecord]:
    """The changes of texts by one author since a time that were not taken back, newest first."""
    undone = taken_back(past.records)
    return [
        record
        for record in reversed(past.records)
        if record.author is author
        and record.task not in (UNDO, RESTORE, FORGET)
        and record.sequence not in undone
        and _touches(record)
        and record_time(record) >= since
    ]


def _touches(record: ChangeRecord) -> bool:
    is_text_changed = any(change.before != change.after for change in record.files.values())
    return is_text_changed or bool(record.delta.settled)


def taken_back(records: Iterable[ChangeRecord]) -> dict[int, int]:
    """The numbers of the changes that are taken back, each with the number of its undo."""
    undone: dict[int, int] = {}
    for record in sorted(records, key=lambda record: -record.sequence):
        if record.task == UNDO and record.sequence not in undone and record.correlation.isdecimal():
            undone[int(record.correlation)] = record.sequence
    return undone


def undone_texts(past: Past, sequence: int) -> dict[File, str]:
    """The files of a change as they would be without it.

    Raises `CannotTakeBack`, and names what is in the way, and `NothingFound`.
    """
    record = chosen(past, sequence)
    texts = {file: _without(past, record, file) for file in record.files if file in NOTE_FILES}
    if texts and all(text == past.current[file] for file, text in texts.items()):
        raise CannotTakeBack(f"Change {sequence} cannot be taken back: nothing of it is left.")
    return texts


def _undoing(past: Past, view: View, sequence: int) -> Outcome:
    """The notes without one change. Raises as `undone_texts`."""
    texts, record = undone_texts(past, sequence), past.record(sequence)
    then = past.ledger_after(sequence - 1)
    return _outcome(view, texts, then, record.delta, f"taken back ({sequence})")


def _restoring(working_copy: WorkingCopy, view: View, sequence: int) -> Outcome:
    """The notes as they stood after a record."""
    past = Past.of(working_copy, view)
    texts = {file: past.known_text(file, sequence) for file in NOTE_FILES}
    return _outcome(view, texts, past.ledger_after(sequence), None, f"restored to {sequence}")


def edits_after(records: Iterable[ChangeRecord], sequence: int) -> tuple[ChangeRecord, ...]:
    """What people wrote into the files after a record."""
    later = (record for record in records if record.sequence > sequence and record.files)
    return tuple(record for record in later if record.author is Author.EDITOR)


def _outcome(
    view: View, texts: Mapping[File, str], then: Ledger, undone: Delta | None, reason: str
) -> Outcome:
    new = view.current.with_texts(texts)
    changed = {file: text for file, text in texts.items() if text != view.current.note(file).text}
    changes = [*changes_between(view.current, new)]
    delta = reverted_ledger(view.current, new, then, undone, reason)
    if delta.settled:
        why = "two entries may contradict each other again, or are settled again"
        changes.append(Change("taken back", File.MEMORY, reason=why))
    return Outcome(changed, "", delta, tuple(changes))


def _without(past: Past, record: ChangeRecord, file: File) -> str:
    """The text of a file without a change. Raises `CannotTakeBack`."""
    stretch = next(each for each in past.changes_of(file) if each.sequence == record.sequence)
    if stretch.before is None or stretch.after is None:
        raise CannotTakeBack(
            f"Change {record.sequence} cannot be taken back: what it did to {file} is not kept "
            "word for word any more, because a part of .pipimem/ is gone."
        )
    found = reverted(stretch.before, stretch.after, past.current[file])
    if found is None:
        raise CannotTakeBack(_refusal(past, record, file, stretch))
    return found


def _first_clash(past: Past, file: File, change: ChangeWithTexts) -> ChangeRecord | None:
    """The first record after a change that changed its lines again; `None` for none."""
    before, after = change.before or "", change.after or ""
    later = takewhile(lambda each: each.sequence > change.sequence, past.changes_of(file))
    for stretch in reversed(list(later)):
        if stretch.after is not None and clash(before, after, stretch.after):
            return past.record(stretch.sequence)
    return None


def _quoted(lines: Iterable[str]) -> str:
    """The first of some lines that says something, and whether that is all of them."""
    said = [line for line in (" ".join(line.split()) for line in lines) if line]
    first = said[0] if said else ""
    is_all = len(said) < 2 and len(first) <= _SHOWN
    return f"“{first}”" if is_all else f"“{first[:_SHOWN].rstrip()}…”"


def _refusal(past: Past, record: ChangeRecord, file: File, change: ChangeWithTexts) -> str:
    """Return why a change is not taken back, and what to do, as a sentence."""
    before, after = change.before or "", change.after or ""
    lines = clash(before, after, past.current[file])
    refused = f"Change {record.sequence} cannot be taken back: "
    other = _first_clash(past, file, change) if lines else None
    if other is None:
        words = _quoted(lines or _changed_lines(after, before))
        return f"{refused}later changes of {file} rest on {words}. Edit the file."
    who = other.actor or str(other.author)
    return (
        f"{refused}{_quoted(lines)} in {file} was changed again by {other.sequence} "
        f"({other.task}, {who}, {other.time[:16]}). Take back {other.sequence} first, or edit the "
        "file."
    )
