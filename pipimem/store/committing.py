"""One decision on the freshest texts, as one atomic commit of all the files it touches.

Prepared texts, then the journal (from here on it is acknowledged), then each file by rename. A crash before
the journal leaves everything as it was; after it, the prepared texts tell the next lock holder what is still
to be done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.notes.applied import applied
from pipimem.notes.files import File
from pipimem.notes.ledger import PROGRESSED, Asked, Delta, Ledger, Record
from pipimem.notes.notes import Change, Note, Notes, Outcome, Refusal, etag
from pipimem.notes.operations import Author, Decision, Progress
from pipimem.notes.reconciled import reconciled
from pipimem.store.archive import append_archived, archive_size
from pipimem.store.desk import KEPT, Desk, View, pending_text, prepared_path
from pipimem.store.files import TEMPORARY, Stamp, put, remove, resolved, storable, write_temporary
from pipimem.store.merging import merged
from pipimem.store.records import FileChange, JournalRecord, RefusedLine
from pipimem.text.splices import splices_between

# A person cannot save more often between a reading and the look right before the rename, a script might.
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Committed:
    """What came of a decision.

    `sequence` is its journal record, or the newest one where nothing was to be done.
    """

    sequence: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text that waits, synced, beside the file it shall replace."""

    file: File
    path: Path
    before: str
    after: str
    stamp: Stamp


@dataclass(slots=True)
class Recalls:
    """Which entries were recalled since the last commit, how often and when last, and what was asked."""

    counts: dict[str, int] = field(default_factory=dict)
    when: str = ""
    asked: list[Asked] = field(default_factory=list)
    # No commit will follow: they are a change of their own now.
    are_due: bool = False

    def note(self, ids: Iterable[str], when: datetime) -> None:
        """Counts one recall of each."""
        for name in ids:
            self.counts[name] = self.counts.get(name, 0) + 1
            self.when = when.isoformat(timespec="seconds")

    def clear(self) -> None:
        """Starts again, once they are written."""
        self.counts.clear()
        self.asked.clear()
        self.are_due = False

    def folded(self, ledger: Ledger, delta: Delta) -> Delta:
        """`delta` with the recalls of entries that have a record; a recall ends probation (DESIGN §8)."""
        records: dict[str, Record | None] = dict(delta.records)
        for name, count in self.counts.items():
            record = records.get(name, ledger.records.get(name))
            if record is not None:
                records[name] = replace(record, recalls=record.recalls + count, recalled=self.when, probation_until="")
        return replace(delta, records=records, asked=tuple(self.asked))


def commit(
    desk: Desk, decision: Decision, now: datetime, actor: str, wall: datetime, recalls: Recalls
) -> Committed | None:
    """Carries a decision out; `None` when a person saved in the middle: again, please. The caller holds the
    lock.

    `now` is the conversation's time, `wall` the real one, for the journal.
    """
    view = desk.fresh()
    outcome = _storable(applied(view.now, decision, now))
    if not recalls.are_due and not _changes(view.now.ledger, outcome):
        return Committed(desk.state.ledger.sequence, outcome)
    sequence = desk.state.ledger.sequence + (2 if view.edited else 1)
    delta = recalls.folded(view.now.ledger, outcome.delta)
    if desk.state.ledger.sequence == 0:
        delta = replace(delta, progress=_grounded(delta.progress, view.now.ledger))
    record = JournalRecord(
        sequence, _stamped(wall), decision.task, decision.author, actor, decision.why, decision.correlation,
        outcome.changes, tuple(map(_refused, outcome.refused)), decision.notes,
        {file: _change(view.now.note(file).text, text) for file, text in outcome.texts.items()},
        outcome.archived, archive_size(desk) if outcome.archived else 0, delta, decision.tokens,
    )  # fmt: skip
    records = [_edit_record(view, sequence - 1, wall), record] if view.edited else [record]
    if not _acknowledged(desk, view, records, outcome.texts):
        return None
    recalls.clear()
    _finish(desk, view, outcome, wall)
    return Committed(sequence, outcome)


