"""Texts prepared beside their files, put in their places, and what they displace looked at.

A person may save at any instant. So a file is never overwritten: the two trade places, and whatever
lay there is read once nobody writes to it any more. A text nobody knew is merged, and recorded
before it goes.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from pipimem.errors import CommitUnsure, LockLost, StoreError, UnreadableNote
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.reconcile import reconciled
from pipimem.state.changes import ChangeRecord
from pipimem.state.texts import ETAG_LENGTH
from pipimem.store.commit.manual_edits import ManualEdit, edit_record
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import editor_saves, presence
from pipimem.store.disk.appended_files import append_synced
from pipimem.store.disk.exchange import displace, move
from pipimem.store.disk.files import (
    TextFile,
    free_name,
    is_temporary_of,
    prepare,
    read,
    remove,
    sync_file,
    tag_of,
    take_mode,
    temporary_for,
)
from pipimem.store.disk.syscalls import read_whole, store_errors, sync_folder
from pipimem.store.merge.forgotten_lines import IncomingText
from pipimem.store.merge.merge_base import merge_base
from pipimem.store.merge.three_way import merged, only_added


def acknowledge(
    working_copy: WorkingCopy,
    changes: Sequence[ChangeRecord],
    texts: Mapping[File, str],
    kept: Iterable[str],
    is_current: Callable[[], bool] = lambda: True,
) -> bool:
    """Prepare the texts, then write the changes: durable, with the texts, when this returns.

    The caller holds the lock. `texts` are those the changes leave the files with, `kept` others
    that the changes name. Returns False, with nothing done, where `is_current`, asked last, says
    that people saved more since. Raises `StoreError`.
    """
    state = working_copy.state
    pending = [file for file in texts if working_copy.is_pending(file)]
    waiting = {working_copy.prepared(file, state.heads[file]) for file in pending}
    prepared: list[Path] = []
    try:
        _stage(working_copy, texts, prepared)
        if not is_current():
            remove_unused(set(prepared) - waiting)
            return False
        state.append(changes, (*kept, *texts.values()), pending)
    except (CommitUnsure, LockLost):
        raise  # the changes may stand, and then these texts must; the next holder sweeps
    except BaseException:
        remove_unused(set(prepared) - waiting)
        raise
    remove_unused(waiting.difference(prepared))
    return True


def _stage(working_copy: WorkingCopy, texts: Mapping[File, str], prepared: list[Path]) -> None:
    """Prepare texts beside their files, synced with their names; `prepared` gets their paths."""
    for file, text in sorted(texts.items()):
        target, found = working_copy.target(file), working_copy.read_now(file)
        if found.text == text and not found.problem:
            sync_file(target)  # the file has it already; editors do not always sync
            continue
        prepared.append(working_copy.prepared(file, working_copy.state.etag(text)))
        prepare_file(working_copy, prepared[-1], target, text)
    # The names too: after a power cut they tell which texts have not reached their files.
    for folder in {working_copy.target(file).parent for file in texts}:
        sync_folder(folder)


def prepare_file(working_copy: WorkingCopy, path: Path, target: Path, text: str) -> None:
    """Prepare a text at `path`, which has the text's etag in its name.

    What an exchange displaced to that name, when the file had this text before, may still be open
    in an editor, and nobody has read its end: it gets another name.
    """
    if os.path.lexists(path) and not working_copy.has_text_of(path, working_copy.state.etag(text)):
        _set_apart(path)
    prepare(path, target, text)


def _set_apart(temporary: Path) -> None:
    """Gives what lies beside a file under a name of ours another such name, which nobody has."""
    with store_errors("write", temporary):
        move(temporary, free_name(temporary))


def remove_unused(prepared: Iterable[Path]) -> None:
    """Removes prepared texts nobody waits for, as far as the disk lets it."""
    for path in prepared:
        with suppress(StoreError):  # the next holder of the lock sweeps
            remove(path)


# A person cannot save more often between a reading and the exchange right after it, a script might.
_TRIES = 5
_PAUSE = 0.005


def publish(working_copy: WorkingCopy, now: datetime) -> None:
    """Bring the files to the newest texts, and sweep what was never acknowledged.

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


def _finish_archive(working_copy: WorkingCopy, waiting: Iterable[File]) -> None:
    """Add what is archived before the file it left is replaced, so that it is never missing."""
    for file in waiting:
        change = working_copy.state.archived_with(file)
        if change is not None:
            append_archived(working_copy, change.archived)


