"""The steps of a forgetting: a text removed from everything a channel keeps.

The files are cleaned by a commit like any other. Then the journal begins anew with one record that
has the whole ledger. Of the texts before it only what a merge needs stays, as versions without the
forgotten lines. What a crash cut off, the next holder of the lock finishes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import StoreError, UnreadableNote
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone
from pipimem.notes.notes import Outcome
from pipimem.notes.operations import Author, Decision
from pipimem.store.caches.channel_caches import drop_texts
from pipimem.store.commit.commit import Recalls, commit, journal_edits
from pipimem.store.commit.manual_edits import View
from pipimem.store.commit.publish import is_unfinished, publish
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import editor_saves, presence
from pipimem.store.disk.files import read_text, remove
from pipimem.store.disk.syscalls import sync_folder
from pipimem.store.forget import plan as plans
from pipimem.store.forget.cleaning import (
    clean_archive,
    clean_past,
    is_archive_being_saved,
    keep_past_of_archive,
    lines_removed,
)
from pipimem.store.forget.log_lines import clean_arrivals, clean_transcript
from pipimem.store.forget.plan import Plan
from pipimem.store.forget.targets import ForgetTargets, blanked_ledger, without
from pipimem.store.forget.verify import (
    Forgotten,
    changes_of,
    held_in_text,
    receipt_of,
    record_of,
)
from pipimem.store.journal.records import FORGET
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
    plans.save(_own(working_copy), forgetting.plan)
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
    """What to forget, and how much holds it, once what people saved is journalled.

    That nothing holds it is not believed while somebody is saving: half of a save may lack the
    words. Raises `StoreError` where that takes longer than `save_deadline` allows.
    """
    deadline = editor_saves.save_deadline()
    while True:
        journal_edits(working_copy, now)
        forgetting = _Forgetting(working_copy, log, plan_for(), now)
        receipt = forgetting.receipt()
        if not receipt.is_empty or _is_settled(working_copy):
            return forgetting, receipt
        if time.monotonic() > deadline:
            raise _is_in_the_way(working_copy)
        time.sleep(_PAUSE)


def _is_settled(working_copy: WorkingCopy) -> bool:
    """Whether nobody has saved a file since edits were journalled, or is at it."""
    view = working_copy.fresh_view()
    return not view.edited and not view.locked


def is_under_way(working_copy: WorkingCopy) -> bool:
    """Whether a forgetting has begun and not ended; the next holder of the lock goes on with it."""
    return plans.load(_own(working_copy)) is not None


def resume(working_copy: WorkingCopy, log: Transcript, now: datetime) -> None:
    """Goes on with a forgetting that was cut off, if there is one and nobody is saving a file.

    It waits while a file cannot be read as a text, or its plan is damaged; `doctor` reports both.
    """
    plan = plans.load(_own(working_copy))
    if plan is None:
        return
    forgetting = _Forgetting(working_copy, log, plan, now)
    with suppress(UnreadableNote):
        if not is_being_saved(working_copy):
            forgetting.know_its_lines()
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

    def know_its_lines(self) -> None:
        """Lets merges know the lines that are to go, of a forgetting that was cut off.

        The versions may be clean and the journal not: a save of an older text with such a line
        would count as made of the newest text that has it, and what came since as deleted.
        """
        copy, targets = self.working_copy, self._targets
        removed = (lines_removed(copy, file, targets) for file in NOTE_FILES)
        marks = {mark_of(copy.key, line) for lines in removed for line in lines}
        known = copy.state.ledger
        tombstones = {**known.tombstones, **_of_lines(marks)}
        copy.state.ledger = replace(known, tombstones=tombstones)

    def carry_out(self, receipt: Forgotten) -> None:
        """Does what the plan says, then removes it; an editor that saves meanwhile ends it early.

        Begins again where a person put the words back in the middle: after the end they would
        count as typed anew.
        """
        for _ in range(_TRIES):
            if not self._clean_everything(receipt):
                return
            if not self._is_in_notes():
                remove(_own(self.working_copy) / plans.NAME)
                # The plan has the words: a power cut must not bring it back.
                sync_folder(_own(self.working_copy))
                return

    def _is_in_notes(self) -> bool:
        return any(held_in_text(self.working_copy, file, self._targets) for file in NOTE_FILES)

    def _clean_everything(self, receipt: Forgotten) -> bool:
        """Removes the targets everywhere, once; `False` where somebody is saving."""
        working_copy, state, targets = self.working_copy, self.working_copy.state, self._targets
        drop_texts(_own(working_copy))
        # Written by pipimem 0.1: etags of texts, which are marks of the words.
        remove(_own(working_copy) / "unread")
        if not self.commit() or not self._clean_archive():
            return False
        removed: set[str] = set()
        for file in NOTE_FILES:
            removed |= clean_past(working_copy, file, targets, self.now)
        if not self.plan.keep_transcript:
            self._clean_talk()
        state.ledger = self._ledger_after(removed)
        last = record_of(state.ledger, self.plan, receipt, self.now)
        # What was read behind the commit above may hold the words still. As of this record nothing
        # does, and what was decided on an earlier one is refused.
        state.append([last], {})
        state.start_anew(last)
        # Before the plan goes: a power cut must not bring back what was removed.
        for folder in (working_copy.folder, state.versions.folder, _own(working_copy)):
            if presence.is_folder(folder):
                sync_folder(folder)
        working_copy.clear()
        return True

    def _clean_talk(self) -> None:
        targets = self._targets
        for part in self.log.files():
            clean_transcript(part, targets, self.working_copy.key)
        self.log.drop_cached()
        clean_arrivals(self.working_copy, self._targets)

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
        """Cleans the archive, behind the commit: what that archives is found by the old size."""
        copy, targets = self.working_copy, self._targets
        archive = copy.path(File.ARCHIVE)
        keep_past_of_archive(copy, read_text(archive, copy.root) or "", targets, self.now)
        return clean_archive(archive, copy.root, lambda text: without(text, targets, copy.key)[0])

    def _ledger_after(self, removed: Iterable[str]) -> Ledger:
        """The ledger without the targets, and with keyed tombstones of the lines removed."""
        blank = blanked_ledger(self.working_copy.state.ledger, self._targets, self.log.messages())
        marks = {mark_of(self.working_copy.key, line) for line in removed}
        return replace(blank, tombstones={**blank.tombstones, **_of_lines(marks)})


def _of_lines(marks: Iterable[str]) -> dict[str, Tombstone]:
    """The tombstones by which a merge knows a forgotten line."""
    return {f"line:{mark}": Tombstone("forgotten", 0) for mark in marks}


def _own(working_copy: WorkingCopy) -> Path:
    return working_copy.folder / ".pipimem"
