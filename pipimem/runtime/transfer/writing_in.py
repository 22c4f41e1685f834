"""What an import found, written: new channels moved in whole, others added to step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from pipimem.notes.message import Message
from pipimem.notes.operations import Author, Decision, Operation, Progress
from pipimem.runtime.transfer.gathering import Gathering
from pipimem.runtime.transfer.import_run import ImportRun, ImportTarget
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.folder_names import folder_name
from pipimem.store.transfer.import_log import (
    IMPORT,
    ImportedChannel,
    ImportRecord,
    content_mark,
    key_mark,
)
from pipimem.store.transfer.moving_in import move_in

# So many messages are appended with one sync.
_BATCH = 2_000


def write_import(run: ImportRun, ready: Path) -> int:
    """Writes what was gathered; returns the number of the import, 0 where nothing was new."""
    changed = run.changed()
    if not changed:
        return 0
    for target in changed:
        target.gathering.drop_ids()
    new = [target for target in changed if target.staged is not None]
    line = _WrittenLine(run, [_fill(run, target) for target in new])
    line.note()
    move_in(run.workspace, ready, [folder_name(target.name) for target in new])
    for target in changed:
        # A line for each step: where it is killed, what came can be taken back.
        for step in _add_to(run, target):
            line.note(step)
    return line.number


class _WrittenLine:
    """The line of an import in the log, written again with each step."""

    def __init__(self, run: ImportRun, done: list[ImportedChannel]) -> None:
        self._log = run.log
        self.number = self._log.next_number()
        self._run = run
        self._done = {one.id: one for one in done}

    def note(self, step: ImportedChannel | None = None) -> None:
        if step is not None:
            self._done[step.id] = step
        kind, channels = self._run.source_format.name, tuple(self._done.values())
        when = self._run.now.isoformat()
        self._log.add(ImportRecord(self.number, when, kind, channels))


def _fill(run: ImportRun, target: ImportTarget) -> ImportedChannel:
    """Writes all of a new channel where it is made ready."""
    store = target.staged
    assert store is not None
    for batch in _batches(target.gathering):
        store.append(batch)
    last = store.transcript.last_number
    records = _commit(run, target.gathering, store, last)
    store.close()
    key, mark = key_mark(store.folder), content_mark(store.folder)
    return ImportedChannel(target.name, key, True, mark, last=last, records=records, is_done=True)


def _add_to(run: ImportRun, target: ImportTarget) -> Iterator[ImportedChannel]:
    """Adds to a channel that is there; yields what is its own before the first step and at the end.

    Where it is killed between, its messages are known by their ids.
    """
    store = target.standing
    if store is None:
        return
    store.journal_edits(run.now)
    first = store.transcript.last_number + 1
    key, before = key_mark(store.folder), store.ledger.sequence
    begun = ImportedChannel(target.name, key, first=first, before=before)
    yield begun
    last = 0
    for batch in _batches(target.gathering):
        added = store.append(batch)
        last = added[-1].number if added else last
    # Where somebody spoke meanwhile, the cursor stays: nothing of theirs may be passed over.
    is_alone = all(map(run.is_own, store.transcript.window(store.ledger.cursor)))
    newest = store.transcript.last_number if last or target.unfinished else 0
    records = _commit(run, target.gathering, store, newest if is_alone else 0)
    store.close()
    yield replace(begun, last=last, records=records, is_done=True)


def _batches(gathering: Gathering) -> Iterator[list[Message]]:
    if gathering.spool is not None:
        messages = gathering.spool.messages()
        while batch := list(islice(messages, _BATCH)):
            yield batch


def _commit(
    run: ImportRun, gathering: Gathering, store: ChannelStore, last: int
) -> tuple[int, ...]:
    """Commits entries and days, and that the talk up to a message is none to learn from.

    Returns the number of the record, where it changed the notes.
    """
    progress = Progress()
    if last and not run.options.consolidates:
        progress = Progress(cursor=last, boundary=last, refreshed=last, epoch_start=last)
    kind = run.source_format.name
    blocks = sorted(gathering.blocks, key=lambda one: one.start)
    operations: tuple[Operation, ...] = (*gathering.additions, *blocks)
    decision = Decision(
        IMPORT, Author.PERSON, operations, progress, f"from {kind}", speakers=gathering.speakers
    )
    done = store.commit(decision, run.now, actor=kind)
    for refusal in done.outcome.refused:
        gathering.refuse(refusal.operation, refusal.reason)
    return (done.sequence,) if done.outcome.texts else ()