def _exchange(working_copy: WorkingCopy, file: File, now: datetime) -> bool:
    """Let the text that waits for a file trade places with it; return whether it did.

    What a person saved there meanwhile is merged first. What is displaced lies beside the file
    afterwards. Where the file has the waiting text already, that is synced and the other removed.
    """
    found = working_copy.read_now(file)
    if working_copy.is_locked_by_editor(file, found):
        return False
    state = working_copy.state
    incoming = working_copy.incoming_text(file, found)
    text = working_copy.merged_text(file, found, incoming)
    etag, newest = state.etag(text), state.heads[file]
    is_known = working_copy.is_merged(file, found.text)
    if etag != newest or (incoming.removed and not is_known):
        _record_edit(working_copy, file, text, found.text, incoming, now)
    prepared, target = working_copy.prepared(file, etag), working_copy.target(file)
    if found.text == text:
        # A hand or a backup put it there. Two equal texts could trade places without an end.
        sync_file(target)
        sync_folder(target.parent)
        remove(prepared)
    elif not take_mode(prepared, target):
        return False
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
    """Merge what was displaced, and remove what nobody waits for; `exchanged`: right before."""
    displaced: list[tuple[File, Path]] = []
    for file, path in _temporaries(working_copy):
        tag = tag_of(path, working_copy.target(file))
        if _is_written_again(working_copy, file, path):
            continue
        if not _is_prepared(working_copy, path, tag):
            displaced.append((file, path))
        elif working_copy.state.heads.get(file) != tag:
            if working_copy.state.is_lost and len(tag) >= ETAG_LENGTH:
                _add_lines_of(working_copy, file, path, now)
            remove(path)
    # Before any of them goes: else a power cut could take the exchange and the waiting text.
    for folder in {path.parent for _, path in displaced}:
        sync_folder(folder)
    for file, path in displaced:
        _merge_displaced(working_copy, file, path, now, is_exchanged=file in exchanged)


def _add_lines_of(working_copy: WorkingCopy, file: File, path: Path, now: datetime) -> None:
    """Add the lines of a text that was prepared when the state was lost: it may be acknowledged."""
    found, displaced = working_copy.read_now(file), read_when_closed(path, working_copy.root)
    if displaced is None or found.problem:
        return
    text = merged("", displaced.text, found.text)
    if text != found.text:
        incoming = working_copy.incoming_text(file, displaced)
        _record_edit(working_copy, file, text, displaced.text, incoming, now)


def _is_written_again(working_copy: WorkingCopy, file: File, path: Path) -> bool:
    """Write a waiting text that was damaged once more, as the state has it.

    Returns whether it did.
    """
    text = working_copy.state.known_text(file, "")
    if text is None or not working_copy.is_damaged(file, path):
        return False
    target = working_copy.target(file)
    prepare(path, target, text)
    sync_folder(target.parent)
    return True


def _is_prepared(working_copy: WorkingCopy, path: Path, tag: str) -> bool:
    """Whether a text under a name of ours was prepared, whole or half; else it was displaced."""
    if len(tag) < ETAG_LENGTH:
        return True
    return working_copy.has_text_of(path, tag) or not os.path.lexists(path)


def _merge_displaced(
    working_copy: WorkingCopy, file: File, path: Path, now: datetime, *, is_exchanged: bool
) -> None:
    """Merge what an exchange displaced, where it was more than the text before, then remove it.

    While somebody still writes to it, it stays where it is for the next holder of the lock.
    """
    state, by = working_copy.state, tag_of(path, working_copy.target(file))[:ETAG_LENGTH]
    try:
        found = read_when_closed(path, working_copy.root)
    except UnreadableNote:
        if state.etag(working_copy.read_now(file).text) == by:
            # Back in its place: whoever saved it is told at the next reading.
            displace(path, working_copy.target(file))
        raise
    if found is None or found.is_open:
        return
    if not working_copy.is_merged(file, found.text, by):
        incoming = working_copy.incoming_text(file, found)
        newest = working_copy.newest_text(file)
        text = _merged_with(newest, working_copy, file, incoming, by, is_exchanged=is_exchanged)
        if text != newest or incoming.removed:
            _record_edit(working_copy, file, text, found.text, incoming, now)
    remove(path)