def heal(desk: Desk, now: datetime) -> None:
    """Finishes what a crash cut off, and sweeps what was never acknowledged. The caller holds the lock."""
    for file in KEPT:
        target = resolved(desk.path(file), desk.root)
        left = list(target.parent.glob(f".{target.name}.*{TEMPORARY}"))
        if not left:
            continue
        pending = pending_text(desk, file)
        wanted = prepared_path(desk, file, etag(pending[1])) if pending else None
        for path in left:
            if path != wanted:
                remove(path)
        if pending and wanted:
            # The archive goes before the file that what is archived left: with that one in place, it is whole.
            record = desk.state.archived
            if record is not None and file in record.files and record.files[file].after == etag(pending[1]):
                append_archived(desk, record)
            _put_in_place(desk, Prepared(file, wanted, *pending, stamp=_stamp_of(wanted)), now)


def journal_edits(desk: Desk, now: datetime) -> None:
    """Takes what people changed into the journal, without any decision. The caller holds the lock."""
    view = desk.fresh()
    if view.edited:
        _acknowledged(desk, view, [_edit_record(view, desk.state.ledger.sequence + 1, now)], {})


def _acknowledged(desk: Desk, view: View, records: list[JournalRecord], texts: Mapping[File, str]) -> bool:
    """Prepares the texts and writes the journal.

    `False`, and nothing done, when a file changed in between.
    """
    state = desk.state
    prepared: list[Path] = []
    try:
        for file in {file for record in records for file in record.files}:
            state.anchor(file, view.left.note(file).text)
        for file, text in texts.items():
            path = prepared_path(desk, file, etag(text))
            prepared.append(path)
            write_temporary(path, resolved(desk.path(file), desk.root), text.encode())
        if any(desk.on_disk(file) != view.now.note(file).text for file in KEPT):
            _dropped(prepared)
            return False
        place = state.journal.append(records, state.place)
    except BaseException:
        # Where even the cut failed, the record may stand: then the prepared texts must too.
        if state.journal.place().offset <= max(state.place.offset, 0):
            _dropped(prepared)
        raise
    known = {file: view.now.note(file).text for file in view.edited} | dict(texts)
    state.folded(records, place, known)
    return True


def _dropped(prepared: Iterable[Path]) -> None:
    for path in prepared:
        try:
            remove(path)
        except StoreError:  # the next holder of the lock sweeps; what went wrong first is being told
            pass


def _finish(desk: Desk, view: View, outcome: Outcome, now: datetime) -> None:
    """Puts archive and files in place.

    What fails here is done by the next holder of the lock: it is acknowledged.
    """
    notes = replace(view.now, ledger=desk.state.ledger)
    for file, text in outcome.texts.items():
        notes = notes.having(desk.note(file, text))
    try:
        if outcome.archived and desk.state.archived is not None:
            append_archived(desk, desk.state.archived)
        stamps = {}
        for file, text in outcome.texts.items():
            path = prepared_path(desk, file, etag(text))
            prepared = Prepared(file, path, view.now.note(file).text, text, _stamp_of(path))
            if _put_in_place(desk, prepared, now):
                stamps[file] = prepared.stamp
    except StoreError:
        desk.clear()
        return
    if len(stamps) == len(outcome.texts):
        desk.put_down(notes, stamps)
    else:
        desk.clear()


def _put_in_place(desk: Desk, prepared: Prepared, now: datetime) -> bool:
    """Lets a prepared text replace its file; one that a person saved meanwhile is brought together with it
    first.

    Whether the text went in as it was.
    """
    for attempt in range(_TRIES):
        disk = desk.on_disk(prepared.file)
        if disk == prepared.before:
            put(prepared.path, resolved(desk.path(prepared.file), desk.root))
            return attempt == 0
        if disk == prepared.after:
            remove(prepared.path)
            return False
        following = _merge_recorded(desk, prepared, disk, now)
        remove(prepared.path)
        if following is None:
            return False
        prepared = following
    return False


