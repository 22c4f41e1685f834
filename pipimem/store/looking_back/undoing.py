"""One change taken back, or the notes put back to an earlier moment: what a commit then carries out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from pipimem.errors import CannotTakeBack, NothingFound
from pipimem.notes.brought_back import brought_back, changes_between
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta, Ledger
from pipimem.notes.notes import Outcome
from pipimem.notes.operations import Author
from pipimem.store.commits.desk import KEPT, Desk, View
from pipimem.store.journal.records import FORGET, JournalRecord
from pipimem.store.looking_back.past import Past, Stretch
from pipimem.store.looking_back.reverting import Clash, clash, reverted
from pipimem.text.dates.bounds import local

UNDO, RESTORE = "undo", "restore"
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
    )


def chosen(past: Past, sequence: int | None) -> JournalRecord:
    """The change to take back: that of a number, else the newest that changed a text and still counts.

    An undo does not count here, it is taken back by its number. Raises `CannotTakeBack` and `NothingFound`.
    """
    gone = taken_back(past.records)
    if sequence is None:
        for record in reversed(past.records):
            if _touches(record) and record.task != UNDO and record.sequence not in gone:
                return record
        raise NothingFound(
            f"There is nothing to take back. {past.reach} An undo is taken back by its number, see `pipimem log`."
        )
    named = past.record(sequence)
    if named.task == FORGET:
        raise CannotTakeBack(f"Change {sequence} is a forgetting: it is for good.")
    if not _touches(named):
        raise CannotTakeBack(
            f"Change {sequence} ({named.task}) changed no text: there is nothing to take back."
        )
    if sequence in gone:
        by = gone[sequence]
        raise CannotTakeBack(
            f"Change {sequence} was taken back by {by}. `pipimem undo CHANNEL {by}` brings it back."
        )
    return named


def changes_of(
    records: Iterable[JournalRecord], author: Author, since: datetime
) -> list[JournalRecord]:
    """The changes of texts by one author from a time on that were not taken back since, newest first."""
    known = list(records)
    gone = taken_back(known)
    found = [
        record
        for record in known
        if record.author is author
        and record.task not in (UNDO, RESTORE, FORGET)
        and record.sequence not in gone
        and _touches(record)
        and local(datetime.fromisoformat(record.time)) >= since
    ]
    return sorted(found, key=lambda record: -record.sequence)


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
    record = chosen(past, sequence)
    texts = {file: _without(past, record, file) for file in record.files if file in KEPT}
    if all(text == past.now[file] for file, text in texts.items()):
        raise CannotTakeBack(f"Change {sequence} cannot be taken back: nothing of it is left.")
    then = past.ledger_after(sequence - 1)
    return _outcome(view, texts, then, record.delta, f"taken back ({sequence})")


def restoring(desk: Desk, view: View, sequence: int) -> Outcome:
    """The notes as they stood after a record; what stands now is kept as versions."""
    past = past_of(desk, view)
    texts: dict[File, str] = {}
    for file in KEPT:
        text = past.text_after(file, sequence)
        if text is None:
            raise CannotTakeBack(
                f"What {file} was after change {sequence} cannot be told any more, because a part of .pipimem/ is "
                "gone. Choose a later point."
            )
        texts[file] = text
        desk.state.versions.keep(file, past.now[file])
    return _outcome(view, texts, past.ledger_after(sequence), None, f"restored to {sequence}")


def edits_after(records: Iterable[JournalRecord], sequence: int) -> tuple[JournalRecord, ...]:
    """What people wrote into the files after a record."""
    return tuple(
        r for r in records if r.sequence > sequence and r.author is Author.EDITOR and r.files
    )


def _outcome(
    view: View, texts: Mapping[File, str], then: Ledger, undone: Delta | None, reason: str
) -> Outcome:
    new = view.now.with_texts(texts)
    changed = {file: text for file, text in texts.items() if text != view.now.note(file).text}
    changes = tuple(changes_between(view.now, new))
    return Outcome(changed, "", brought_back(view.now, new, then, undone, reason), changes)


def _without(past: Past, record: JournalRecord, file: File) -> str:
    """The text of a file without a change. Raises `CannotTakeBack`."""
    stretch = next(each for each in past.stretches(file) if each.sequence == record.sequence)
    if stretch.before is None or stretch.after is None:
        raise CannotTakeBack(
            f"Change {record.sequence} cannot be taken back: what it did to {file} is not kept word for word any more, "
            "because a part of .pipimem/ is gone."
        )
    found = reverted(stretch.before, stretch.after, past.now[file])
    if isinstance(found, Clash):
        in_the_way = None if found.moves_entries else _first_clash(past, file, stretch)
        raise CannotTakeBack(_told(record, file, found, in_the_way))
    return found


def _first_clash(past: Past, file: File, change: Stretch) -> JournalRecord | None:
    """The record after a change that first changed its lines again; `None` where none did that is journalled."""
    later = takewhile(lambda each: each.sequence > change.sequence, past.stretches(file))
    for stretch in reversed(list(later)):
        if stretch.after is not None and clash(
            change.before or "", change.after or "", stretch.after
        ):
            return past.record(stretch.sequence)
    return None


def _told(record: JournalRecord, file: File, found: Clash, other: JournalRecord | None) -> str:
    lines = " ".join("".join(found.lines).split())
    words = f"“{lines[:_SHOWN]}{'…' if len(lines) > _SHOWN else ''}”"
    refused = f"Change {record.sequence} cannot be taken back: "
    if found.moves_entries:
        return f"{refused}later entries of {file} stand below {words} and would come under another heading."
    if other is None:
        return f"{refused}{words} in {file} was edited by hand since. Edit the file."
    who = other.actor or str(other.author)
    return (
        f"{refused}{words} in {file} was changed again by {other.sequence} ({other.task}, {who}, {other.time[:16]}). "
        f"Take back {other.sequence} first, or edit the file."
    )
