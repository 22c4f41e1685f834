"""Texts that the journal has, put in the place of their files; what they displace is looked at again.

A person may save at any instant. So a file is never overwritten: the two trade places, and whatever lay there
is read once nobody writes to it any more. A text nobody knew is merged, and journalled before it goes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pipimem.errors import StoreError, UnreadableNote
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Change, Note, Notes, etag
from pipimem.notes.operations import Author
from pipimem.notes.reconciled import reconciled
from pipimem.store.commits.ancestry import nearest, newest_of
from pipimem.store.commits.archive import append_archived
from pipimem.store.commits.desk import KEPT, Desk, View, prepared_path
from pipimem.store.commits.merging import merged, only_added
from pipimem.store.commits.settling import PATIENCE
from pipimem.store.disk.calls import read_whole, told
from pipimem.store.disk.exchanging import displace
from pipimem.store.disk.files import (
    TEMPORARY,
    Reading,
    own_text,
    prepare,
    read,
    remove,
    resolved,
    tag_of,
    temporary_for,
)
from pipimem.store.disk.sightings import is_unread
from pipimem.store.journal.records import FileChange, JournalRecord
from pipimem.store.journal.versions import NAME_LENGTH
from pipimem.text.splices import splices_between

# A person cannot save more often between a reading and the exchange right after it, a script might.
_TRIES = 5
_PAUSE = 0.005
# No etag: a crash leaves nothing to look at, the forgetting is done again.
_REWRITTEN = "left"


def place(desk: Desk, file: File, now: datetime) -> bool:
    """Brings a file to the text the journal left it with; the caller holds the lock.

    Whether it stands there now, and nothing else came between. A file somebody is writing to is left for the
    next holder of the lock: the text waits beside it.
    """
    is_alone = True
    for _ in range(_TRIES):
        reading = desk.look(file)
        if desk.is_held(file, reading):
            return False
        text = desk.taken_in(file, reading)
        mark = desk.state.ledger.etags[file]
        if etag(text) != mark:
            _record_edit(desk, file, text, reading.text, now, is_placed=not desk.is_pending(file))
            is_alone = False
            continue
        path = prepared_path(desk, file, mark)
        if reading.text == text:
            if desk.is_pending(file):
                remove(path)
            return is_alone
        if not desk.is_pending(file):
            prepare(path, resolved(desk.path(file), desk.root), text, mark, synced=not desk.state.boot)
        displaced = displace(path, resolved(desk.path(file), desk.root))
        if displaced is None:
            desk.state.unread.note(file, etag(""))
        if displaced is None or _is_looked_at(desk, file, displaced, reading.text, now):
            return is_alone
        is_alone = False
    return False


def heal(desk: Desk, now: datetime) -> None:
    """Finishes what a crash cut off, and sweeps what was never acknowledged. The caller holds the lock."""
    for file, left in _leftovers(desk).items():
        if not left and file not in desk.state.unsettled:
            continue
        target = resolved(desk.path(file), desk.root)
        # What was displaced first: a person's words may lie in it.
        for path in left:
            if _is_ours(path, target):
                if not _is_wanted(desk, file, path, target):
                    remove(path)
            elif desk.is_torn_leftover(file, path, tag_of(path, target)):
                remove(path)
            else:
                _is_looked_at(desk, file, path, None, now)
        if (left and desk.is_pending(file)) or desk.is_torn(file):
            # The archive goes before the file that what is archived left: with that one in place, it is whole.
            record = desk.state.archived
            if record is not None and file in record.files and _is_newest(desk, file, record.files[file].after):
                append_archived(desk, record)
            place(desk, file, now)


def rewrite(path: Path, left: Callable[[str], str], root: Path) -> None:
    """Puts `left(text)` in the place of a text, whatever people save meanwhile: what is displaced is rewritten
    too, and merged."""
    target = resolved(path, root)
    reading = read(path, root)
    seen = reading.text if reading else ""
    wanted = left(seen)
    for _ in range(_TRIES):
        if wanted == seen:
            return
        ready = temporary_for(target, _REWRITTEN)
        prepare(ready, target, wanted)
        displaced = displace(ready, target)
        found = _quiet(displaced, root) if displaced else None
        if displaced is None or found is None:
            return
        remove(displaced)
        if found.text == seen:
            return
        seen, wanted = wanted, left(merged(seen, wanted, found.text))


def is_unfinished(desk: Desk) -> bool:
    """Whether a text still waits for its file, or a displaced one to be looked at."""
    return any(_leftovers(desk).values())


def _leftovers(desk: Desk) -> dict[File, list[Path]]:
    """The texts that lie beside each file under names of ours: one look at their folder."""
    found: dict[File, list[Path]] = {}
    listed: dict[Path, list[str]] = {}
    for file in KEPT:
        target = resolved(desk.path(file), desk.root)
        folder = target.parent
        if folder not in listed:
            with told("read", folder):
                listed[folder] = sorted(name for name in os.listdir(folder) if name.endswith(TEMPORARY))  # noqa: PTH208 - names
        found[file] = [folder / name for name in listed[folder] if name.startswith(f".{target.name}.")]
    return found


def edit_record(desk: Desk, view: View, sequence: int, stamp: str) -> JournalRecord:
    """What people changed, as a record of its own."""
    changes = {
        file: file_change(
            view.left.note(file).text, view.now.note(file).text,
            found="" if view.stands(file) else view.disk[file].text,
            unseen=desk.is_pending(file),
        )
        for file in view.edited
    }  # fmt: skip
    return _edit_record(sequence, stamp, changes, view.delta, {file: view.left.note(file).text for file in changes})


def file_change(before: str, after: str, *, found: str = "", unseen: bool = False) -> FileChange:
    """From one text to another; `found` is the person's text that was merged, to be kept as a version."""
    return FileChange(etag(before), etag(after), splices_between(before, after), etag(found) if found else "", unseen)


