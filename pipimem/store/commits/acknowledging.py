"""Records appended to the journal, once the texts they need lie ready and synced."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.notes.files import File
from pipimem.notes.notes import etag
from pipimem.notes.operations import Author
from pipimem.store.commits.desk import Desk, is_text_of, prepared_path
from pipimem.store.disk.calls import sync_folder
from pipimem.store.disk.files import prepare, remove, resolved, set_apart, sync_file
from pipimem.store.journal.records import JournalRecord


def acknowledge(
    desk: Desk,
    records: Sequence[JournalRecord],
    left: Mapping[File, str],
    texts: Mapping[File, str],
    saved: Mapping[File, str],
    is_current: Callable[[], bool] = lambda: True,
) -> bool:
    """Writes the records: durable when this returns, with the texts they need.

    The caller holds the lock. `left` has the texts the files were left with so far, `texts` those
    the records leave them with, and `saved` what people saved and the records take in. Returns
    False, with nothing done, where `is_current`, asked last, says that people saved more since.
    Raises `StoreError`.
    """
    state = desk.state
    names = {file for record in records for file in record.files}
    files = {file: resolved(desk.path(file), desk.root) for file in sorted(names)}
    merged = {file for record in records for file, change in record.files.items() if change.found}
    pending = [file for file in files if desk.is_pending(file)]
    waiting = [prepared_path(desk, file, state.ledger.etags[file]) for file in pending]
    prepared: list[Path] = []
    try:
        _keep_former(desk, records, left)
        for file, target in files.items():
            if file not in merged and texts[file] == saved.get(file):
                sync_file(target)  # it stands there already; editors do not always sync
                continue
            prepared.append(prepared_path(desk, file, etag(texts[file])))
            lay_ready(prepared[-1], target, texts[file])
        # The names too: after a power cut they tell which texts have not reached their files.
        for folder in {target.parent for target in files.values()}:
            sync_folder(folder)
        if not is_current():
            dropped(prepared)
            return False
        state.append(records, texts)
    except BaseException:
        # Where even the cut failed, the record may stand: then the prepared texts must too.
        if state.journal.ends_at(state.place):
            dropped(prepared)
        raise
    dropped(path for path in waiting if path not in prepared)
    return True


def lay_ready(path: Path, target: Path, text: str) -> None:
    """Prepares a text at `path`, which has the text's etag in its name.

    What an exchange displaced to that name, when the file had this text before, may still be open
    in an editor, and nobody has read its end: it gets another name.
    """
    if os.path.lexists(path) and not is_text_of(path, etag(text)):
        set_apart(path)
    prepare(path, target, text)


def dropped(prepared: Iterable[Path]) -> None:
    """Removes prepared texts nobody waits for, as far as the disk lets it."""
    for path in prepared:
        try:
            remove(path)
        except StoreError:  # the next holder of the lock sweeps; another error is being told
            pass


def _keep_former(desk: Desk, records: Iterable[JournalRecord], left: Mapping[File, str]) -> None:
    """Keeps what people edited, and, synced, what the journal's splices do not lead to."""
    for record in records:
        for file in record.files:
            is_led_to = desk.state.ledger.etags.get(file) == etag(left[file])
            if left[file] and (record.author is Author.EDITOR or not is_led_to):
                desk.state.versions.keep(file, left[file], synced=not is_led_to)
