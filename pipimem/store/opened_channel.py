"""A channel's folder in use: what was read of it, and who may write to it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec import structs

from pipimem.errors import (
    ChannelError,
    DatabaseUnavailable,
    LockTimeout,
    PipimemError,
    StoreError,
    UnreadableNote,
)
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import UNKNOWN, Ledger, QuoteReason, Record
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Trust
from pipimem.state.channel_state import SCHEMA, ChannelState
from pipimem.state.sqlite import MemoryDatabase
from pipimem.state.texts import Texts
from pipimem.store import identity
from pipimem.store.caches.channel_caches import Caches
from pipimem.store.commit.publish import publish
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import presence
from pipimem.store.disk.files import astray, read_text, real_path, sweep
from pipimem.store.disk.folder_lock import lock_timeout
from pipimem.store.disk.syscalls import store_errors
from pipimem.store.forget import forget as forgetting
from pipimem.store.forget.archive import clean_archive_again
from pipimem.store.identity import FORMAT, ChannelFolder, Identity, Kept
from pipimem.store.moved import refuse_moved
from pipimem.store.off_the_record import OffTheRecord
from pipimem.store.transcript.log import LOCK, PATIENCE, Transcript
from pipimem.store.upgrade.old_state import has_old_state
from pipimem.store.upgrade.takeover import old_stamp, read_into, take_over
from pipimem.store.workspace import WorkspaceStore

_log = logging.getLogger("pipimem")
_PAUSE = 0.05
# The record of an entry whose own is lost.
_OF_NOBODY = Record(Trust.QUOTED, speaker=UNKNOWN, quote_reason=QuoteReason.LOST)
_Test = Callable[[WorkingCopy], bool]


@dataclass(slots=True)
class OpenedChannel:
    """One channel's folder, its locks, and its working copy as far as it was read.

    Whoever uses the working copy holds `mutex`; whoever writes does so inside `writing`.
    """

    workspace: WorkspaceStore
    channel_folder: ChannelFolder
    transcript: Transcript
    mutex: threading.RLock = field(default_factory=threading.RLock)
    # `None` where nothing is read.
    working_copy: WorkingCopy | None = None
    # Whether this object has held the lock to write.
    has_written: bool = False
    # Who spoke in this process.
    heard: set[str] = field(default_factory=set)
    # Of the files of an older format, where the state is read from these.
    _old_stamp: tuple[int, ...] | None = None

    @classmethod
    def open(
        cls, workspace: WorkspaceStore, channel_id: str, *, create: bool, new: Identity
    ) -> OpenedChannel:
        """The channel's folder, which is `new` where no `channel.json` says who it belongs to.

        Raises `ChannelError` for a folder of another channel and, without `create`, for a channel
        that is not there.
        """
        with store_errors("open", workspace.folder_of(channel_id)):
            folder = _not_astray(workspace.folder_of(channel_id), workspace.root)
            is_there = presence.is_folder(folder)
        saved, kept = _loaded(folder, channel_id)
        if saved is None and not create and not is_there:
            raise ChannelError(_unknown(workspace, channel_id))
        refuse_moved(folder / ".pipimem", channel_id)
        known = saved or new
        if create:
            known = replace(known, title=new.title or known.title, kind=known.kind or new.kind)
        known = replace(known, format=FORMAT)
        ours = ChannelFolder(folder, known, is_saved=known == saved, make_lock=workspace.make_lock)
        ours.kept = kept
        talk = _transcript(workspace, ours)
        opened = cls(workspace, ours, talk)
        if create:
            opened.make_for_talk()
        return opened

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return self.workspace.root

    @property
    def ledger(self) -> Ledger:
        """The ledger without a look at the files."""
        with self.mutex:
            state = self.loaded().state
            state.catch_up()
            return state.ledger

    def newest_message(self) -> int:
        """Return the greatest number of a message that the ledger has; 0 where it is unknown.

        It is that of the newest commit or an earlier one: whoever appends waits for no transaction.
        """
        # A damaged file is reported where it is needed; the talk must reach the disk.
        with suppress(PipimemError):
            found = identity.load_with_kept(self.channel_folder.folder)
            return found[1].newest if found else 0
        return 0

    @property
    def known_sequence(self) -> int:
        """The number of the newest record that was read; 0 where none was."""
        return self.working_copy.state.ledger.sequence if self.working_copy is not None else 0

    def hear(self, speakers: Iterable[str]) -> None:
        """Count people among those who speak; notes read from now on know of them."""
        self.heard.update(speakers)
        if self.working_copy is None or not self.mutex.acquire(blocking=False):
            return  # who reads now reads again with the next message
        try:
            self.working_copy.hear(self.heard)
        finally:
            self.mutex.release()

    def notes(self, *, refresh: bool) -> Notes:
        """The notes as they stand, or as last read: without `refresh`, and while others write."""
        cached = self.working_copy.last_notes if self.working_copy is not None else None
        if cached is not None and not refresh:
            return cached
        if not self.mutex.acquire(blocking=cached is None):
            assert cached is not None
            return cached
        try:
            return self.loaded().read_notes()
        except DatabaseUnavailable:
            if cached is None:
                raise
            return cached
        finally:
            self.mutex.release()

    def unchanged(self) -> Notes | None:
        """The notes as last read, `None` where a file changed since; a few stats."""
        return self.working_copy.unchanged() if self.working_copy is not None else None

    def read_again(self) -> None:
        """Reads what a commit wrote, without the lock: a long text takes seconds."""
        with self.mutex:
            working_copy = self.loaded()
            try:
                working_copy.read_notes()
            except StoreError:
                working_copy.clear()

    def drop_cached(self) -> None:
        """Frees what was read, unless another thread uses the channel."""
        if self.mutex.acquire(blocking=False):
            try:
                self.working_copy = None
                self.transcript.drop_cached()
            finally:
                self.mutex.release()

    @contextmanager
    def writing(
        self, now: datetime, until: float, is_held: _Test | None = None, wait: float | None = None
    ) -> Iterator[WorkingCopy]:
        """Holds the channel to write to it, with the working copy made ready.

        Waits for an editor who is saving, and while `is_held` says so, but not longer than `until`;
        for other writers, threads of this process among them, `wait` seconds, `None` is as long as
        a commit does.
        """
        while True:
            with self._mutex_within(wait):
                self.make_channel(wait)
                with self.channel_folder.lock.held(wait):
                    self._refuse_moved()
                    working_copy = self._ready(now, until)
                    waits = is_held if time.monotonic() < until else None
                    if working_copy and not (waits and waits(working_copy)):
                        yield working_copy
                        return
            time.sleep(_PAUSE)  # outside the lock: others need not wait for an editor

    @contextmanager
    def _mutex_within(self, wait: float | None) -> Iterator[None]:
        """Hold the mutex. Raises `LockTimeout` after `wait` seconds."""
        if not self.mutex.acquire(timeout=-1 if wait is None else wait):
            raise lock_timeout(self.channel_folder.own / "lock", wait or 0.0)
        try:
            yield
        finally:
            self.mutex.release()

    @property
    def patience(self) -> float:
        """How many seconds a turn's end waits for other writers: none on one host."""
        return PATIENCE if self.transcript.spool else 0.0

    def make_channel(self, timeout: float | None = None) -> None:
        """Makes the folder a channel of ours; what was read is dropped where it was another's."""
        with self._mutex_within(timeout):
            self._refuse_moved()
            self.channel_folder.kept = self.kept
            if self.channel_folder.make_channel(timeout):
                self.working_copy = None

    def make_for_talk(self) -> None:
        """Makes the folder a channel, unless it is one: then the talk waits for no commit.

        A new title waits for the next commit where another one is under way, as does all of it in a
        fleet that cannot agree now.
        """
        if self.channel_folder.is_settled():
            return
        if self.transcript.spool is None and not self.channel_folder.lacks_title_alone():
            self.make_channel()
            return
        with suppress(DatabaseUnavailable, LockTimeout):
            self.make_channel(self.patience)

    @contextmanager
    def beside_older_writers(self) -> Iterator[None]:
        """Hold the lock of a channel that was not taken over yet.

        An older pipimem that waits for it adds talk under it, and would give a number twice.
        """
        is_same_lock = self.transcript.spool is not None
        if is_same_lock or self.has_written or not has_old_state(self.channel_folder.own):
            yield
            return
        with self.channel_folder.lock.held():
            yield

    def _refuse_moved(self) -> None:
        refuse_moved(self.channel_folder.own, self.channel_folder.identity.id)

    def loaded(self) -> WorkingCopy:
        """The working copy, read at its first use.

        That of a channel of an older format is read into memory, again after each change.
        """
        if self._old_stamp and self._old_stamp != old_stamp(self.channel_folder.own):
            self.working_copy, self._old_stamp = None, None
        if self.working_copy is None:
            folder, key = self.channel_folder.folder, self.channel_folder.identity.key
            beside = self.transcript.spool.watched if self.transcript.spool else ()
            revalidate = self.workspace.revalidate
            state, old_tags = self._loaded_state(), {}
            if not state.ledger.sequence and has_old_state(self.channel_folder.own):
                self._old_stamp = old_stamp(self.channel_folder.own)
                memory = MemoryDatabase(SCHEMA, partial(old_stamp, self.channel_folder.own))
                state = ChannelState(memory, Texts(key), self._concluded)
                old_tags = read_into(state, folder, self.root)
            self.working_copy = WorkingCopy(
                folder,
                self.root,
                key,
                state,
                self.channel_folder.identity.kind == "dm",
                self.heard,
                beside,
                revalidate,
                old_tags,
            )
        return self.working_copy

    def _loaded_state(self) -> ChannelState:
        identity = self.channel_folder.identity
        database = self.workspace.database_of(self.channel_folder.own, identity)
        state = ChannelState(database, Texts(identity.key), self._concluded)
        state.catch_up()
        self._tell_of_loss(state)
        return state

    def _concluded(self) -> tuple[Ledger, bool]:
        """Return the ledger of a channel without a state, and whether it had one.

        Where somebody spoke, an entry that nothing is known of may be anybody's: in a group it
        binds nobody.
        """
        ledger, was_there = self.kept.ledger, self.kept.has_state
        if was_there and self.channel_folder.identity.kind != "dm" and self.transcript.last_number:
            text = self._memory_text()
            note = Note.read(File.MEMORY, text, self.channel_folder.identity.key)
            records = {entry.id: _OF_NOBODY for entry in note.entries if entry.bullet}
            ledger = structs.replace(ledger, records=records)
        return ledger, was_there

    def _tell_of_loss(self, state: ChannelState) -> None:
        if state.is_lost and not self.channel_folder.is_loss_told:
            self.channel_folder.is_loss_told = True
            _log.warning(
                "%s has no state any more: undo, and what was known of entries, ends here. Notes "
                "and talk stand.",
                self.channel_folder.folder,
            )

    def _memory_text(self) -> str:
        try:
            return read_text(self.channel_folder.folder / File.MEMORY, self.root) or ""
        except UnreadableNote:
            return ""

    @property
    def kept(self) -> Kept:
        """What outlasts the state; without `channel.json` all that was said counts as seen."""
        if self.channel_folder.kept is None:
            last = self.transcript.last_number
            return Kept(cursor=last, has_state=last > 0)
        return self.channel_folder.kept

    def _ready(self, now: datetime, until: float) -> WorkingCopy | None:
        """The working copy, with what a crash or another process left unfinished finished.

        `None` while an editor is saving.
        """
        if not self.has_written:
            self._take_over(now)
            sweep(self.channel_folder.own)
        working_copy = self.loaded()
        working_copy.state.catch_up(is_writing=True)
        self._tell_of_loss(working_copy.state)
        found = {file: working_copy.read_now(file) for file in NOTE_FILES}
        saving = any(
            working_copy.is_locked_by_editor(file, each)
            for file, each in found.items()
            if not each.problem
        )
        if saving and time.monotonic() < until:
            return None
        publish(working_copy, now)
        self.transcript.take_in_spool()
        forgetting.resume(working_copy, self.transcript, now)
        clean_archive_again(working_copy, now)
        self.has_written = True
        return working_copy

    def _take_over(self, now: datetime) -> None:
        """Take the state of an older format over, if there is one. The caller holds the lock."""
        own, folder = self.channel_folder.own, self.channel_folder.folder
        if not has_old_state(own):
            return
        self.working_copy, self._old_stamp = None, None
        state = self._loaded_state()
        unknown = Kept(cursor=self.transcript.last_number).ledger
        take_over(state, folder, self.root, now, unknown)
        self.channel_folder.keep_ledger(state.ledger)

    def after_writing(self, now: datetime) -> None:
        """Write to `channel.json` what must outlast the state, and prune that, once a day.

        The caller holds the lock.
        """
        state = self.loaded().state
        self.channel_folder.keep_ledger(state.ledger)
        state.prune(now)

    def take_in_spool(self) -> None:
        """Adds talk that waits beside the transcript to it, if there is any."""
        if next(self.transcript.spooled(), None) is not None:
            with self.mutex, self.channel_folder.lock.held():
                self.transcript.take_in_spool()

    @property
    def caches(self) -> Caches:
        """What is kept on disk only to save time."""
        folder = self.channel_folder
        return Caches(folder.folder, self.transcript, folder.is_saved, self._keeping)

    @property
    def off_the_record(self) -> OffTheRecord:
        """The marks of messages that are never written."""
        return OffTheRecord(self.channel_folder, self.make_channel)

    @contextmanager
    def _keeping(self, seen: Notes | None, settles: bool) -> Iterator[bool]:
        """Holds the lock; yields whether a cache made of the notes `seen` may be written.

        It may in a channel that is saved, if nothing was forgotten since. `settles` saves it first.
        """
        with self.mutex:
            if settles:
                self.make_channel()
            if not self.channel_folder.is_saved or self.channel_folder.is_deleted:
                yield False
                return
            with self.channel_folder.lock.held():
                yield seen is None or seen.ledger.forgotten == self.ledger.forgotten