def _merged_with(
    newest: str,
    working_copy: WorkingCopy,
    file: File,
    incoming: IncomingText,
    by: str,
    *,
    is_exchanged: bool,
) -> str:
    """`newest` with what a displaced text changed; `by` is the etag of what displaced it."""
    displaced = incoming.text
    base = working_copy.base_of(incoming, working_copy.state.past_texts(file, before=by))
    # A text of ours has no forgotten line.
    is_displaced = is_exchanged or incoming.removed > 0
    if not is_displaced and _is_damaged_text_of_ours(working_copy, file, displaced, by):
        displaced = only_added(base, newest, displaced)
    return merged_displaced(base, newest, displaced)


def _is_damaged_text_of_ours(working_copy: WorkingCopy, file: File, text: str, by: str) -> bool:
    """Whether a text found after a crash seems to be the waiting one, damaged: it only adds lines.

    Then it was never displaced, and lies beside a file that a person changed. A text that was
    displaced stood in the file before the newest did, so nobody can have made it of that one; `by`
    is the etag of what displaced it.
    """
    state = working_copy.state
    newest = state.heads.get(file, "")
    if newest != by or state.etag(working_copy.read_now(file).text) == newest:
        return False
    past = state.past_texts(file)
    return merge_base(text, past, state.line) == state.known_text(file, "")


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


def _record_edit(
    working_copy: WorkingCopy,
    file: File,
    text: str,
    found: str,
    incoming: IncomingText,
    now: datetime,
) -> None:
    """Record the merge of what a person saved as their edit; its text then lies prepared."""
    state = working_copy.state
    newest = working_copy.newest_text(file)
    current = working_copy.fresh_view().current
    before = replace(current.with_texts({file: newest}), ledger=state.ledger)
    delta = reconciled(before, before.with_texts({file: text}))
    edit = ManualEdit(newest, text, found, incoming.text, incoming.removed)
    record = edit_record(state.ledger.sequence + 1, now, {file: edit}, delta, state.etag)
    acknowledge(working_copy, [record], {file: text}, (newest, incoming.text))


def set_note_aside(working_copy: WorkingCopy, file: File, now: datetime) -> str:
    """Give a note that is no text another name, and put its newest known text in its place.

    Returns the other name, empty where it is a text meanwhile. Raises `StoreError` where no text of
    it is known. The caller holds the lock.
    """
    path, state = working_copy.path(file), working_copy.state
    text = state.known_text(file, "")
    if text is None:
        raise StoreError(f"{path}: no earlier text of it is known. Nothing was changed.")
    prepared = temporary_for(path, state.etag(text))
    prepare(prepared, path, text)
    displaced = displace(prepared, path)
    try:
        if displaced is not None:
            read_when_closed(displaced, working_copy.root)
    except UnreadableNote:
        names = (path.with_name(f"{path.name}.unreadable{number or ''}") for number in count())
        aside = presence.first_unused(names)
        with store_errors("rename", displaced or path):
            move(displaced or path, aside)
        sync_folder(path.parent)
        return aside.name
    publish(working_copy, now)  # a person saved a text right before: it is merged
    return ""


def append_archived(working_copy: WorkingCopy, archived: str) -> None:
    """Add what a change archived to the end of the archive, unless it is there.

    If a crash left the first half of it at the end, the rest is added.
    """
    path, data = working_copy.target(File.ARCHIVE), archived.encode()
    with store_errors("read", path):
        try:
            standing = read_whole(path)
        except FileNotFoundError:
            standing = b""
    if b"\n" + data in b"\n" + standing:
        return
    # A power cut may have left blanks of the disk. Nothing else is cut: a person may be saving.
    text = standing.rstrip(b"\0")
    half = _length_of_half(text, data)
    is_line_open = not half and text and not text.endswith((b"\n", b"\r"))
    added = b"\n" + data if is_line_open else data[half:]
    append_synced(path, added, at=len(text) if text != standing else None)


def _length_of_half(standing: bytes, data: bytes) -> int:
    """Return how many of the first bytes of `data` are the last lines of `standing`."""
    blank = len(data) - len(data.lstrip(b"\r\n"))
    block = data[blank:]
    first_line = block.partition(b"\n")[0]
    last_line = max(standing.rfind(b"\n"), standing.rfind(b"\r")) + 1
    if last_line < len(standing) and first_line.startswith(standing[last_line:]):
        return blank + len(standing) - last_line
    pattern = re.compile(rb"^" + re.escape(first_line), re.MULTILINE)
    for found in pattern.finditer(standing, max(0, len(standing) - len(block))):
        if block.startswith(standing[found.start() :]):
            return blank + len(standing) - found.start()
    return 0