def _merge_recorded(desk: Desk, prepared: Prepared, disk: str, now: datetime) -> Prepared | None:
    """Journals a person's text, merged with ours, as their edit of ours.

    `None` when nothing of ours is missing.
    """
    file, state = prepared.file, desk.state
    text = merged(prepared.before, prepared.after, disk)
    path = prepared_path(desk, file, etag(text))
    target = resolved(desk.path(file), desk.root)
    mark = write_temporary(path, target, text.encode()) if text != disk else (0, 0, 0)
    texts = {each: desk.on_disk(each) for each in KEPT}
    ours = _notes_of(desk, {**texts, file: prepared.after})
    theirs = _notes_of(desk, {**texts, file: text})
    # What the file holds now is what the rename will look for, also after a crash.
    state.versions.keep(file, disk)
    change = replace(_change(prepared.after, text), found=etag(disk))
    record = JournalRecord(
        state.ledger.sequence + 1, _stamped(now), "edit", Author.EDITOR,
        changes=(_edited(file, change),), files={file: change},
        delta=replace(reconciled(ours, theirs), etags={file: change.after}),
    )  # fmt: skip
    state.folded([record], state.journal.append([record], state.place), {file: text})
    return Prepared(file, path, disk, text, mark) if text != disk else None


def _notes_of(desk: Desk, texts: Mapping[File, str]) -> Notes:
    notes = desk.fresh().now
    for file, text in texts.items():
        notes = notes.having(Note.read(file, text, desk.key))
    return replace(notes, ledger=desk.state.ledger)


def _edit_record(view: View, sequence: int, now: datetime) -> JournalRecord:
    changes = {file: _change(view.left.note(file).text, view.now.note(file).text) for file in view.edited}
    return JournalRecord(
        sequence, _stamped(now), "edit", Author.EDITOR,
        changes=tuple(_edited(file, change) for file, change in changes.items()), files=changes,
        delta=replace(view.delta, etags={file: change.after for file, change in changes.items()}),
    )  # fmt: skip


def _edited(file: File, change: FileChange) -> Change:
    gone = sum(len(splice.removed) for splice in change.splices)
    came = sum(len(splice.added) for splice in change.splices)
    return Change("edited", file, "", reason=f"{gone} lines out, {came} lines in")


def _change(before: str, after: str) -> FileChange:
    return FileChange(etag(before), etag(after), splices_between(before, after))


def _storable(outcome: Outcome) -> Outcome:
    texts = {file: storable(text) for file, text in outcome.texts.items()}
    archived = storable(outcome.archived)
    if archived and not archived.endswith(("\n", "\r")):
        archived += "\n"
    delta = replace(outcome.delta, etags={file: etag(text) for file, text in texts.items()})
    return replace(outcome, texts=texts, archived=archived, delta=delta)


def _changes(ledger: Ledger, outcome: Outcome) -> bool:
    """Whether there is anything to write: a text, or something the ledger does not know yet."""
    delta = outcome.delta
    return bool(
        outcome.texts
        or outcome.archived
        or any(ledger.records.get(name) != record for name, record in delta.records.items())
        or any(ledger.tombstones.get(name) != stone for name, stone in delta.tombstones.items())
        or any(ledger.jobs.get(name) != job for name, job in delta.jobs.items())
        or ledger.after(Delta(progress=delta.progress), ledger.sequence) != ledger
    )


def _grounded(progress: Progress, ledger: Ledger) -> Progress:
    """The progress with every counter spelt out.

    The first record must not rest on what HISTORY.md let conclude.
    """
    standing = {name: getattr(ledger, name) for name in PROGRESSED}
    set_here = {name: value for name in PROGRESSED if (value := getattr(progress, name)) is not None}
    return Progress(**{**standing, **set_here})


def _refused(refusal: Refusal) -> RefusedLine:
    operation = refusal.operation
    text = getattr(operation, "text", "") or getattr(operation, "title", "")
    return RefusedLine(type(operation).__name__, text, refusal.reason)


def _stamp_of(path: Path) -> Stamp:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _stamped(now: datetime) -> str:
    return now.isoformat(timespec="seconds")
