"""Texts of the journal put in the place of their files, and what they displace looked at.

A person may save at any instant. So a file is never overwritten: the two trade places, and whatever
lay there is read once nobody writes to it any more. A text nobody knew is merged, and journalled
before it goes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType

from msgspec.structs import replace

from pipimem.errors import LockLost, StoreError, UnreadableNote
from pipimem.notes.kinds import NOTE_FILES, File, etag
from pipimem.notes.operations import Author
from pipimem.notes.reconcile import reconciled
from pipimem.store.commit.manual_edits import ManualEdit, edit_record
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import editor_saves, presence
from pipimem.store.disk.appended_files import KnownPrefix, append_synced
from pipimem.store.disk.exchange import displace
from pipimem.store.disk.fencing import move_name
from pipimem.store.disk.files import (
    TextFile,
    free_name,
    is_temporary_of,
    prepare,
    read,
    regular_text,
    remove,
    sync_file,
    tag_of,
)
from pipimem.store.disk.syscalls import reading, store_errors, sync_folder
from pipimem.store.journal.past_texts import past_texts, replaced_by
from pipimem.store.journal.records import JournalRecord
from pipimem.store.journal.text_versions import NAME_LENGTH, is_text_of
from pipimem.store.merge.forgotten_lines import IncomingText
from pipimem.store.merge.merge_base import merge_base
from pipimem.store.merge.three_way import merged, only_added


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
    with ExitStack() as stack:
        stack.push(partial(_remove_undone, working_copy, prepared))
        _keep_former(working_copy, records, base)
        _prepare(working_copy, records, texts, saved, prepared)
        # The names too: after a power cut they tell which texts have not reached their files.
        for folder in {working_copy.target(file).parent for file in files}:
            sync_folder(folder)
        if not is_current():
            remove_unused(prepared)
            return False
        state.append(records, texts)
    remove_unused(path for path in waiting if path not in prepared)
    return True


def _remove_undone(
    working_copy: WorkingCopy,
    prepared: Iterable[Path],
    _: type[BaseException] | None,
    error: BaseException | None,
    __: TracebackType | None,
) -> None:
    """Remove the prepared texts after an `error` if it is sure that no record stands.

    It is not where even the cut failed, or another holder has the lock: then the prepared texts
    must stand, too.
    """
    state = working_copy.state
    if error and not isinstance(error, LockLost) and state.journal.ends_at(state.place):
        remove_unused(prepared)


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


# A person cannot save more often between a reading and the exchange right after it, a script might.
_TRIES = 5
_PAUSE = 0.005


def publish(working_copy: WorkingCopy, now: datetime) -> None:
    """Brings the files to the journal's texts, and sweeps what was never acknowledged.

    This is the end of a commit, and what the next holder of the lock does after a crash. A file
    somebody is writing to is left to the next holder: the text waits beside it. The caller holds
    the lock.
    """
    _look_at_temporaries(working_copy, now)
    for _ in range(_TRIES):
        waiting = [file for file in NOTE_FILES if working_copy.is_pending(file)]
        _finish_archive(working_copy, waiting)
        exchanged = {file for file in waiting if _exchange(working_copy, file, now)}
        if not exchanged:
            return
        _look_at_temporaries(working_copy, now, exchanged)


def is_unfinished(working_copy: WorkingCopy) -> bool:
    """Whether a text still waits for its file, or a displaced one to be looked at."""
    return next(_temporaries(working_copy), None) is not None


def _finish_archive(working_copy: WorkingCopy, waiting: Collection[File]) -> None:
    """Adds what is archived before the file it left is replaced, so that it is never missing."""
    record = working_copy.state.archived
    if record is None:
        return
    for file, change in record.files.items():
        if file in waiting and working_copy.state.ledger.etags[file] == change.after:
            append_archived(working_copy, record)


def _exchange(working_copy: WorkingCopy, file: File, now: datetime) -> bool:
    """Lets the text that waits for a file trade places with it; returns whether it did.

    What a person saved there meanwhile is merged first. What is displaced lies beside the file
    afterwards. Where the file has the waiting text already, that is synced and the other removed.
    """
    found = working_copy.read_now(file)
    if working_copy.is_locked_by_editor(file, found):
        return False
    text = working_copy.merged_text(file, found)
    incoming = working_copy.incoming_text(file, found.text)
    mark, newest = etag(text), working_copy.state.ledger.etags[file]
    is_journalled = etag(incoming.marked) in replaced_by(working_copy.state, file, newest)
    if mark != newest or (incoming.removed and not is_journalled):
        _journal_edit(working_copy, file, text, incoming, now)
    prepared, target = working_copy.prepared(file, mark), working_copy.target(file)
    if found.text == text:
        # A hand or a backup put it there. Two equal texts could trade places without an end.
        sync_file(target)
        sync_folder(target.parent)
        remove(prepared)
    else:
        displace(prepared, target)
    return True


def _temporaries(working_copy: WorkingCopy) -> Iterator[tuple[File, Path]]:
    """The texts that lie beside each file under names of ours."""
    for file in NOTE_FILES:
        for path in temporaries_beside(working_copy.target(file)):
            yield file, path


def temporaries_beside(target: Path) -> list[Path]:
    """Returns the texts that lie beside a file under names of ours, by name."""
    with store_errors("read", target.parent):
        names = sorted(os.listdir(target.parent))  # noqa: PTH208 - names
    return [target.parent / name for name in names if is_temporary_of(name, target)]


def _look_at_temporaries(
    working_copy: WorkingCopy, now: datetime, exchanged: Collection[File] = ()
) -> None:
    """Merges what was displaced, and removes what nobody waits for; `exchanged`: right before."""
    displaced: list[tuple[File, Path]] = []
    for file, path in _temporaries(working_copy):
        tag = tag_of(path, working_copy.target(file))
        if _is_written_again(working_copy, file, path):
            continue
        if not _is_prepared(path, tag):
            displaced.append((file, path))
        elif not working_copy.state.ledger.etags.get(file, "").startswith(tag):
            remove(path)
    # Before any of them goes: else a power cut could take the exchange and the waiting text.
    for folder in {path.parent for _, path in displaced}:
        sync_folder(folder)
    for file, path in displaced:
        _merge_displaced(working_copy, file, path, now, is_exchanged=file in exchanged)


def _is_written_again(working_copy: WorkingCopy, file: File, path: Path) -> bool:
    """Writes a waiting text that was damaged once more, as the journal has it.

    Returns whether it did. What lay there is kept as a version, where it is a text.
    """
    text = working_copy.state.known_text(file, "")
    if text is None or not working_copy.is_damaged(file, path):
        return False
    damaged = regular_text(path)
    if damaged:
        working_copy.state.versions.keep(file, damaged)
    target = working_copy.target(file)
    prepare(path, target, text)
    sync_folder(target.parent)
    return True


def _is_prepared(path: Path, tag: str) -> bool:
    """Whether a text under a name of ours was prepared, whole or half; else it was displaced."""
    if len(tag) < NAME_LENGTH:
        return True
    return is_text_of(path, tag) or not os.path.lexists(path)


def _merge_displaced(
    working_copy: WorkingCopy, file: File, path: Path, now: datetime, *, is_exchanged: bool
) -> None:
    """Merges what an exchange displaced, where it was more than the text before, then removes it.

    While somebody still writes to it, it stays where it is for the next holder of the lock.
    """
    before = tag_of(path, working_copy.target(file))[:NAME_LENGTH]
    try:
        found = read_when_closed(path, working_copy.root)
    except UnreadableNote:
        if etag(working_copy.read_now(file).text).startswith(before):
            # Back in its place: whoever saved it is told at the next reading.
            displace(path, working_copy.target(file))
        raise
    if found is None or found.is_open:
        return
    incoming = working_copy.incoming_text(file, found.text)
    if etag(incoming.marked) not in replaced_by(working_copy.state, file, before):
        newest = working_copy.state.known_text(file, "") or ""
        text = _merged_with(newest, working_copy, file, incoming, before, is_exchanged=is_exchanged)
        if text != newest or incoming.removed:
            _journal_edit(working_copy, file, text, incoming, now)
    remove(path)


def _merged_with(
    newest: str,
    working_copy: WorkingCopy,
    file: File,
    incoming: IncomingText,
    before: str,
    *,
    is_exchanged: bool,
) -> str:
    """`newest` with what a displaced text changed; `before` begins the etag of its successor."""
    displaced = incoming.text
    base = merge_base(displaced, past_texts(working_copy.state, file, before=before))
    # A text of ours has no forgotten line.
    is_displaced = is_exchanged or incoming.removed > 0
    if not is_displaced and _is_damaged_text_of_ours(working_copy, file, displaced, before):
        displaced = only_added(base, newest, displaced)
    return merged_displaced(base, newest, displaced)


def _is_damaged_text_of_ours(working_copy: WorkingCopy, file: File, text: str, before: str) -> bool:
    """Whether a text found after a crash seems to be the waiting one, damaged: it only adds lines.

    Then it was never displaced, and lies beside a file that a person changed. A text that was
    displaced stood in the file before the newest did, so nobody can have made it of that one;
    `before` begins the etag of what displaced it.
    """
    mark = working_copy.state.ledger.etags.get(file, "")
    if not mark.startswith(before) or etag(working_copy.read_now(file).text) == mark:
        return False
    newest = working_copy.state.known_text(file, "")
    return merge_base(text, past_texts(working_copy.state, file)) == newest


def merged_displaced(base: str, ours: str, displaced: str) -> str:
    """Merges what a displaced text changed since `base` into `ours`.

    One that lacks half of its base, or its last line end, may be half of a save, whose writer went
    on by name or was killed: what it lacks is not taken for deleted.
    """
    if len(displaced.strip()) * 2 < len(base.strip()) or not displaced.endswith(("\n", "\r")):
        displaced = only_added(base, ours, displaced)
    return merged(base, ours, displaced)


def read_when_closed(path: Path, root: Path) -> TextFile | None:
    """Reads a displaced file once nobody writes to it, or after `save_deadline`."""
    deadline = editor_saves.save_deadline()
    while True:
        found = read(path, root)
        if found is None or not found.is_open or time.monotonic() > deadline:
            return found
        time.sleep(_PAUSE)


def _journal_edit(
    working_copy: WorkingCopy, file: File, text: str, incoming: IncomingText, now: datetime
) -> None:
    """Journals the merge of what a person saved as their edit; its text then lies prepared."""
    state = working_copy.state
    newest = state.known_text(file, "") or ""
    current = working_copy.fresh_view().current
    before = replace(current.with_texts({file: newest}), ledger=state.ledger)
    delta = reconciled(before, before.with_texts({file: text}))
    is_pending = working_copy.is_pending(file)
    edit = ManualEdit(newest, text, incoming.marked, incoming.removed, is_pending)
    record = edit_record(state.ledger.sequence + 1, now, {file: edit}, delta)
    acknowledge(working_copy, [record], {file: newest}, {file: text}, {file: incoming.text})


def archive_state(working_copy: WorkingCopy) -> tuple[int, str]:
    """Returns how many bytes the archive has, and their etag."""
    path = working_copy.target(File.ARCHIVE)
    prefix = KnownPrefix.of(path, path.stat().st_size if presence.exists(path) else 0)
    return prefix.end, prefix.digest


def append_archived(working_copy: WorkingCopy, record: JournalRecord) -> None:
    """Adds what a record archived, unless it is there; half of it, left by a crash, is cut first.

    Where the archive no longer begins with what it had, somebody changed it: then nothing is cut.
    """
    path, data = working_copy.target(File.ARCHIVE), record.archived.encode()
    is_known = KnownPrefix.of(path, record.archive_size).digest == record.archive_etag
    if not is_known and record.archive_etag:  # pipimem 0.1 kept no etag
        whole = b"\n" + _from(path, 0)
        if b"\n" + data not in whole:
            append_synced(path, data if whole.endswith((b"\n", b"\r")) else b"\n" + data)
        return
    behind = _from(path, record.archive_size)
    if behind.startswith(data):
        return
    # A power cut may have left blanks of the disk. Something else behind the old end is a
    # person's: it stays.
    is_half = data.startswith(behind.rstrip(b"\0"))
    append_synced(path, data, at=record.archive_size if is_half else None)


def _from(path: Path, start: int) -> bytes:
    with store_errors("read", path):
        try:
            with reading(path) as file:
                file.seek(start)
                return file.read()
        except FileNotFoundError:
            return b""
