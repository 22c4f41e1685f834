"""The steps of a forgetting: a text removed from everything a channel keeps.

The files are cleaned first, the notes by a commit like any other. Then one transaction drops all
that was changed before, cleans the past texts that merges need, and takes the plan away. What a
crash cut off, the next holder of the lock finishes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from pipimem.errors import StoreError, UnreadableNote
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Delta
from pipimem.notes.notes import Outcome
from pipimem.store.commit.commit import record_edits
from pipimem.store.commit.manual_edits import View
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import editor_saves
from pipimem.store.disk.files import read_text
from pipimem.store.disk.syscalls import sync_folder
from pipimem.store.forget.places import (
    FILES,
    EditorSavesError,
    Forgetting,
    Forgotten,
    Plan,
    find_held,
    in_notes,
    in_state,
    is_being_saved,
    marks_of,
)
from pipimem.store.forget.targets import ForgetTargets, lines_that_go
from pipimem.store.transcript.log import Transcript
from pipimem.store.workspace_state import WorkspaceState
from pipimem.text.json_codec import CodecError, decoded, encoded
from pipimem.text.markdown.lines import split_lines

# An editor that saves again and again brings the words back each time.
_TRIES = 5
_PAUSE = 0.005


def forget(
    working_copy: WorkingCopy,
    log: Transcript,
    now: datetime,
    find: Callable[[], ForgetTargets],
) -> Forgotten:
    """Remove the targets from everything that a channel keeps; return how much held them.

    Undo of what came before ends with it. Where nothing holds them, nothing is changed. The caller
    holds the lock. Raises `StoreError` with nothing forgotten while an editor saves a file; where
    one begins later, the forgetting stays under way. Raises `UnreadableNote` for a note that is no
    text.
    """
    if is_being_saved(working_copy):
        raise _is_in_the_way(working_copy)
    # The usage ledger of an older version may quote it; what is taken over quotes nobody.
    WorkspaceState(working_copy.root / ".pipimem").take_over()
    targets, receipt = _found(working_copy, log, now, find)
    plan = Plan(targets, receipt)
    channel = Forgetting(working_copy, log, plan, now)
    if receipt.is_empty:
        if targets.keep_transcript:  # which may hold it: it is not learnt from there
            in_notes(channel, False)
        return receipt
    # What an editor brings back before the end is known by these.
    marks = marks_of(_lines_that_go(working_copy, targets), working_copy.key)
    working_copy.state.begin_forgetting(encoded(plan), marks)
    _carry_out(channel)
    return receipt


def _is_in_the_way(working_copy: WorkingCopy) -> StoreError | UnreadableNote:
    for unreadable in working_copy.unreadable.values():
        return UnreadableNote(
            f"{unreadable.problem} Nothing was forgotten. `pipimem doctor --fix` puts the last "
            "good text of a note that is no text in its place; settle a conflict by hand. Then try "
            "again."
        )
    return StoreError(
        f"{working_copy.folder}: an editor is saving a file. Nothing was forgotten; save, and "
        "try again."
    )


def _found(
    working_copy: WorkingCopy, log: Transcript, now: datetime, find: Callable[[], ForgetTargets]
) -> tuple[ForgetTargets, Forgotten]:
    """Return the targets, and how much holds them, once what people saved is recorded.

    That nothing holds them is not believed while somebody is saving: half of a save may lack the
    words. Raises `StoreError` where that takes longer than `save_deadline` allows.
    """
    deadline = editor_saves.save_deadline()
    while True:
        record_edits(working_copy, now)
        targets = find()
        channel = Forgetting(working_copy, log, Plan(targets), now)
        receipt = Forgotten.of(find_held(channel, (*FILES, in_state)))
        view = working_copy.fresh_view()
        if not receipt.is_empty or not (view.edited or view.locked):
            return targets, receipt
        if time.monotonic() > deadline:
            raise _is_in_the_way(working_copy)
        time.sleep(_PAUSE)


def _lines_that_go(working_copy: WorkingCopy, targets: ForgetTargets) -> set[str]:
    """Return the lines that go from the notes and the archive."""
    gone = set[str]()
    for file in File:
        text = read_text(working_copy.path(file), working_copy.root) or ""
        edits = [block.edit for block in targets.held_in(text)]
        gone |= lines_that_go(split_lines(text), edits)
    return gone


def is_under_way(working_copy: WorkingCopy) -> bool:
    """Return whether a forgetting has begun and not ended; the next holder of the lock goes on."""
    return _plan(working_copy) is not None


def _plan(working_copy: WorkingCopy) -> Plan | None:
    value = working_copy.state.plan
    with suppress(CodecError):  # a newer version finishes what it began
        return decoded(Plan, value) if value is not None else None
    return None


def resume(working_copy: WorkingCopy, log: Transcript, now: datetime) -> None:
    """Go on with a forgetting that was cut off, if there is one and nobody is saving a file.

    It waits while a file cannot be read as a text; `doctor` reports that.
    """
    plan = _plan(working_copy)
    if plan is None:
        return
    with suppress(UnreadableNote):
        if not is_being_saved(working_copy):
            _carry_out(Forgetting(working_copy, log, plan, now))


def _carry_out(channel: Forgetting) -> None:
    """Clean all places; an editor that saves meanwhile ends it early, with the plan kept.

    Begins again where a person put the words back in the middle: after the end they would count as
    typed anew.
    """
    with suppress(EditorSavesError):
        for _ in range(_TRIES):
            for place in FILES:
                place(channel, False)
            # Before the plan goes: a power cut must not bring back what was removed.
            for folder in (channel.working_copy.folder, channel.own):
                sync_folder(folder)
            if not find_held(channel, [in_notes]):
                in_state(channel, False)
                return


def without_what_was_read(_: WorkingCopy, __: View) -> Outcome:
    """Return no other text, but refuse from now on what was decided on talk of before.

    Recent questions go, for they may quote what was emptied.
    """
    return Outcome({}, delta=Delta(forgets_asked=True))
