"""A copy of the journal from before a forgetting, put back where checkpoint and notes are newer."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from pathlib import Path

from pipimem.notes.files import NOTE_FILES, etag
from pipimem.notes.notes import Note
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.fencing import move_name
from pipimem.store.disk.files import read_text
from pipimem.store.disk.presence import first_unused
from pipimem.store.disk.syscalls import store_errors, sync_folder
from pipimem.store.health.finding import Finding, Mend, wrong
from pipimem.store.journal import checkpoint as ledger_file
from pipimem.store.journal.checkpoint import Checkpoint
from pipimem.store.journal.journal import Journal

NAME = "journal.jsonl.older"
"""What such a copy is renamed to: no part of the journal, so nobody reads it."""


def older_journal(store: ChannelStore) -> Finding | None:
    """The finding, `None` where the journal goes on from the checkpoint or it is another's.

    The notes prove which of the two files is the newer one: a text that stands there is one that
    the checkpoint names, or an entry is one that the checkpoint knows and the journal does not, as
    where a person edited since. Raises `PipimemError` for a journal or a note that cannot be read.
    """
    own = store.folder / ".pipimem"
    journal, checkpoint = Journal(own), ledger_file.load(own / "ledger.json")
    if checkpoint is None or not _is_older(journal, checkpoint):
        return None
    if journal.channel != store.folder.name:
        return None
    if not _has_a_text_of(checkpoint, store) and not _has_an_entry_of(checkpoint, journal, store):
        return None
    what = (
        "is a copy from before a forgetting; ledger.json beside it and the Markdown files are "
        f"newer, so nothing can be written. Set aside, as {NAME}, it keeps nobody from writing; "
        "undo, log and blame begin anew. It may hold what was forgotten since"
    )
    return wrong(journal.path, what, _setting_aside(store))


def _is_older(journal: Journal, checkpoint: Checkpoint) -> bool:
    """Whether the journal is another one than the checkpoint's and ends before it."""
    if journal.name in {"", checkpoint.place.journal} or not checkpoint.place.journal:
        return False
    sequence = checkpoint.ledger.sequence
    records, _ = journal.read()
    is_behind = bool(records) and records[-1].sequence < sequence
    return is_behind and not journal.follows(checkpoint.place, sequence)


def _has_a_text_of(checkpoint: Checkpoint, store: ChannelStore) -> bool:
    """Whether one of the notes still has the text that it had at the checkpoint."""
    for file, mark in checkpoint.ledger.etags.items():
        text = read_text(store.folder / file, store.workspace.root)
        if text and etag(text) == mark:
            return True
    return False


def _has_an_entry_of(checkpoint: Checkpoint, journal: Journal, store: ChannelStore) -> bool:
    """Whether an entry stands whose id the checkpoint has and the journal has not."""
    deltas = (record.delta for record in journal.records() if record.delta)
    newer = checkpoint.ledger.records.keys() - {name for delta in deltas for name in delta.records}
    texts = ((file, read_text(store.folder / file, store.workspace.root)) for file in NOTE_FILES)
    notes = (Note.read(file, text or "", store.key) for file, text in texts)
    return any(entry.record_name in newer for note in notes for entry in note.entries)


def _setting_aside(store: ChannelStore) -> Mend:
    """Renames the journal under the lock, and goes on from the files as they stand."""

    def set_aside(now: datetime) -> str:
        path = Journal(store.folder / ".pipimem").path
        target = _free_name(path.with_name(NAME))
        with store.channel_folder.lock.held():
            if older_journal(store) is None:
                return "mended meanwhile"
            _rename(path, target)
        reopened = ChannelStore.open(store.workspace, store.channel_id, create=False)
        reopened.journal_edits(now)
        return f"renamed to {target.name}; the Markdown files count as they stand"

    return set_aside


def _free_name(path: Path) -> Path:
    return first_unused(path.with_name(f"{path.name}{number or ''}") for number in count())


def _rename(path: Path, target: Path) -> None:
    with store_errors("rename", path):
        move_name(path, target)
    sync_folder(path.parent)