def _loaded(folder: Path, channel_id: str) -> tuple[Identity | None, Kept | None]:
    """Read `channel.json`, if there is one. Raises `ChannelError` for that of another channel."""
    saved, kept = identity.load_with_kept(folder) or (None, None)
    if saved is not None and saved.id != channel_id:
        raise ChannelError(identity.of_another(folder, saved.id, channel_id))
    return saved, kept


def _transcript(workspace: WorkspaceStore, ours: ChannelFolder) -> Transcript:
    lock = ours.lock if workspace.fleet else ours.make_lock(ours.own / LOCK)
    return Transcript(ours.folder, lock, workspace.spool_in(ours.folder))


def _unknown(workspace: WorkspaceStore, channel_id: str) -> str:
    missing = f"There is no channel {channel_id!r} in {workspace.root}."
    names = [f"{one.id} ({one.title})".removesuffix(" ()") for one in workspace.channels()]
    if not names:
        return f"{missing} There are no channels yet."
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{missing} There are: {', '.join(names[:5])}{more}."


def _not_astray(folder: Path, root: Path) -> Path:
    """The folder itself, refused where a link leads it to what is another's."""
    place = astray(folder, real_path(folder), root)
    if place:
        raise StoreError(f"{folder} leads {place}. Put a real folder there.")
    return folder
