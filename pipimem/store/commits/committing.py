"""One decision on the freshest texts, as one atomic commit of all the files it touches.

Prepared texts, synced with their names, then the journal (from here on it is acknowledged), then each file in
exchange for the prepared one. A crash before the journal leaves everything as it was; after it, the prepared texts
tell the next lock holder what is still to be done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipimem.errors import StoreError
from pipimem.notes.applied import applied
from pipimem.notes.files import File
from pipimem.notes.ledger import PROGRESSED, Delta, Ledger
from pipimem.notes.notes import Outcome, Refusal, etag
from pipimem.notes.operations import Decision, Progress
from pipimem.store.commits.acknowledging import acknowledge, lay_ready
from pipimem.store.commits.archive import archive_standing
from pipimem.store.commits.desk import KEPT, Desk, View, prepared_path
from pipimem.store.commits.edits import edit_record, file_change
from pipimem.store.commits.placing import put_in_place
from pipimem.store.commits.recalls import Recalls
from pipimem.store.disk.files import resolved, storable
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
    view = desk.fresh()
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
        outcome.archived, delta=delta, tokens=decision.tokens,
    )  # fmt: skip
    if outcome.archived:
        size, mark = archive_standing(desk)
        record = replace(record, archive_size=size, archive_etag=mark)
    records = [_edits(desk, view, wall), record] if view.edited else [record]
    if not _acknowledged(desk, view, records, outcome.texts, insists=insists):
        return None
    recalls.clear()
    _finish(desk, wall)
    return Committed(sequence, outcome)


def journal_edits(desk: Desk, now: datetime) -> None:
    """Takes what people changed into the journal, without any decision. The caller holds the lock."""
    view = desk.fresh()
    if view.edited and not _acknowledged(desk, view, [_edits(desk, view, now)], {}, insists=False):
        return
    for file in KEPT:
        if file not in view.edited and file not in view.held and not view.stands(file):
            # Taken for an older buffer, and merged to just what stood: people are to see it in the file again.
            text = view.now.note(file).text
            lay_ready(
                prepared_path(desk, file, etag(text)), resolved(desk.path(file), desk.root), text
            )
    put_in_place(desk, now)


def _edits(desk: Desk, view: View, now: datetime) -> JournalRecord:
    """What people changed, as the next record."""
    left = {file: view.left.note(file).text for file in view.edited}
    changes = {
        file: file_change(
            left[file], view.now.note(file).text,
            found=None if view.stands(file) else view.saves[file].marked,
            unseen=desk.is_pending(file),
        )
        for file in view.edited
    }  # fmt: skip
    taken_out = {file: view.saves[file].taken_out for file in view.edited}
    return edit_record(
        desk.state.ledger.sequence + 1, _stamped(now), changes, view.delta, left, taken_out
    )


def _is_unseen(desk: Desk, view: View, file: File) -> bool:
    """Whether the text that a decision is applied to never stood in the file."""
    return desk.is_pending(file) or (file in view.edited and not view.stands(file))


def _acknowledged(
    desk: Desk,
    view: View,
    records: Sequence[JournalRecord],
    texts: Mapping[File, str],
    *,
    insists: bool,
) -> bool:
    """Writes the records, that of what people changed before one of a decision that leaves these `texts`.

    `False`, and nothing done, when a file changed in between; not with `insists`.
    """

    def is_current() -> bool:
        return insists or all(
            desk.on_disk(file) == view.disk[file].text for file in KEPT if file not in view.held
        )

    left = {file: view.left.note(file).text for file in KEPT}
    edited = {file: view.now.note(file).text for file in view.edited}
    saved = {file: view.disk[file].text for file in view.edited}
    return acknowledge(desk, records, left, {**edited, **texts}, saved, is_current)


def _finish(desk: Desk, now: datetime) -> None:
    """Brings the files to their texts. What fails here is done by the next holder of the lock: it is acknowledged."""
    try:
        put_in_place(desk, now)
    except StoreError:
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
        or delta.forgets_asked
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
    set_here = {
        name: value for name in PROGRESSED if (value := getattr(progress, name)) is not None
    }
    return Progress(**{**standing, **set_here})


def _refused(refusal: Refusal) -> RefusedLine:
    operation = refusal.operation
    text = getattr(operation, "text", "") or getattr(operation, "title", "")
    return RefusedLine(type(operation).__name__, text, refusal.reason)


def _stamped(now: datetime) -> str:
    return now.isoformat(timespec="seconds")