def _is_looked_at(desk: Desk, file: File, path: Path, expected: str | None, now: datetime) -> bool:
    """Takes in what an exchange displaced, then removes it; whether it was what was expected, or nothing new.

    While somebody still writes to it, it stays where it is for the next holder of the lock.
    """
    target = resolved(desk.path(file), desk.root)
    try:
        reading = _quiet(path, desk.root)
    except UnreadableNote:
        if file in desk.state.unsettled and desk.state.may_be_torn(file, read_whole(path)):
            remove(path)
            return True
        displace(path, target)  # back in its place: whoever saved it is told at the next reading
        raise
    if reading is None:
        return True
    if reading.is_open:
        return False
    state, tag = desk.state, tag_of(path, target)
    newest = state.known_text(file, "") or ""
    known = state.stood(file, newest=True, before=tag[:NAME_LENGTH])
    last = newest_of(known)
    if last is not None and is_unread(reading.mark, mark := etag(last)):
        state.unread.note(file, mark)
    if reading.text in (expected, newest, last):
        remove(path)
        return True
    text = _brought_together(nearest(reading.text, known), newest, reading.text)
    if text != newest:
        _record_edit(desk, file, text, reading.text, now, is_placed=True)
    remove(path)
    return text == newest


def _brought_together(base: str, ours: str, displaced: str) -> str:
    """`ours` with what a displaced text changed; one that lacks half of its base may be half of a save, whose
    writer went on by name or was killed: what it lacks is not taken for deleted."""
    if len(displaced.strip()) * 2 < len(base.strip()) or not displaced.endswith(("\n", "\r")):
        displaced = only_added(base, ours, displaced)
    return merged(base, ours, displaced)


def _quiet(path: Path, root: Path) -> Reading | None:
    """A displaced file once nobody writes to it any more, or as it is when our patience ends."""
    deadline = time.monotonic() + PATIENCE
    while True:
        reading = read(path, root)
        if reading is None or not reading.is_open or time.monotonic() > deadline:
            return reading
        time.sleep(_PAUSE)


