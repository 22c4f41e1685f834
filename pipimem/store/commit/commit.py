"""One decision on the freshest texts, as one atomic commit of all the files it touches.

Prepared texts, synced with their names, then the transaction (from here on it is acknowledged),
then each file in exchange for the prepared one. A crash before the transaction leaves everything as
it was; after it, the prepared texts tell the next lock holder what is still to be done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from os import urandom

from msgspec import Struct, field
from msgspec.structs import replace

from pipimem.errors import CommitUnsure, LockLost, NothingFound, StoreError
from pipimem.notes.apply import applied
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import PROGRESSED, Asked, Delta, Ledger, Record
from pipimem.notes.notes import Notes, Outcome, Refusal
from pipimem.notes.operations import Decision, LeftOut, Progress, refused_text
from pipimem.state.changes import ChangeRecord, FileChange, RefusedLine
from pipimem.store.commit.manual_edits import ManualEdit, View, edit_record
from pipimem.store.commit.publish import acknowledge, prepare_file, publish
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk.files import refuse_unreadable_size
from pipimem.text.characters import storable


class Recalls(Struct):
    """How often entries were recalled since the last commit, when last, and what was asked."""

    counts: dict[str, int] = field(default_factory=dict)
    when: str = ""
    # With the change that was the newest then: what was asked before a forgetting may quote what is
    # forgotten.
    asked: list[tuple[int, Asked]] = field(default_factory=list)
    # No commit will follow: they are a change of their own now.
    are_due: bool = False
    # What turns noted since `take_in`: a turn waits for no commit, which clears what it wrote.
    _noted: deque[tuple[tuple[str, ...], datetime, Asked | None, int]] = field(
        default_factory=deque
    )

    def note(self, ids: Iterable[str], when: datetime, asked: Asked | None, sequence: int) -> None:
        """Counts one recall of each, and keeps the question, from the next `take_in` on.

        `sequence` is the newest change's. May be called in any thread.
        """
        self._noted.append((tuple(ids), when, asked, sequence))

    def take_in(self) -> None:
        """Adds what was noted; the caller keeps other threads from it."""
        while self._noted:
            self._add(*self._noted.popleft())

    def _add(self, ids: Iterable[str], when: datetime, asked: Asked | None, sequence: int) -> None:
        if asked is not None:
            self.asked.append((sequence, asked))
        for name in ids:
            self.counts[name] = self.counts.get(name, 0) + 1
            self.when = when.isoformat(timespec="seconds")

    def clear(self) -> None:
        """Starts again, once they are written."""
        self.counts.clear()
        self.asked.clear()
        self.are_due = False

    def are_worth_writing(self, ledger: Ledger) -> bool:
        """Whether there is a question, or a recall of an entry that has a record."""
        return bool(self.asked) or any(name in ledger.records for name in self.counts)

    def noted_in(self, notes: Notes) -> Notes:
        """The notes with the recalls that the next commit will write."""
        if not self.counts and not self.asked:
            return notes
        waiting = self.folded(notes.ledger, Delta())
        return replace(notes, ledger=notes.ledger.after(waiting))

    def folded(self, ledger: Ledger, delta: Delta) -> Delta:
        """Returns `delta` with the recalls of entries that have a record.

        A recall ends probation: what was asked for has proved useful.
        """
        records: dict[str, Record | None] = dict(delta.records)
        for name, count in self.counts.items():
            record = records.get(name, ledger.records.get(name))
            if record is not None:
                records[name] = replace(
                    record, recalls=record.recalls + count, recalled=self.when, probation_until=""
                )
        kept = tuple(asked for known, asked in self.asked if known >= ledger.forgotten)
        return replace(delta, records=records, asked=kept)


CarryOut = Callable[[WorkingCopy, View], Outcome]


class Committed(Struct, frozen=True):
    """The outcome of a decision.

    `sequence` is the number of its change, or of the newest one where nothing was to be done.
    """

    sequence: int
    outcome: Outcome


class CommitInDoubt(StoreError):
    """The state was deleted, or the disk failed, in the middle of a commit.

    It is done, as `committed` says, if the state has its change or the files have its texts.
    """

    def __init__(self, text: str, change: ChangeRecord, committed: Committed) -> None:
        super().__init__(text)
        self.change, self.committed = change, committed


def commit(
    working_copy: WorkingCopy,
    decision: Decision,
    now: datetime,
    actor: str,
    wall: datetime,
    recalls: Recalls,
    *,
    insists: bool = False,
    carry_out: CarryOut | None = None,
) -> Committed | None:
    """Carries a decision out on the freshest notes; the caller holds the lock.

    Returns `None`, with nothing done, when a person saved in the middle: the caller tries again.
    With `insists`, what is saved in the middle is merged. `now` is the conversation's time, `wall`
    the real one, for the record. What undo and forget decide by the state itself is carried out by
    `carry_out` instead of by operations. Raises `CommitInDoubt`, `UnreadableNote` for a text that
    is too long, and `NothingFound` where an item to be taken in is listed no more.
    """
    view = working_copy.fresh_view()
    if carry_out is None:
        outcome = _storable(applied(view.current, decision, now))
    else:
        outcome = _storable(carry_out(working_copy, view))
    ledger = view.current.ledger
    if not (recalls.are_due or decision.taken_in or _changes(ledger, outcome)):
        return Committed(working_copy.state.ledger.sequence, outcome)
    record = replace(
        _record(working_copy, view, decision, outcome),
        time=wall.isoformat(timespec="seconds"),
        actor=actor,
        id=urandom(8).hex(),
    )
    record = replace(record, delta=recalls.folded(ledger, record.delta))
    records = [record]
    if view.edited:
        records = [_without_overtaken(_edits(working_copy, view, wall), record), record]
    committed = Committed(record.sequence, outcome)
    try:
        if not _acknowledged(working_copy, view, records, outcome.texts, insists=insists):
            return None
    except (CommitUnsure, LockLost) as error:
        raise CommitInDoubt(str(error), record, committed) from error
    try:
        publish(working_copy, wall)
    except StoreError as error:
        # The commit is durable: what failed is done by the next holder of the lock, who reads of
        # it in the state. Where that was deleted by now nobody knows of the prepared texts.
        working_copy.clear()
        if not working_copy.state.has(record):
            raise CommitInDoubt(str(error), record, committed) from error
    recalls.clear()
    return committed


def _find_left_out(working_copy: WorkingCopy, numbers: Sequence[int]) -> tuple[LeftOut, ...]:
    """Return the left-out items of some numbers.

    Raises `NothingFound` for a number that is listed no more: it was taken in or forgotten.
    """
    stored = working_copy.state.all_left_out() if numbers else []
    known = {one.number: one.item for one in stored}
    for number in numbers:
        if number not in known:
            raise NothingFound(f"There is no number {number} among what was left out.")
    return tuple(known[number] for number in numbers)


def record_edits(working_copy: WorkingCopy, now: datetime) -> None:
    """Record what people changed, without any decision. The caller holds the lock.

    Leaves it to the next one where somebody saves in the middle.
    """
    view = working_copy.fresh_view()
    if view.edited:
        records = [_edits(working_copy, view, now)]
        if not _acknowledged(working_copy, view, records, {}, insists=False):
            return
    for file in NOTE_FILES:
        is_settled = file in view.edited or file in view.locked or view.is_on_disk(file)
        if not is_settled:
            # Taken for an older buffer, and merged to just what the newest change left: people are
            # to see it in the file again.
            text = view.current.note(file).text
            path = working_copy.prepared(file, working_copy.state.etag(text))
            prepare_file(working_copy, path, working_copy.target(file), text)
    publish(working_copy, now)


def _record(
    working_copy: WorkingCopy, view: View, decision: Decision, outcome: Outcome
) -> ChangeRecord:
    """The record of a decision, behind that of what people changed; without time and actor."""
    delta, sequence = outcome.delta, working_copy.state.ledger.sequence
    taken_items = _find_left_out(working_copy, decision.taken_in)
    if sequence == 0:
        delta = replace(delta, progress=_with_counters(delta.progress, view.current.ledger))
    return ChangeRecord(
        sequence + (2 if view.edited else 1),
        "",
        decision.task,
        decision.author,
        why=decision.why,
        correlation=decision.correlation,
        changes=outcome.changes,
        refused=tuple(map(_refused, outcome.refused)),
        notes=(*decision.notes, *(item.sentence for item in decision.left_out)),
        left_out=(*decision.left_out, *_refused_texts(outcome)),
        taken_in=() if outcome.refused else decision.taken_in,
        files=_file_changes(working_copy, view, outcome),
        archived=outcome.archived,
        delta=delta,
        tokens=decision.tokens,
        taken_items=() if outcome.refused else taken_items,
    )


def _edits(working_copy: WorkingCopy, view: View, now: datetime) -> ChangeRecord:
    """Return what people changed, as the next record."""
    edits = {}
    for file in view.edited:
        incoming, after = view.incoming[file], view.current.note(file).text
        found = after if view.is_on_disk(file) else view.disk[file].text
        before = view.base.note(file).text
        edits[file] = ManualEdit(before, after, found, incoming.text, incoming.removed)
    sequence = working_copy.state.ledger.sequence + 1
    return edit_record(sequence, now, edits, view.delta, working_copy.state.etag)


def _without_overtaken(edits: ChangeRecord, record: ChangeRecord) -> ChangeRecord:
    """Return edits whose merged texts never reach their files, for `record` overtakes them."""
    files = {
        file: replace(change, on_disk=False)
        if file in record.files and change.displaces != change.after
        else change
        for file, change in edits.files.items()
    }
    return replace(edits, files=files)


def _file_changes(
    working_copy: WorkingCopy, view: View, outcome: Outcome
) -> dict[File, FileChange]:
    etag = working_copy.state.etag
    changes = {}
    for file, text in outcome.texts.items():
        before, found = view.current.note(file).text, view.disk[file].text
        changes[file] = FileChange(etag(before), etag(text), etag(found))
    return changes


def _acknowledged(
    working_copy: WorkingCopy,
    view: View,
    records: Sequence[ChangeRecord],
    texts: Mapping[File, str],
    *,
    insists: bool,
) -> bool:
    """Write the record of what people changed, and behind it the one that leaves these `texts`.

    Returns False, with nothing done, when a file changed in between; not with `insists`.
    """

    def is_current() -> bool:
        unlocked = [file for file in NOTE_FILES if file not in view.locked]
        return insists or all(
            working_copy.read_now(file).text == view.disk[file].text for file in unlocked
        )

    edited = {file: view.current.note(file).text for file in view.edited}
    kept = [view.base.note(file).text for file in {*edited, *texts}]
    kept += [text for file in view.edited for text in (edited[file], view.incoming[file].text)]
    return acknowledge(working_copy, records, {**edited, **texts}, kept, is_current)


def _storable(outcome: Outcome) -> Outcome:
    texts = {file: storable(text) for file, text in outcome.texts.items()}
    for file, text in texts.items():
        refuse_unreadable_size(str(file), text)
    archived = storable(outcome.archived)
    if archived and not archived.endswith(("\n", "\r")):
        archived += "\n"
    return replace(outcome, texts=texts, archived=archived)


def _changes(ledger: Ledger, outcome: Outcome) -> bool:
    """Whether there is anything to write: a text, or something the ledger does not know yet."""
    is_asked = outcome.archived or outcome.delta.forgets_asked
    return bool(outcome.texts or is_asked) or ledger.after(outcome.delta, ledger.sequence) != ledger


def _with_counters(progress: Progress, ledger: Ledger) -> Progress:
    """The progress with every counter spelt out.

    The first record must not rest on what HISTORY.md let conclude.
    """
    counters = {name: getattr(ledger, name) for name in PROGRESSED}
    for name in PROGRESSED:
        value = getattr(progress, name)
        if value is not None:
            counters[name] = value
    return Progress(**counters)


def _refused_texts(outcome: Outcome) -> list[LeftOut]:
    """Return the texts of refused operations, but none that was forgotten."""
    refused = (refusal for refusal in outcome.refused if refusal.text)
    found = (refused_text(refusal.operation, refusal.reason) for refusal in refused)
    return [item for item in found if item is not None]


def _refused(refusal: Refusal) -> RefusedLine:
    return RefusedLine(type(refusal.operation).__name__, refusal.text, refusal.reason)
