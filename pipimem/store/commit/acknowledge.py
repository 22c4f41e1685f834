"""Records appended to the journal, once the texts they need lie ready and synced."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pipimem.errors import LockLost, StoreError
from pipimem.notes.files import File, etag
from pipimem.notes.operations import Author
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk.fencing import move_name
from pipimem.store.disk.files import free_name, prepare, remove, sync_file
from pipimem.store.disk.syscalls import store_errors, sync_folder
from pipimem.store.journal.records import JournalRecord
from pipimem.store.journal.text_versions import is_text_of


def acknowledge(
    working_copy: WorkingCopy,
    records: Sequence[JournalRecord],
    base: Mapping[File, str],
    texts: Mapping[File, str],
    saved: Mapping[File, str],
    is_current: Callable[[], bool] = lambda: True,
) -> bool:
    """Writes the records: durable when this returns, with the texts they need.

    The caller holds the lock. `base` has the texts the files were left with so far, `texts` those
    the records leave them with, and `saved` what people saved and the records take in. Returns
    False, with nothing done, where `is_current`, asked last, says that people saved more since.
    Raises `StoreError`.
    """
    state = working_copy.state
    files = sorted({file for record in records for file in record.files})
    waiting = _waiting(working_copy, files)
    prepared: list[Path] = []
    try:
        _keep_former(working_copy, records, base)
        _prepare(working_copy, records, texts, saved, prepared)
        # The names too: after a power cut they tell which texts have not reached their files.
        for folder in {working_copy.target(file).parent for file in files}:
            sync_folder(folder)
        if not is_current():
            remove_unused(prepared)
            return False
        state.append(records, texts)
    except BaseException as error:
        if _is_undone(working_copy, error):
            remove_unused(prepared)
        raise
    remove_unused(path for path in waiting if path not in prepared)
    return True


def _is_undone(working_copy: WorkingCopy, error: BaseException) -> bool:
    """Whether it is sure that no record stands.

    It is not where even the cut failed, or another holder has the lock: then the prepared texts
    must stand, too.
    """
    state = working_copy.state
    return not isinstance(error, LockLost) and state.journal.ends_at(state.place)


def _waiting(working_copy: WorkingCopy, files: Iterable[File]) -> list[Path]:
    """The prepared texts that still wait for these files."""
    etags = working_copy.state.ledger.etags
    pending = (file for file in files if working_copy.is_pending(file))
    return [working_copy.prepared(file, etags[file]) for file in pending]


def _prepare(
    working_copy: WorkingCopy,
    records: Sequence[JournalRecord],
    texts: Mapping[File, str],
    saved: Mapping[File, str],
    prepared: list[Path],
) -> None:
    """Prepares the texts that the files do not have yet; `prepared` gets their paths."""
    changes = [change for record in records for change in record.files.items()]
    merged = {file for file, change in changes if change.found}
    for file in sorted({file for file, _ in changes}):
        target = working_copy.target(file)
        if file not in merged and texts[file] == saved.get(file):
            sync_file(target)  # the file has it already; editors do not always sync
            continue
        prepared.append(working_copy.prepared(file, etag(texts[file])))
        prepare_file(prepared[-1], target, texts[file])


def prepare_file(path: Path, target: Path, text: str) -> None:
    """Prepares a text at `path`, which has the text's etag in its name.

    What an exchange displaced to that name, when the file had this text before, may still be open
    in an editor, and nobody has read its end: it gets another name.
    """
    if os.path.lexists(path) and not is_text_of(path, etag(text)):
        _set_apart(path)
    prepare(path, target, text)


def _set_apart(temporary: Path) -> None:
    """Gives what lies beside a file under a name of ours another such name, which nobody has."""
    with store_errors("write", temporary):
        move_name(temporary, free_name(temporary))


def remove_unused(prepared: Iterable[Path]) -> None:
    """Removes prepared texts nobody waits for, as far as the disk lets it."""
    for path in prepared:
        with suppress(StoreError):  # the next holder of the lock sweeps
            remove(path)


def _keep_former(
    working_copy: WorkingCopy, records: Iterable[JournalRecord], base: Mapping[File, str]
) -> None:
    """Keeps what people edited, and, synced, what the journal's splices do not lead to."""
    for record in records:
        for file in record.files:
            is_known = working_copy.state.ledger.etags.get(file) == etag(base[file])
            if base[file] and (record.author is Author.EDITOR or not is_known):
                working_copy.state.versions.keep(file, base[file], synced=not is_known)