def _is_ours(path: Path, target: Path) -> bool:
    """Whether a text beside a file is one we prepared, whole or half; else it was displaced from its place."""
    tag = tag_of(path, target)
    if len(tag) < NAME_LENGTH:
        return True
    text = own_text(path)
    return not path.exists() if text is None else etag(text).startswith(tag)


def _is_wanted(desk: Desk, file: File, path: Path, target: Path) -> bool:
    return desk.state.ledger.etags.get(file, "").startswith(tag_of(path, target))


def _is_newest(desk: Desk, file: File, mark: str) -> bool:
    return desk.state.ledger.etags.get(file) == mark


def _record_edit(desk: Desk, file: File, text: str, found: str, now: datetime, *, is_placed: bool) -> None:
    """Journals a person's text, merged with ours, as their edit of ours; the merged one then lies ready.

    Only from here on does the person's text count as seen: it and the merge are durable.
    """
    state = desk.state
    ours = state.known_text(file, "") or ""
    texts = {each: desk.on_disk(each) for each in KEPT}
    old, new = _notes_of(desk, {**texts, file: ours}), _notes_of(desk, {**texts, file: text})
    former = prepared_path(desk, file, etag(ours)) if desk.is_pending(file) else None
    state.anchor(file, ours)
    state.versions.keep(file, ours, synced=False)
    if found != text:
        path, target = prepared_path(desk, file, etag(text)), resolved(desk.path(file), desk.root)
        prepare(path, target, text, etag(text), synced=not state.boot)
    change = file_change(ours, text, found=found if found != text else "", unseen=not is_placed)
    stamp = now.isoformat(timespec="seconds")
    record = _edit_record(state.ledger.sequence + 1, stamp, {file: change}, reconciled(old, new), {file: ours})
    state.append([record], {file: text})
    if found != text:
        # Only now: a text that was kept and not merged would later be taken for one that was.
        state.versions.keep(file, found, synced=False)
    if former is not None:
        remove(former)


def _edit_record(
    sequence: int, stamp: str, changes: dict[File, FileChange], delta: Delta, left: dict[File, str]
) -> JournalRecord:
    return JournalRecord(
        sequence, stamp, "edit", Author.EDITOR,
        changes=tuple(_edited(file, change) for file, change in changes.items()), files=changes,
        notes=tuple(note for file, change in changes.items() if (note := _shrunk(file, change, left[file]))),
        delta=replace(delta, etags={file: change.after for file, change in changes.items()}),
    )  # fmt: skip


def _edited(file: File, change: FileChange) -> Change:
    gone, came = _lines_of(change)
    return Change("edited", file, "", reason=f"{gone} lines out, {came} lines in")


def _shrunk(file: File, change: FileChange, left: str) -> str:
    """A sentence where a hand took out more than half of a file: it is done, but not in silence."""
    gone = sum(len(line) for splice in change.splices for line in splice.removed)
    came = sum(len(line) for splice in change.splices for line in splice.added)
    if 2 * (gone - came) <= len(left):
        return ""
    return (
        f"{file} lost more than half of its text by hand ({len(left)} characters before, {len(left) - gone + came} "
        f"now). The text before is kept as .pipimem/versions/{file}.{change.before[:NAME_LENGTH]}."
    )


def _lines_of(change: FileChange) -> tuple[int, int]:
    return sum(len(splice.removed) for splice in change.splices), sum(len(splice.added) for splice in change.splices)


def _notes_of(desk: Desk, texts: dict[File, str]) -> Notes:
    notes = desk.fresh().now
    for file, text in texts.items():
        notes = notes.having(Note.read(file, text, desk.key))
    return replace(notes, ledger=desk.state.ledger)


def dropped(prepared: Iterable[Path]) -> None:
    """Removes prepared texts nobody waits for, as far as the disk lets it."""
    for path in prepared:
        try:
            remove(path)
        except StoreError:  # the next holder of the lock sweeps; what went wrong first is being told
            pass
