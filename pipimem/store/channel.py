"""One channel's folder, as the runtime sees it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from pipimem.errors import ChannelError, JournalError, PipimemError, StoreError
from pipimem.notes.files import File
from pipimem.notes.history import newest_end
from pipimem.notes.ledger import Asked, Delta, Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Author, Decision
from pipimem.store import identity, migration
from pipimem.store.caches.caches import Caches
from pipimem.store.commits.committing import CarryOut, Committed, commit, journal_edits
from pipimem.store.commits.desk import KEPT, Desk
from pipimem.store.commits.placing import is_unfinished, put_in_place
from pipimem.store.commits.recalls import Recalls
from pipimem.store.commits.settling import PATIENCE
from pipimem.store.disk import files
from pipimem.store.disk.calls import make_folder, told, told_at_the_door
from pipimem.store.disk.files import Stamp, not_a_link_out, read_text, sweep
from pipimem.store.disk.lock import FolderLock, locks_hold
from pipimem.store.identity import DamagedIdentity, Identity
from pipimem.store.journal.journal import Journal
from pipimem.store.journal.records import JournalRecord
from pipimem.store.journal.state import State
from pipimem.store.transcript import Transcript
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.store.forgetting.forgetting import Forgotten
    from pipimem.store.looking_back.edit_notices import EditNotices
    from pipimem.store.looking_back.past import Past, Point
    from pipimem.store.looking_back.undoing import Restored, Undone

# Looking back and forgetting are imported where they are done: a recall that starts cold needs neither (5 ms).

# After so many beginnings on a fresher text, what is saved meanwhile is merged instead.
_TRIES = 2
_PAUSE = 0.05

_log = logging.getLogger("pipimem")
_P = ParamSpec("_P")
_T = TypeVar("_T")


def _made_anew(
    method: Callable[Concatenate[ChannelStore, _P], _T],
) -> Callable[Concatenate[ChannelStore, _P], _T]:
    """A method that writes: where somebody deletes our state in the middle of it, it begins again on a new one."""

    @wraps(method)
    def call(self: ChannelStore, /, *args: _P.args, **options: _P.kwargs) -> _T:
        try:
            return method(self, *args, **options)
        except StoreError:
            if not self._is_deleted:
                raise
            return method(self, *args, **options)

    return call


@dataclass(slots=True)
class ChannelStore:
    """The notes, the journal and the transcript of one channel. Methods may be called from any thread.

    Opening reads one small file; journal, ledger and log wait for their first use. `is_saved` is whether the folder is
    a channel of ours already, not just one that people made.
    """

    workspace: WorkspaceStore
    folder: Path
    identity: Identity
    transcript: Transcript
    _lock: FolderLock
    is_saved: bool
    # The stamp of `channel.json` when locks last proved to hold here: a workspace may be moved to another disk long
    # after its channels were made, and people may delete `.pipimem/` at any time.
    _settled: Stamp | None = None
    _mutex: threading.RLock = field(default_factory=threading.RLock)
    _desk: Desk | None = None
    _recalls: Recalls = field(default_factory=Recalls)
    _now: datetime | None = None
    _has_written: bool = False

    @classmethod
    def open(
        cls, workspace: WorkspaceStore, channel_id: str, *, create: bool, kind: str = "dm", title: str = "",
        key: bytes | None = None,
    ) -> ChannelStore:  # fmt: skip
        """The store of a channel; `kind`, `title` and `key` count when it is new, a title also later.

        Raises `ChannelError` for a folder of another channel and, without `create`, for a channel that is
        not there.
        """
        with told("open", workspace.folder_of(channel_id)):
            folder = not_a_link_out(workspace.folder_of(channel_id), workspace.root)
            is_there = folder.is_dir()
        known = identity.load(_identity_path(folder))
        if known is not None and known.id != channel_id:
            raise ChannelError(_of_another(folder, known.id, channel_id))
        if known is None and not create and not is_there:
            raise ChannelError(_unknown(workspace, channel_id))
        is_saved = known is not None and known.format == migration.FORMAT
        if known is None:
            fresh = os.urandom(identity.KEY_BYTES) if create else identity.derived_key(channel_id)
            known = Identity(channel_id, kind, title, key or fresh)
        elif create and title and title != known.title:
            known, is_saved = replace(known, title=title), False
        known = replace(known, format=migration.FORMAT)
        lock = FolderLock(_own(folder) / "lock")
        store = cls(workspace, folder, known, Transcript(folder, lock), lock, is_saved)
        if create:
            store._settle_in()
        return store

    @property
    def channel_id(self) -> str:
        """The platform's id of the conversation."""
        return self.identity.id

    @property
    def key(self) -> bytes:
        """The key of the channel's entry ids."""
        return self.identity.key

    @property
    @told_at_the_door
    def ledger(self) -> Ledger:
        """The ledger without a look at the files: what gates count by."""
        with self._mutex:
            state = self._at_desk().state
            state.catch_up()
            return state.ledger

    @told_at_the_door
    def notes(self, *, refresh: bool = True) -> Notes:
        """The notes as they stand: the same object while nothing changed.

        Never writes, and never waits for a commit.
        """
        desk = self._desk
        cached = desk.cached if desk is not None else None
        if cached is not None and not refresh:
            return cached
        if not self._mutex.acquire(blocking=cached is None):
            assert cached is not None
            return cached
        try:
            return self._at_desk().shown()
        finally:
            self._mutex.release()

    @_made_anew
    @told_at_the_door
    def commit(
        self, decision: Decision, now: datetime, actor: str = "", wall: datetime | None = None,
        carry_out: CarryOut | None = None,
    ) -> Committed:  # fmt: skip
        """Carries a decision out on the freshest texts, all or nothing; returned means durable.

        `now` is the conversation's time, `wall` the real one for the journal where it is another. A decision
        that changes nothing writes nothing. Raises `StoreError` with everything as it was.
        """
        wall = wall or now
        deadline = time.monotonic() + PATIENCE
        tries = 0
        while True:
            with self._writing(wall, until=deadline) as desk:
                insists = tries == _TRIES
                done = commit(
                    desk,
                    decision,
                    now,
                    actor,
                    wall,
                    self._recalls,
                    insists=insists,
                    carry_out=carry_out,
                )
                if done:
                    self._after_writing(wall)
            if done:
                self._look_again()
                return done
            tries += 1

    def _look_again(self) -> None:
        """Reads what a commit left. Without the lock: a long text takes seconds, and others wait to write."""
        with self._mutex:
            desk = self._at_desk()
            try:
                desk.shown()
            except StoreError:
                desk.clear()

    def append(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Adds the messages the transcript does not have yet, numbered; returned means durable."""
        return self._append(tuple(messages))

    @_made_anew
    @told_at_the_door
    def _append(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        self._settle_in()
        newest = 0
        with suppress(
            PipimemError
        ):  # whoever thinks about it is told; the talk must reach the disk all the same
            newest = self.ledger.newest_message
        return self.transcript.append(messages, after=newest)

    def touch_recalls(self, ids: Iterable[str], when: datetime, asked: Asked | None = None) -> None:
        """Counts a recall of these entries, and keeps what was asked; in memory until the next commit, or `close`."""
        with self._mutex:
            self._recalls.note(ids, when)
            if asked is not None:
                known = self._desk.state.ledger.sequence if self._desk else 0
                self._recalls.asked.append((known, asked))
            self._now = self._now or when

    def counted(self, notes: Notes) -> Notes:
        """The notes with the recalls that wait for the next commit, as a decision about staleness must see them."""
        with self._mutex:
            if not self._recalls.counts and not self._recalls.asked:
                return notes
            waiting = self._recalls.folded(notes.ledger, Delta())
        return replace(notes, ledger=notes.ledger.after(waiting))

    @property
    def caches(self) -> Caches:
        """What only saves time."""
        return Caches(self.folder, self.transcript, self.is_saved, self._keeping)

    @told_at_the_door
    def checkpoint(self) -> None:
        """Makes the files alone sufficient, so that the next start reads no journal."""
        if self._is_deleted:
            return
        with self._mutex, self._lock.held():
            self._checkpoint()

    @told_at_the_door
    def close(self) -> None:
        """Writes what waits and a checkpoint, where this object wrote anything and its state was not deleted since."""
        with self._mutex:
            if self._is_deleted:
                return
            counts = self._recalls.counts
            if self._now and (
                self._recalls.asked or any(name in self.ledger.records for name in counts)
            ):
                self._recalls.are_due = True
                self.commit(Decision("recalls", Author.RULE), self._now)
            if self._has_written or self._misses_records():
                self.checkpoint()
                self._has_written = False

    def _misses_records(self) -> bool:
        """Whether this object, which wrote here, finds that records are lost: only who read them can tell, so it is kept."""
        if self._settled is None or self._desk is None:
            return False
        self._desk.state.catch_up()
        return self._desk.state.is_cut

    @property
    def is_awake(self) -> bool:
        """Whether notes or ledger are held in memory."""
        return self._desk is not None

    def unchanged(self) -> Notes | None:
        """The notes as last read, `None` where a file changed since; a few stats."""
        return self._desk.unchanged() if self._desk is not None else None

    def rest(self) -> None:
        """Lets go of what was read; the next use reads it again. What waits to be written stays.

        Never waits: a channel at work keeps what it has.
        """
        if self._mutex.acquire(blocking=False):
            try:
                self._desk = None
                self.transcript.forgets()
            finally:
                self._mutex.release()

    def journal_records(self) -> Iterator[JournalRecord]:
        """What was committed, oldest first, as far back as it is kept.

        Raises `JournalError` at a damaged line.
        """
        return self._at_desk().state.journal.records()

    @told_at_the_door
    def edit_notices(self, since: datetime) -> EditNotices:
        """What is to be said of edits by hand since then; nothing where the journal is damaged, for doctor tells."""
        from pipimem.store.looking_back import edit_notices

        try:
            with self._mutex:
                view = self._at_desk().fresh()
            return edit_notices.edit_notices(
                self.channel_id, list(self.journal_records()), view, since
            )
        except JournalError:
            return edit_notices.EditNotices()

    @told_at_the_door
    def past(self) -> Past:
        """What looking back needs: the journal, and the texts as it left them and as they stand. Writes nothing.

        Raises `JournalError` at a damaged line.
        """
        from pipimem.store.looking_back import undoing

        with self._mutex:
            desk = self._at_desk()
            desk.state.catch_up()
            return undoing.past_of(desk, desk.fresh())

    @told_at_the_door
    def undo(self, sequence: int | None, now: datetime, actor: str = "") -> Undone:
        """Takes back one change, the newest that still counts by default, as a commit of its own.

        Raises `CannotTakeBack`, with nothing changed, where later changes stand on it.
        """
        from pipimem.store.looking_back import undoing

        self.journal_edits(now)
        record = undoing.chosen(self.past(), sequence)
        number = record.sequence
        what = Decision(
            undoing.UNDO,
            Author.PERSON,
            why=f"takes back {number} ({record.task})",
            correlation=str(number),
        )
        done = self.commit(
            what, now, actor, carry_out=lambda desk, view: undoing.undoing(desk, view, number)
        )
        return undoing.Undone(record, done.sequence, done.outcome)

    @told_at_the_door
    def changes_of(self, author: Author, since: datetime) -> list[JournalRecord]:
        """The changes of one author from a time on that still count and can be named to `undo`, newest first."""
        from pipimem.store.looking_back import undoing

        return undoing.changes_of(self.past().records, author, since)

    @told_at_the_door
    def restore(self, point: Point, now: datetime, actor: str = "") -> Restored:
        """Puts the notes back to a moment, as one commit; what stands now is kept as versions."""
        from pipimem.store.looking_back import undoing

        self.journal_edits(now)
        past = self.past()
        to = past.sequence_at(point)
        what = Decision(
            undoing.RESTORE, Author.PERSON, why=f"the notes as they stood after change {to}"
        )
        done = self.commit(
            what, now, actor, carry_out=lambda desk, view: undoing.restoring(desk, view, to)
        )
        return undoing.Restored(
            to, done.sequence, done.outcome, undoing.edits_after(past.records, to)
        )

    @_made_anew
    @told_at_the_door
    def journal_edits(self, now: datetime) -> None:
        """Takes what people changed by hand into the journal."""
        with self._writing(now, until=0.0) as desk:
            journal_edits(desk, now)
            self._after_writing(now)

    def archive_stamp(self) -> Stamp | None:
        """What changes with the archive: one `stat`; `None` where there is none."""
        return files.stamp(self.folder / File.ARCHIVE)

    def archive_text(self) -> str:
        """The archive, empty where there is none."""
        return read_text(self.folder / File.ARCHIVE, self.workspace.root) or ""

    @_made_anew
    @told_at_the_door
    def forget(
        self, what: str | Sequence[str], *, keep_transcript: bool, now: datetime, actor: str = ""
    ) -> Forgotten:
        """Removes a text, or entries and messages by their ids, from everything we keep; the receipt says from where.

        Where something held it, nothing before can be undone any more. The workspace's own files are people's:
        nothing is taken from them. Raises `StoreError` with nothing forgotten while an editor saves one of the files.
        """
        from pipimem.store.forgetting import forgetting

        with self._writing(
            now, until=time.monotonic() + PATIENCE, is_held=forgetting.is_being_saved
        ) as desk:
            self._recalls.asked.clear()
            receipt = forgetting.forget(desk, self.transcript, what, keep_transcript, now, actor)
            self._after_writing(now)
        if forgetting.is_under_way(desk):
            # Somebody began to save in between. Who holds the channel next goes on where it stopped.
            with self._writing(
                now, until=time.monotonic() + PATIENCE, is_held=forgetting.is_under_way
            ):
                if forgetting.is_under_way(desk):
                    raise StoreError(
                        f"{self.folder}: an editor is saving a file. Save and close it: what is left to forget goes "
                        "with whatever is written next."
                    )
        return receipt

    @contextmanager
    def _writing(
        self, now: datetime, until: float, is_held: Callable[[Desk], bool] = lambda _: False
    ) -> Iterator[Desk]:
        """Holds the channel to write to it, with the desk made ready.

        Waits for an editor who is saving, and while `is_held` says so, but not longer than `until`.
        """
        while True:
            with self._mutex:
                self._settle_in()
                with self._lock.held():
                    desk = self._ready(now, until)
                    if desk and (time.monotonic() >= until or not is_held(desk)):
                        yield desk
                        return
            time.sleep(_PAUSE)  # outside the lock: others need not wait for an editor

    @property
    def _is_deleted(self) -> bool:
        """Whether the folder was a channel of ours when this object last looked, and is none any more."""
        return self.is_saved and files.stamp(_identity_path(self.folder)) is None

    @told_at_the_door
    def _settle_in(self) -> None:
        """Before each writing: locks hold here, and the folder is made a channel of ours where it is not, or not any more."""
        seen = files.stamp(_identity_path(self.folder))
        if self._settled is not None and seen == self._settled:
            return
        try:
            self._settle()
        except StoreError:
            if _own(self.folder).is_dir():
                raise
            self._settle()  # it was deleted at this very instant

    def _settle(self) -> None:
        make_folder(_own(self.folder))
        if not locks_hold(_own(self.folder) / "lock"):
            raise StoreError(
                f"{self.folder}: locks do not hold on this file system, so two processes would overwrite each other. "
                "Put the workspace on a local disk, or mount this one with locks."
            )
        if self.is_saved:
            self._settle_again()
        else:
            self._introduce()
        self._settled = files.stamp(_identity_path(self.folder))

    def _introduce(self) -> None:
        """Writes whose folder it is."""
        with self._lock.held():
            standing = identity.load(_identity_path(self.folder))
            if standing is not None:
                self._take_over(standing)
            if standing != self.identity:
                migration.remove_leftovers(_own(self.folder))
                identity.save(_identity_path(self.folder), self.identity)
        self.is_saved = True

    def _settle_again(self) -> None:
        """Another `channel.json` than the one we saw: what it says holds, and where it is gone or damaged, what we know."""
        with self._lock.held():
            try:
                standing = identity.load(_identity_path(self.folder))
            except DamagedIdentity:
                standing = None
            if standing is None:
                _log.warning(
                    "%s was deleted or damaged while it was in use. It is made anew under the same key; what was in "
                    "no Markdown file (undo, recalls, what was deleted by hand) is known as far as other files have it.",
                    _identity_path(self.folder),
                )
                identity.save(_identity_path(self.folder), self.identity)
                if not Journal(_own(self.folder)).path.exists():
                    self._desk = (
                        None  # all of it is gone: what was read of it does not count any more
                    )
            elif standing.id != self.identity.id:
                raise ChannelError(_of_another(self.folder, standing.id, self.identity.id))
            else:
                self._take_over(standing)
                self.identity = standing

    def _take_over(self, standing: Identity) -> None:
        """Goes by the key of another process that was first; what was read under ours is read again."""
        if standing.key != self.identity.key:
            self.identity, self._desk = replace(self.identity, key=standing.key), None

    def _at_desk(self) -> Desk:
        if self._desk is None:
            root, key = self.workspace.root, self.identity.key
            state = State.load(self.folder, self.transcript, self._history_end)
            self._desk = Desk(self.folder, root, key, state)
        return self._desk

    def _history_end(self) -> datetime | None:
        text = read_text(self.folder / File.HISTORY, self.workspace.root)
        return newest_end(Note.read(File.HISTORY, text, self.identity.key)) if text else None

    def _ready(self, now: datetime, until: float) -> Desk | None:
        """The desk with all that others or a crash left undone made good.

        `None` while an editor is saving.
        """
        from pipimem.store.forgetting import forgetting

        desk = self._at_desk()
        if not self._has_written:
            for folder in (_own(self.folder), _own(self.folder) / "versions"):
                sweep(folder)
        desk.state.catch_up(is_to_write=True)
        desk.state.believe_files()
        saving = any(desk.is_held(file, desk.look(file)) for file in KEPT)
        if saving and time.monotonic() < until:
            return None
        put_in_place(desk, now)
        if desk.state.place.is_of_format_1:
            self._now = now
            self._checkpoint()
        forgetting.resume(desk, self.transcript, now)
        forgetting.clean_archive_again(desk, now)
        return desk

    def _after_writing(self, now: datetime) -> None:
        """The caller holds the lock."""
        self._now, self._has_written = now, True
        if self._at_desk().state.is_due:
            self._checkpoint()

    def _checkpoint(self) -> None:
        desk = self._at_desk()
        desk.state.catch_up()
        desk.state.believe_files()
        if self._now is not None:
            put_in_place(desk, self._now)
        if not desk.state.has_news or is_unfinished(desk):
            return
        texts = {file: desk.state.known_text(file, "") for file in KEPT}
        desk.state.checkpoint(
            {file: text for file, text in texts.items() if text is not None}, self._now
        )

    @contextmanager
    def _keeping(self, seen: Notes | None, settles: bool) -> Iterator[bool]:
        """Holds the channel against other writers; whether what was made of the notes `seen` may still be kept.

        It may in a channel that is saved, while nothing was forgotten since. `settles` saves it first.
        """
        with self._mutex:
            if settles:
                self._settle_in()
            if not self.is_saved or self._is_deleted:
                yield False
                return
            with self._lock.held():
                yield seen is None or seen.ledger.forgotten == self.ledger.forgotten


def _own(folder: Path) -> Path:
    return folder / ".pipimem"


def _identity_path(folder: Path) -> Path:
    return _own(folder) / "channel.json"


def _of_another(folder: Path, known: str, wanted: str) -> str:
    return f"{folder} belongs to the channel {known!r}, not to {wanted!r}. Rename the folder."


def _unknown(workspace: WorkspaceStore, channel_id: str) -> str:
    names = [channel.id for channel in workspace.channels()]
    known = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"There is no channel {channel_id!r} in {workspace.root}. " + (
        f"There are: {known}." if names else "There are no channels yet."
    )
