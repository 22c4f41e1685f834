"""One decision on the freshest texts, as one atomic commit of all the files it touches.

Prepared texts, then the journal (from here on it is acknowledged), then each file in exchange for the prepared
one. A crash before the journal leaves everything as it was; after it, the prepared texts tell the next lock
holder what is still to be done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.notes.applied import applied
from pipimem.notes.files import File
from pipimem.notes.ledger import PROGRESSED, Delta, Ledger
from pipimem.notes.notes import Outcome, Refusal, etag
from pipimem.notes.operations import Decision, Progress
from pipimem.store.commits.archive import append_archived, archive_size
from pipimem.store.commits.desk import KEPT, Desk, View, prepared_path
from pipimem.store.commits.placing import dropped, edit_record, file_change, place
from pipimem.store.commits.recalls import Recalls
from pipimem.store.disk.files import Stamp, prepare, resolved, stamp, storable
from pipimem.store.journal.records import JournalRecord, RefusedLine

CarryOut = Callable[[Desk, View], Outcome]


@dataclass(frozen=True, slots=True)
class Committed:
    """What came of a decision.

    `sequence` is its journal record, or the newest one where nothing was to be done.
    """

    sequence: int
    outcome: Outcome


def commit(
    desk: Desk,
    decision: Decision,
    now: datetime,
    actor: str,
    wall: datetime,
    recalls: Recalls,
    *,
    insists: bool = False,
    carry_out: CarryOut | None = None,
) -> Committed | None:
    """Carries a decision out; `None` when a person saved in the middle: again, please. The caller holds the
    lock.

    `now` is the conversation's time, `wall` the real one, for the journal. With `insists`, what is saved in the
    middle is merged. What looking back decides by the journal itself is carried out by `carry_out` instead of by
    operations.
    """
    view = desk.freshly_looked_at()
    outcome = _storable(carry_out(desk, view) if carry_out else applied(view.now, decision, now))
    if not recalls.are_due and not _changes(view.now.ledger, outcome):
        return Committed(desk.state.ledger.sequence, outcome)
    sequence = desk.state.ledger.sequence + (2 if view.edited else 1)
    delta = recalls.folded(view.now.ledger, outcome.delta)
    if desk.state.ledger.sequence == 0:
        delta = replace(delta, progress=_grounded(delta.progress, view.now.ledger))
    record = JournalRecord(
        sequence, _stamped(wall), decision.task, decision.author, actor, decision.why, decision.correlation,
        outcome.changes, tuple(map(_refused, outcome.refused)), decision.notes,
        {file: file_change(view.now.note(file).text, text, unseen=_is_unseen(desk, view, file))
         for file, text in outcome.texts.items()},
        outcome.archived, archive_size(desk) if outcome.archived else 0, delta, decision.tokens,
    )  # fmt: skip
    records = [edit_record(desk, view, sequence - 1, _stamped(wall)), record] if view.edited else [record]
    if not _acknowledged(desk, view, records, _merges(view) | dict(outcome.texts), insists=insists):
        return None
    recalls.clear()
    _finish(desk, view, outcome, wall)
    return Committed(sequence, outcome)


def journal_edits(desk: Desk, now: datetime) -> None:
    """Takes what people changed into the journal, without any decision. The caller holds the lock."""
    view = desk.fresh()
    if view.edited:
        record = edit_record(desk, view, desk.state.ledger.sequence + 1, _stamped(now))
        if _acknowledged(desk, view, [record], _merges(view)):
            for file in _merges(view):
                place(desk, file, now)
    for file in KEPT:
        # Taken for an older buffer, and brought together to just what stood: people are to see it in the file again.
        if file not in view.held and file not in view.edited and not view.stands(file):
            place(desk, file, now)


def _merges(view: View) -> dict[File, str]:
    """The texts that a person's older text was merged to: they are not in their files yet."""
    return {file: view.now.note(file).text for file in view.edited if not view.stands(file)}


def _is_unseen(desk: Desk, view: View, file: File) -> bool:
    """Whether the text that a decision is applied to never stood in the file."""
    return desk.is_pending(file) if file in view.held else not view.stands(file)


def _acknowledged(
    desk: Desk, view: View, records: list[JournalRecord], texts: Mapping[File, str], *, insists: bool = False
) -> bool:
    """Prepares the texts and writes the journal.

    `False`, and nothing done, when a file changed in between; not with `insists`.
    """
    state = desk.state
    prepared: list[Path] = []
    waiting = [prepared_path(desk, file, state.ledger.etags[file]) for file in texts if desk.is_pending(file)]
    try:
        for file in {file for record in records for file in record.files}:
            state.anchor(file, view.left.note(file).text)
        for file in view.edited:
            state.versions.keep(file, view.left.note(file).text, synced=False)
        for file, text in texts.items():
            path = prepared_path(desk, file, etag(text))
            prepared.append(path)
            # Not synced where a power cut can be told from a person: the journal has it all.
            prepare(path, resolved(desk.path(file), desk.root), text, etag(text), synced=not state.boot)
        if not insists and any(desk.on_disk(file) != view.disk[file].text for file in KEPT if file not in view.held):
            dropped(prepared)
            return False
        state.append(records, {file: view.now.note(file).text for file in view.edited} | dict(texts))
    except BaseException:
        # Where even the cut failed, the record may stand: then the prepared texts must too.
        if state.journal.place().offset <= max(state.place.offset, 0):
            dropped(prepared)
        raise
    # Only now: a text that was kept and not merged would later be taken for one that was.
    for file in _merges(view):
        state.versions.keep(file, view.disk[file].text, synced=False)
    dropped(path for path in waiting if path not in prepared)
    return True


def _finish(desk: Desk, view: View, outcome: Outcome, now: datetime) -> None:
    """Puts archive and files in place.

    What fails here is done by the next holder of the lock: it is acknowledged.
    """
    notes = replace(view.now, ledger=desk.state.ledger)
    for file, text in outcome.texts.items():
        notes = notes.having(desk.note(file, text))
    texts = _merges(view) | dict(outcome.texts)
    stamps: dict[File, Stamp] = {}
    try:
        if outcome.archived and desk.state.archived is not None:
            append_archived(desk, desk.state.archived)
        for file, text in texts.items():
            mark = stamp(prepared_path(desk, file, etag(text)))
            if place(desk, file, now) and mark is not None:
                stamps[file] = mark
    except StoreError:
        desk.clear()
        return
    if len(stamps) == len(texts):
        desk.put_down(notes, stamps)
    else:
        desk.clear()


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


def _stamped(now: datetime) -> str:
    return now.isoformat(timespec="seconds")
