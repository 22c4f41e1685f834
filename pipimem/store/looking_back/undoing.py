"""One change taken back, or the notes put back to an earlier moment: what a commit then carries out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipimem.errors import CannotTakeBack, NothingFound
from pipimem.notes.brought_back import brought_back, changes_between
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta, Ledger
from pipimem.notes.notes import Note, Notes, Outcome
from pipimem.notes.operations import Author
from pipimem.store.commits.desk import KEPT, Desk, View
from pipimem.store.journal.records import JournalRecord
from pipimem.store.looking_back.past import Past
from pipimem.text.taking_back import InTheWay, without_change

UNDO, RESTORE, FORGET = "undo", "restore", "forget"
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back: the record, and the number of the commit that did it."""

    record: JournalRecord
    sequence: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Restored:
    """Where the notes went back to, the number of the commit that did it, and the hand edits that came after."""

    to: int
    sequence: int
    outcome: Outcome
    edits: tuple[JournalRecord, ...]


def past_of(desk: Desk, view: View) -> Past:
    """The past of a channel as of this view of it."""
    return Past(
        tuple(desk.state.journal.records()),
        {file: view.left.note(file).text for file in KEPT},
        {file: view.now.note(file).text for file in KEPT},
        desk.state.versions,
    )


def chosen(records: Iterable[JournalRecord], sequence: int | None) -> JournalRecord:
    """The change to take back: that of a number, else the newest that changed a text and still counts.

    An undo does not count here, it is taken back by its number. Raises `CannotTakeBack` and `NothingFound`.
    """
    found = tuple(records)
    gone = taken_back(found)
    if sequence is None:
        for record in reversed(found):
            if _touches(record) and record.task not in (UNDO, FORGET) and record.sequence not in gone:
                return record
        raise NothingFound("There is nothing to take back. An undo is taken back by its number, see `pipimem log`.")
    named = next((record for record in found if record.sequence == sequence), None)
    if named is None:
        raise NothingFound(f"There is no change {sequence} to take back. See `pipimem log` for those that are kept.")
    if named.task == FORGET:
        raise CannotTakeBack(f"Change {sequence} is a forgetting: it is for good.")
    if named.files and not _touches(named):
        raise CannotTakeBack(f"Change {sequence} cannot be taken back: its words were forgotten since.")
    if not named.files:
        raise CannotTakeBack(f"Change {sequence} ({named.task}) changed no text: there is nothing to take back.")
    if sequence in gone:
        by = gone[sequence]
        raise CannotTakeBack(f"Change {sequence} was taken back by {by}. `pipimem undo CHANNEL {by}` brings it back.")
    return named


def _touches(record: JournalRecord) -> bool:
    return any(change.splices for change in record.files.values())


def taken_back(records: Iterable[JournalRecord]) -> dict[int, int]:
    """The numbers of the changes that were taken back and are so still, with the number of the undo."""
    gone: dict[int, int] = {}
    for record in sorted(records, key=lambda record: -record.sequence):
        if record.task == UNDO and record.sequence not in gone and record.correlation.isdecimal():
            gone[int(record.correlation)] = record.sequence
    return gone


def undoing(desk: Desk, view: View, sequence: int) -> Outcome:
    """The notes without one change. Raises `CannotTakeBack`, and names what is in the way."""
    past = past_of(desk, view)
    record = chosen(past.records, sequence)
    texts = {file: _without(past, record, file) for file in record.files if file in KEPT}
    then = past.ledger_after(sequence - 1)
    return _outcome(desk, view, texts, then, record.delta, f"taken back ({sequence})")


def restoring(desk: Desk, view: View, sequence: int) -> Outcome:
    """The notes as they stood after a record; what stands now is kept as versions."""
    past = past_of(desk, view)
    texts: dict[File, str] = {}
    for file in KEPT:
        text = past.text_after(file, sequence)
        if text is None:
            raise CannotTakeBack(
                f"What {file} was after change {sequence} cannot be told any more: something was forgotten since, "
                "or a part of .pipimem/ is gone. Choose a later point."
            )
        texts[file] = text
        desk.state.versions.keep(file, past.now[file])
    return _outcome(desk, view, texts, past.ledger_after(sequence), None, f"restored to {sequence}")


def edits_after(records: Iterable[JournalRecord], sequence: int) -> tuple[JournalRecord, ...]:
    """What people wrote into the files after a record."""
    return tuple(r for r in records if r.sequence > sequence and r.author is Author.EDITOR and r.files)


def _outcome(
    desk: Desk, view: View, texts: Mapping[File, str], then: Ledger, undone: Delta | None, reason: str
) -> Outcome:
    new: Notes = view.now
    for file, text in texts.items():
        new = new.having(Note.read(file, text, desk.key, like=view.now.note(file)))
    changed = {file: text for file, text in texts.items() if text != view.now.note(file).text}
    changes = tuple(changes_between(view.now, new))
    return Outcome(changed, "", brought_back(view.now, new, then, undone, reason), changes)


def _without(past: Past, record: JournalRecord, file: File) -> str:
    before, steps = past.since(file, record.sequence)
    unknown = next((number for number, splices in steps if splices is None), None)
    if unknown is not None:
        raise CannotTakeBack(
            f"Change {record.sequence} cannot be taken back: what change {unknown} did to {file} is not kept word for "
            "word any more, because something was forgotten since or a part of .pipimem/ is gone."
        )
    later = [splices for _, splices in steps if splices is not None]
    try:
        found = without_change(past.now[file], record.files[file].splices, later, before)
    except ValueError:
        raise CannotTakeBack(
            f"Change {record.sequence} cannot be taken back: its words were forgotten since."
        ) from None
    if isinstance(found, InTheWay):
        raise CannotTakeBack(_told(past, record, file, found, steps[found.step][0] if found.step is not None else None))
    return found


def _told(past: Past, record: JournalRecord, file: File, found: InTheWay, number: int | None) -> str:
    lines = " ".join("".join(found.lines).split())
    words = f"“{lines[:_SHOWN]}{'…' if len(lines) > _SHOWN else ''}”" if lines else "its place"
    refused = f"Change {record.sequence} cannot be taken back: "
    match number:
        case None:
            return f"{refused}later entries of {file} stand below {words} and would come under another heading."
        case 0:
            return f"{refused}{words} in {file} was edited by hand since. Edit the file."
    other = past.record(number)
    who = other.actor or str(other.author)
    return (
        f"{refused}{words} in {file} was changed again by {number} ({other.task}, {who}, {other.time[:16]}). "
        f"Take back {number} first, or edit the file."
    )
