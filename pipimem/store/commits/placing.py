"""Texts of the journal put in the place of their files, and what they displace looked at.

A person may save at any instant. So a file is never overwritten: the two trade places, and whatever
lay there is read once nobody writes to it any more. A text nobody knew is merged, and journalled
before it goes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pipimem.errors import UnreadableNote
from pipimem.notes.files import File
from pipimem.notes.notes import etag
from pipimem.notes.reconciled import reconciled
from pipimem.store.commits.acknowledging import acknowledge
from pipimem.store.commits.archive import append_archived
from pipimem.store.commits.desk import KEPT, Desk, is_text_of, prepared_path
from pipimem.store.commits.edits import edit_record, file_change
from pipimem.store.commits.forgotten_lines import Save
from pipimem.store.commits.merge_base import merge_base
from pipimem.store.commits.merging import merged, only_added
from pipimem.store.commits.settling import PATIENCE
from pipimem.store.disk.calls import sync_folder, told
from pipimem.store.disk.exchanging import displace
from pipimem.store.disk.files import (
    TEMPORARY,
    Reading,
    is_regular,
    own_text,
    prepare,
    read,
    remove,
    resolved,
    sync_file,
    tag_of,
)
from pipimem.store.journal.versions import NAME_LENGTH

# A person cannot save more often between a reading and the exchange right after it, a script might.
_TRIES = 5
_PAUSE = 0.005


def put_in_place(desk: Desk, now: datetime) -> None:
    """Brings the files to the journal's texts, and sweeps what was never acknowledged.

    This is the end of a commit, and what the next holder of the lock does after a crash. A file
    somebody is writing to is left to the next holder: the text waits beside it. The caller holds
    the lock.
    """
    _look_at_leftovers(desk, now)
    for _ in range(_TRIES):
        waiting = [file for file in KEPT if desk.is_pending(file)]
        _finish_archive(desk, waiting)
        exchanged = [_exchange(desk, file, now) for file in waiting]
        if not any(exchanged):
            return
        _look_at_leftovers(desk, now)


def is_unfinished(desk: Desk) -> bool:
    """Whether a text still waits for its file, or a displaced one to be looked at."""
    return next(_leftovers(desk), None) is not None


def _finish_archive(desk: Desk, waiting: Collection[File]) -> None:
    """Adds what is archived before the file it left is replaced, so that it is never missing."""
    record = desk.state.archived
    if record is None:
        return
    for file, change in record.files.items():
        if file in waiting and desk.state.ledger.etags[file] == change.after:
            append_archived(desk, record)


def _exchange(desk: Desk, file: File, now: datetime) -> bool:
    """Lets the text that waits for a file trade places with it; whether it did.

    What a person saved there meanwhile is taken in first. What is displaced lies beside the file
    afterwards. Where the file has the waiting text already, that is synced and the other removed.
    """
    reading = desk.look(file)
    if desk.is_held(file, reading):
        return False
    text, save = desk.taken_in(file, reading), desk.save_of(file, reading.text)
    mark, newest = etag(text), desk.state.ledger.etags[file]
    is_told = etag(save.marked) in desk.state.replaced_by(file, newest)
    if mark != newest or (save.taken_out and not is_told):
        _journal_edit(desk, file, text, save, now)
    ready, target = prepared_path(desk, file, mark), resolved(desk.path(file), desk.root)
    if reading.text == text:
        # A hand or a backup put it there. Two equal texts could trade places for ever.
        sync_file(target)
        sync_folder(target.parent)
        remove(ready)
    else:
        displace(ready, target)
    return True


def _leftovers(desk: Desk) -> Iterator[tuple[File, Path]]:
    """The texts that lie beside each file under names of ours."""
    for file in KEPT:
        for path in beside(resolved(desk.path(file), desk.root)):
            yield file, path


def beside(target: Path) -> list[Path]:
    """The texts that lie beside a file under names of ours."""
    with told("read", target.parent):
        names = sorted(os.listdir(target.parent))  # noqa: PTH208 - names
    wanted = f".{target.name}."
    return [
        target.parent / name
        for name in names
        if name.startswith(wanted) and name.endswith(TEMPORARY)
    ]


def _look_at_leftovers(desk: Desk, now: datetime) -> None:
    """Takes in what was displaced, and removes what nobody waits for."""
    displaced: list[tuple[File, Path]] = []
    for file, path in _leftovers(desk):
        tag = tag_of(path, resolved(desk.path(file), desk.root))
        if _is_written_again(desk, file, path):
            continue
        if not _is_prepared(path, tag):
            displaced.append((file, path))
        elif not desk.state.ledger.etags.get(file, "").startswith(tag):
            remove(path)
    # Before any of them goes: else a power cut could take the exchange and the waiting text.
    for folder in {path.parent for _, path in displaced}:
        sync_folder(folder)
    for file, path in displaced:
        _take_in_displaced(desk, file, path, now)


def _is_written_again(desk: Desk, file: File, path: Path) -> bool:
    """Writes a waiting text that was damaged once more, as the journal has it; whether it did.

    What lay there is kept as a version, where it is a text.
    """
    text = desk.state.known_text(file, "")
    if text is None or not desk.is_damaged(file, path):
        return False
    if is_regular(path) and (found := own_text(path)):
        desk.state.versions.keep(file, found)
    target = resolved(desk.path(file), desk.root)
    prepare(path, target, text)
    sync_folder(target.parent)
    return True


def _is_prepared(path: Path, tag: str) -> bool:
    """Whether a text under a name of ours was prepared, whole or half; else it was displaced."""
    if len(tag) < NAME_LENGTH:
        return True
    return is_text_of(path, tag) or not os.path.lexists(path)


def _take_in_displaced(desk: Desk, file: File, path: Path, now: datetime) -> None:
    """Merges what an exchange displaced, where it was more than the text before, then removes it.

    While somebody still writes to it, it stays where it is for the next holder of the lock.
    """
    target = resolved(desk.path(file), desk.root)
    try:
        reading = quiet(path, desk.root)
    except UnreadableNote:
        if etag(desk.on_disk(file)).startswith(tag_of(path, target)[:NAME_LENGTH]):
            displace(
                path, target
            )  # back in its place: whoever saved it is told at the next reading
        raise
    if reading is None or reading.is_open:
        return
    before = tag_of(path, target)[:NAME_LENGTH]
    save = desk.save_of(file, reading.text)
    if etag(save.marked) not in desk.state.replaced_by(file, before):
        newest = desk.state.known_text(file, "") or ""
        past = desk.state.past_texts(file, before=before)
        base, displaced = merge_base(save.text, past), save.text
        if desk.state.ledger.etags.get(file, "").startswith(before) and desk.is_made_of_newest(
            file, displaced
        ):
            # It was never displaced: our waiting text, damaged, beside a file that a person changed. A text that was
            # displaced stood in the file before the newest did, so nobody can have made it of that one.
            displaced = only_added(base, newest, displaced)
        text = brought_together(base, newest, displaced)
        if text != newest or save.taken_out:
            _journal_edit(desk, file, text, save, now)
    remove(path)


def brought_together(base: str, ours: str, displaced: str) -> str:
    """`ours` with what a displaced text changed; one that lacks half of its base may be half of
    a save, whose writer went on by name or was killed: what it lacks is not taken for deleted.
    """
    if len(displaced.strip()) * 2 < len(base.strip()) or not displaced.endswith(("\n", "\r")):
        displaced = only_added(base, ours, displaced)
    return merged(base, ours, displaced)


def quiet(path: Path, root: Path) -> Reading | None:
    """A displaced file once nobody writes to it any more, or as it is when our patience ends."""
    deadline = time.monotonic() + PATIENCE
    while True:
        reading = read(path, root)
        if reading is None or not reading.is_open or time.monotonic() > deadline:
            return reading
        time.sleep(_PAUSE)


def _journal_edit(desk: Desk, file: File, text: str, save: Save, now: datetime) -> None:
    """Journals the merge of ours and what a person saved as their edit; it then lies ready."""
    state = desk.state
    ours = state.known_text(file, "") or ""
    old = replace(desk.fresh().now.with_texts({file: ours}), ledger=state.ledger)
    new = old.with_texts({file: text})
    changes = {file: file_change(ours, text, found=save.marked, unseen=desk.is_pending(file))}
    sequence, time_stamp = state.ledger.sequence + 1, now.isoformat(timespec="seconds")
    delta, taken_out = reconciled(old, new), {file: save.taken_out}
    record = edit_record(sequence, time_stamp, changes, delta, {file: ours}, taken_out)
    acknowledge(desk, [record], {file: ours}, {file: text}, {file: save.text})
