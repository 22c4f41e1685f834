"""The steps of a forgetting: a text removed from everything a channel keeps.

The files are cleaned by a commit like any other. Then all that was changed before is dropped from
the state, and the past texts that a merge needs stay without the forgotten lines. What a crash cut
off, the next holder of the lock finishes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec import Struct

from pipimem.errors import StoreError, UnreadableNote
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import Delta, Record, Tombstone
from pipimem.notes.notes import Outcome
from pipimem.notes.operations import Author, Decision
from pipimem.state.changes import FORGET
from pipimem.state.sqlite import remove_set_aside
from pipimem.store.caches.channel_caches import drop_texts
from pipimem.store.commit.commit import Recalls, commit, record_edits
from pipimem.store.commit.manual_edits import View
from pipimem.store.commit.publish import is_unfinished, publish
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import editor_saves
from pipimem.store.disk.files import read_text
from pipimem.store.disk.syscalls import sync_folder
from pipimem.store.forget import plan as plans
from pipimem.store.forget.cleaning import clean_archive, is_archive_being_saved, lines_removed
from pipimem.store.forget.log_lines import clean_talk
from pipimem.store.forget.plan import Plan
from pipimem.store.forget.targets import ForgetTargets, blanked_ledger, without
from pipimem.store.forget.verify import (
    Forgotten,
    changes_of,
    held_in_text,
    receipt_of,
    record_of,
)
from pipimem.store.merge.forgotten_lines import mark_of
from pipimem.store.transcript.log import Transcript
from pipimem.store.workspace_state import WorkspaceState

# What an editor saves meanwhile is merged, and may hold the words again. Nobody saves more often
# than this.
_TRIES = 5
_PAUSE = 0.005


def forget(
    working_copy: WorkingCopy,
    log: Transcript,
    what: str | Sequence[str],
    keep_transcript: bool,
    now: datetime,
    actor: str,
    inside_words: bool = False,
    with_learnt: bool = False,
) -> Forgotten:
    """Removes a text, or the entries of some ids, everywhere; returns how much held it.

    With `with_learnt` what was learnt from the messages among the ids goes, too. Undo of what came
    before ends with it. Where nothing holds a text, nothing is changed. The caller holds the lock.
    Raises `StoreError` with nothing forgotten while an editor saves a file; where one begins later,
    the forgetting stays under way.
    """
    if is_being_saved(working_copy):
        raise _is_in_the_way(working_copy)
    # The usage ledger of an older version may quote it; what is taken over quotes nobody.
    WorkspaceState(working_copy.root / ".pipimem").take_over()
    plan_for = partial(plans.plan_for, working_copy, log, what, keep_transcript, actor)
    plan_for = partial(plan_for, inside_words=inside_words, with_learnt=with_learnt)
    forgetting, receipt = _planned(working_copy, log, now, plan_for)
    if receipt.is_empty:
        if keep_transcript:  # which may hold it: it is not learnt from there
            forgetting.commit()
        return receipt
    plans.begin(working_copy, forgetting.plan, forgetting.marks())
    forgetting.carry_out(receipt)
    return receipt


def _is_in_the_way(working_copy: WorkingCopy) -> StoreError:
    return StoreError(
        f"{working_copy.folder}: an editor is saving a file. Nothing was forgotten; save, and "
        "try again."
    )


def _planned(
    working_copy: WorkingCopy, log: Transcript, now: datetime, plan_for: Callable[[], Plan]
) -> tuple[_Forgetting, Forgotten]:
    """What to forget, and how much holds it, once what people saved is recorded.

    That nothing holds it is not believed while somebody is saving: half of a save may lack the
    words. Raises `StoreError` where that takes longer than `save_deadline` allows.
    """
    deadline = editor_saves.save_deadline()
    while True:
        record_edits(working_copy, now)
        forgetting = _Forgetting(working_copy, log, plan_for(), now)
        receipt = forgetting.receipt()
        if not receipt.is_empty or _is_settled(working_copy):
            return forgetting, receipt
        if time.monotonic() > deadline:
            raise _is_in_the_way(working_copy)
        time.sleep(_PAUSE)


def _is_settled(working_copy: WorkingCopy) -> bool:
    """Whether nobody has saved a file since edits were recorded, or is at it."""
    view = working_copy.fresh_view()
    return not view.edited and not view.locked


def is_under_way(working_copy: WorkingCopy) -> bool:
    """Whether a forgetting has begun and not ended; the next holder of the lock goes on with it."""
    return plans.load(working_copy) is not None


def resume(working_copy: WorkingCopy, log: Transcript, now: datetime) -> None:
    """Goes on with a forgetting that was cut off, if there is one and nobody is saving a file.

    It waits while a file cannot be read as a text, or its plan is damaged; `doctor` reports both.
    """
    plan = plans.load(working_copy)
    if plan is None:
        return
    forgetting = _Forgetting(working_copy, log, plan, now)
    with suppress(UnreadableNote):
        if not is_being_saved(working_copy):
            forgetting.carry_out(forgetting.receipt())


def is_being_saved(working_copy: WorkingCopy) -> bool:
    """Whether somebody is halfway through saving one of the files, or the archive."""
    if any(
        working_copy.is_locked_by_editor(file, working_copy.read_now(file)) for file in NOTE_FILES
    ):
        return True
    return is_archive_being_saved(working_copy.path(File.ARCHIVE), working_copy.root)


class _Forgetting(Struct, frozen=True):
    """A plan and the channel it is carried out in; the caller holds the lock."""

    working_copy: WorkingCopy
    log: Transcript
    plan: Plan
    now: datetime

    @property
    def _targets(self) -> ForgetTargets:
        return self.plan.targets

    def receipt(self) -> Forgotten:
        """How much holds the targets right now."""
        return receipt_of(self.working_copy, self.log, self.plan)

    def marks(self) -> set[str]:
        """Return the marks of the lines that are to go: a save that has them is merged without."""
        copy = self.working_copy
        texts = [read_text(copy.path(file), copy.root) or "" for file in File]
        past = (each for file in NOTE_FILES for each in copy.past_texts(file))
        texts += ["".join(map(copy.state.line, each.lines)) for each in past]
        lines = {line for text in texts for line in lines_removed(text, self._targets, copy.key)}
        return {mark_of(copy.key, line) for line in lines}

    def carry_out(self, receipt: Forgotten) -> None:
        """Does what the plan says, then removes it; an editor that saves meanwhile ends it early.

        Begins again where a person put the words back in the middle: after the end they would
        count as typed anew.
        """
        for _ in range(_TRIES):
            if not self._clean_everything():
                return
            if not self._is_in_notes():
                self._end(receipt)
                return

    def _end(self, receipt: Forgotten) -> None:
        """Remove the targets from the state, and with them the plan."""
        copy, key = self.working_copy, self.working_copy.key
        ledger = blanked_ledger(copy.state.ledger, self._targets, self.log.messages())
        change = record_of(ledger, self.plan, receipt, self.now)
        copy.state.end_forgetting(
            change,
            ledger,
            lambda text: without(text, self._targets, key)[0],
            lambda line: mark_of(key, line),
        )
        remove_set_aside(_own(copy))
        copy.clear()

    def _is_in_notes(self) -> bool:
        return any(held_in_text(self.working_copy, file, self._targets) for file in NOTE_FILES)

    def _clean_everything(self) -> bool:
        """Remove the targets from all files but the state, once; `False` if somebody is saving."""
        working_copy = self.working_copy
        drop_texts(_own(working_copy))
        if not self.commit() or not self._clean_archive():
            return False
        if not self.plan.keep_transcript:
            clean_talk(self.log, self._targets, working_copy.key)
        # Before the plan goes: a power cut must not bring back what was removed.
        for folder in (working_copy.folder, _own(working_copy)):
            sync_folder(folder)
        return True

    def commit(self) -> bool:
        """Removes the entries from the files, as a commit; whether all files are without them."""
        what = Decision(FORGET, Author.PERSON)
        copy, now, actor = self.working_copy, self.now, self.plan.actor
        for _ in range(_TRIES):
            commit(copy, what, now, actor, now, Recalls(), insists=True, carry_out=self._outcome)
            # A commit leaves to others what the disk refused behind it; here it is raised.
            publish(copy, now)
            # Half of a save lacks words that its rest brings back.
            if is_unfinished(copy) or is_being_saved(copy):
                return False
            if not self._is_in_notes():
                return True
        return False

    def _outcome(self, _: WorkingCopy, view: View) -> Outcome:
        """The texts without the targets, and tombstones against learning them from older talk."""
        texts: dict[File, str] = {}
        for file in NOTE_FILES:
            text = view.current.note(file).text
            kept = without(text, self._targets, self.working_copy.key)[0]
            if kept != text:
                texts[file] = kept
        known = view.current.ledger.records
        records: dict[str, Record | None] = {name: None for name in self.plan.ids if name in known}
        tombstones: dict[str, Tombstone | None] = {
            name: Tombstone("forgotten", self.log.last_number) for name in self.plan.ids
        }
        delta = Delta(records, tombstones, forgets_asked=True)
        return Outcome(texts, delta=delta, changes=changes_of(texts))

    def _clean_archive(self) -> bool:
        """Clean the archive, behind the commit: what that archives is found by the old size."""
        copy, targets = self.working_copy, self._targets
        archive = copy.path(File.ARCHIVE)
        return clean_archive(archive, copy.root, lambda text: without(text, targets, copy.key)[0])


def _own(working_copy: WorkingCopy) -> Path:
    return working_copy.folder / ".pipimem"
