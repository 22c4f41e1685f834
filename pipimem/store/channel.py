"""One channel's folder, as the runtime sees it."""

from __future__ import annotations

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

from pipimem.errors import ChannelError, PipimemError, StoreError
from pipimem.notes.files import File
from pipimem.notes.history import newest_end
from pipimem.notes.ledger import Asked, Delta, Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Author, Decision
from pipimem.store import identity
from pipimem.store.caches.channel_caches import Caches
from pipimem.store.commit.commit import CarryOut, Committed, commit, journal_edits
from pipimem.store.commit.publish import is_unfinished, publish
from pipimem.store.commit.recall_counts import Recalls
from pipimem.store.commit.working_copy import NOTE_FILES, WorkingCopy
from pipimem.store.disk import files
from pipimem.store.disk.editor_saves import SAVE_GRACE_SECONDS
from pipimem.store.disk.files import Stamp, not_a_link_out, read_text, sweep
from pipimem.store.disk.syscalls import raises_store_error, store_errors
from pipimem.store.identity import ChannelFolder, Identity
from pipimem.store.journal.records import JournalRecord
from pipimem.store.journal.state import State
from pipimem.store.transcript.log import Transcript
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.store.commit.past import Past
    from pipimem.store.forget.forget import Forgotten

# `past` and `forget` are imported where they are used: a recall that starts cold needs neither, and
# saves 5 ms.

# After so many attempts on a fresher text, what is saved meanwhile is merged instead.
_TRIES = 2
_PAUSE = 0.05

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _retried_when_deleted(
    method: Callable[Concatenate[ChannelStore, _P], _T],
) -> Callable[Concatenate[ChannelStore, _P], _T]:
    """A method that is called again where somebody deleted `.pipimem/` during the first call."""

    @wraps(method)
    def call(self: ChannelStore, /, *args: _P.args, **options: _P.kwargs) -> _T:
        try:
            return method(self, *args, **options)
        except StoreError:
            if not self.channel_folder.is_deleted:
                raise
            return method(self, *args, **options)

    return call


@dataclass(slots=True)
class ChannelStore:
    """The notes, the journal and the transcript of one channel.

    Methods may be called from any thread. Opening reads one small file; journal, ledger and
    transcript are read at their first use.
    """

    workspace: WorkspaceStore
    channel_folder: ChannelFolder
    transcript: Transcript
    _mutex: threading.RLock = field(default_factory=threading.RLock)
    _working_copy: WorkingCopy | None = None
    _recalls: Recalls = field(default_factory=Recalls)
    _now: datetime | None = None
    _has_written: bool = False

    @classmethod
    def open(
        cls,
        workspace: WorkspaceStore,
        channel_id: str,
        *,
        create: bool,
        kind: str = "dm",
        title: str = "",
        key: bytes | None = None,
    ) -> ChannelStore:
        """The store of a channel.

        `kind` and `key` count when it is new, a `title` also later. Raises `ChannelError` for a
        folder of another channel and, without `create`, for a channel that is not there.
        """
        with store_errors("open", workspace.folder_of(channel_id)):
            folder = not_a_link_out(workspace.folder_of(channel_id), workspace.root)
            is_there = folder.is_dir()
        saved = identity.load(folder)
        if saved is not None and saved.id != channel_id:
            raise ChannelError(identity.of_another(folder, saved.id, channel_id))
        if saved is None and not create and not is_there:
            raise ChannelError(_unknown(workspace, channel_id))
        known = saved or _new_identity(channel_id, kind, title, key, is_derived=not create)
        if create and title:
            known = replace(known, title=title)
        known = replace(known, format=identity.FORMAT)
        ours = ChannelFolder(folder, known, is_saved=known == saved)
        store = cls(workspace, ours, Transcript(folder, ours.lock))
        if create:
            store._make_channel()
        return store

    @property
    def folder(self) -> Path:
        """Where the channel's files lie."""
        return self.channel_folder.folder

    @property
    def channel_id(self) -> str:
        """The platform's id of the conversation."""
        return self.channel_folder.identity.id

    @property
    def key(self) -> bytes:
        """The key of the channel's entry ids."""
        return self.channel_folder.identity.key

    @property
    @raises_store_error
    def ledger(self) -> Ledger:
        """The ledger without a look at the files: what gates count by."""
        with self._mutex:
            state = self._loaded().state
            state.catch_up()
            return state.ledger

    @raises_store_error
    def notes(self, *, refresh: bool = True) -> Notes:
        """The notes as they stand: the same object while nothing changed.

        Never writes, and never waits for a commit.
        """
        working_copy = self._working_copy
        cached = working_copy.last_notes if working_copy is not None else None
        if cached is not None and not refresh:
            return cached
        if not self._mutex.acquire(blocking=cached is None):
            assert cached is not None
            return cached
        try:
            return self._loaded().read_notes()
        finally:
            self._mutex.release()

    @_retried_when_deleted
    @raises_store_error
    def commit(
        self,
        decision: Decision,
        now: datetime,
        actor: str = "",
        wall: datetime | None = None,
        carry_out: CarryOut | None = None,
    ) -> Committed:
        """Carries a decision out on the freshest texts, all or nothing; durable when it returns.

        `now` is the conversation's time, `wall` the real one for the journal where it is another. A
        decision that changes nothing writes nothing. Raises `StoreError` with everything as it was.
        """
        wall = wall or now
        deadline = time.monotonic() + SAVE_GRACE_SECONDS
        done: Committed | None = None
        tries = 0
        while done is None:
            with self._writing(wall, until=deadline) as working_copy:
                done = commit(
                    working_copy,
                    decision,
                    now,
                    actor,
                    wall,
                    self._recalls,
                    insists=tries == _TRIES,
                    carry_out=carry_out,
                )
                if done is not None:
                    self._after_writing(wall)
            tries += 1
        self._read_again()
        return done

    def _read_again(self) -> None:
        """Reads what a commit wrote, without the lock: a long text takes seconds."""
        with self._mutex:
            working_copy = self._loaded()
            try:
                working_copy.read_notes()
            except StoreError:
                working_copy.clear()

    def append(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Adds the messages the transcript lacks, numbered, and returns those; they are synced."""
        return self._append(tuple(messages))

    @_retried_when_deleted
    @raises_store_error
    def _append(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        self._make_channel()
        newest = 0
        # A damaged journal is reported where it is needed; the talk must reach the disk.
        with suppress(PipimemError):
            newest = self.ledger.newest_message
        return self.transcript.append(messages, after=newest)

    def touch_recalls(self, ids: Iterable[str], when: datetime, asked: Asked | None = None) -> None:
        """Counts a recall of these entries, and keeps the question, until a commit or `close`."""
        with self._mutex:
            self._recalls.note(ids, when)
            if asked is not None:
                known = 0
                if self._working_copy is not None:
                    known = self._working_copy.state.ledger.sequence
                self._recalls.asked.append((known, asked))
            self._now = self._now or when

    def with_pending_recalls(self, notes: Notes) -> Notes:
        """The notes with the recalls that the next commit will write."""
        with self._mutex:
            if not self._recalls.counts and not self._recalls.asked:
                return notes
            waiting = self._recalls.folded(notes.ledger, Delta())
        return replace(notes, ledger=notes.ledger.after(waiting))

    @property
    def caches(self) -> Caches:
        """What is kept on disk only to save time."""
        return Caches(self.folder, self.transcript, self.channel_folder.is_saved, self._keeping)

    @raises_store_error
    def checkpoint(self) -> None:
        """Makes the files alone sufficient, so that the next start reads no journal."""
        if self.channel_folder.is_deleted:
            return
        with self._mutex, self.channel_folder.lock.held():
            self._checkpoint()

    @raises_store_error
    def close(self) -> None:
        """Writes pending recalls, and a checkpoint where this object wrote anything.

        Does nothing where `.pipimem/` was deleted since.
        """
        with self._mutex:
            if self.channel_folder.is_deleted:
                return
            if self._now is not None and self._has_recalls():
                self._recalls.are_due = True
                self.commit(Decision("recalls", Author.RULE), self._now)
            if self._has_written or self._misses_records():
                self.checkpoint()
                self._has_written = False

    def _has_recalls(self) -> bool:
        """Whether there is a question, or a recall of an entry that has a record, to be written."""
        recalls = self._recalls
        return bool(recalls.asked) or any(name in self.ledger.records for name in recalls.counts)

    def _misses_records(self) -> bool:
        """Whether this object wrote here and records are lost since: it has read them."""
        if self.channel_folder.settled is None or self._working_copy is None:
            return False
        self._working_copy.state.catch_up()
        return self._working_copy.state.is_cut

    @property
    def is_awake(self) -> bool:
        """Whether notes or ledger are held in memory."""
        return self._working_copy is not None

    def unchanged(self) -> Notes | None:
        """The notes as last read, `None` where a file changed since; a few stats."""
        return self._working_copy.unchanged() if self._working_copy is not None else None

    def drop_cached(self) -> None:
        """Frees what was read from disk; the next use reads it again. Pending recalls stay.

        Does nothing while another thread uses the channel.
        """
        if self._mutex.acquire(blocking=False):
            try:
                self._working_copy = None
                self.transcript.drop_cached()
            finally:
                self._mutex.release()

    def journal_records(self) -> Iterator[JournalRecord]:
        """What was committed, oldest first, as far back as it is kept.

        Raises `JournalError` at a damaged line.
        """
        return self._loaded().state.journal.records()

    @raises_store_error
    def past(self) -> Past:
        """The journal, the texts as it left them, and as they stand. Writes nothing.

        Raises `JournalError` at a damaged line.
        """
        from pipimem.store.commit.past import Past

        with self._mutex:
            working_copy = self._loaded()
            working_copy.state.catch_up()
            return Past.of(working_copy, working_copy.fresh_view())

    @_retried_when_deleted
    @raises_store_error
    def journal_edits(self, now: datetime) -> None:
        """Takes what people changed by hand into the journal."""
        with self._writing(now, until=0.0) as working_copy:
            journal_edits(working_copy, now)
            self._after_writing(now)

    def archive_stamp(self) -> Stamp | None:
        """What changes with the archive: one `stat`; `None` where there is none."""
        return files.stamp(self.folder / File.ARCHIVE)

    def archive_text(self) -> str:
        """The archive, empty where there is none."""
        return read_text(self.folder / File.ARCHIVE, self.workspace.root) or ""

    @_retried_when_deleted
    @raises_store_error
    def forget(
        self,
        what: str | Sequence[str],
        *,
        keep_transcript: bool,
        now: datetime,
        actor: str = "",
        inside_words: bool = False,
    ) -> Forgotten:
        """Removes a text, or entries and messages by their ids, from everything we keep.

        Returns how much held it, and where. Unless `inside_words`, `Tom` is not looked for in
        `tomorrow`. Where something held it, nothing before can be undone any more. The workspace's
        own files are people's: nothing is taken from them. Raises `StoreError` with nothing
        forgotten while an editor saves one of the files.
        """
        from pipimem.store.forget import forget as forgetting

        until = time.monotonic() + SAVE_GRACE_SECONDS
        with self._writing(now, until, is_held=forgetting.is_being_saved) as working_copy:
            self._recalls.asked.clear()
            receipt = forgetting.forget(
                working_copy,
                self.transcript,
                what,
                keep_transcript,
                now,
                actor,
                inside_words=inside_words,
            )
            self._after_writing(now)
        if forgetting.is_under_way(working_copy):
            self._finish_forgetting(now)
        return receipt

    def _finish_forgetting(self, now: datetime) -> None:
        """Waits for an editor who began to save; each holder of the lock goes on with it."""
        from pipimem.store.forget import forget as forgetting

        until = time.monotonic() + SAVE_GRACE_SECONDS
        with self._writing(now, until, is_held=forgetting.is_under_way) as working_copy:
            if forgetting.is_under_way(working_copy):
                raise StoreError(
                    f"{self.folder}: an editor is saving a file. Save and close it: what is left "
                    "to forget goes with whatever is written next."
                )

    @contextmanager
    def _writing(
        self, now: datetime, until: float, is_held: Callable[[WorkingCopy], bool] = lambda _: False
    ) -> Iterator[WorkingCopy]:
        """Holds the channel to write to it, with the working copy made ready.

        Waits for an editor who is saving, and while `is_held` says so, but not longer than `until`.
        """
        while True:
            with self._mutex:
                self._make_channel()
                with self.channel_folder.lock.held():
                    working_copy = self._ready(now, until)
                    if working_copy and (time.monotonic() >= until or not is_held(working_copy)):
                        yield working_copy
                        return
            time.sleep(_PAUSE)  # outside the lock: others need not wait for an editor

    def _make_channel(self) -> None:
        """Makes the folder a channel of ours; what was read is dropped where it was another's."""
        if self.channel_folder.make_channel():
            self._working_copy = None

    def _loaded(self) -> WorkingCopy:
        if self._working_copy is None:
            state = State.load(self.folder, self.transcript, self._history_end)
            self._working_copy = WorkingCopy(self.folder, self.workspace.root, self.key, state)
        return self._working_copy

    def _history_end(self) -> datetime | None:
        text = read_text(self.folder / File.HISTORY, self.workspace.root)
        return newest_end(Note.read(File.HISTORY, text, self.key)) if text else None

    def _ready(self, now: datetime, until: float) -> WorkingCopy | None:
        """The working copy, with what a crash or another process left unfinished finished.

        `None` while an editor is saving.
        """
        from pipimem.store.forget import forget as forgetting

        working_copy = self._loaded()
        if not self._has_written:
            for folder in (self.channel_folder.own, self.channel_folder.own / "versions"):
                sweep(folder)
        working_copy.state.catch_up(is_to_write=True)
        working_copy.state.accept_files()
        saving = any(
            working_copy.is_locked_by_editor(file, working_copy.read_now(file))
            for file in NOTE_FILES
        )
        if saving and time.monotonic() < until:
            return None
        publish(working_copy, now)
        if working_copy.state.place.is_of_format_1:
            self._now = now
            self._checkpoint()
        forgetting.resume(working_copy, self.transcript, now)
        forgetting.clean_archive_again(working_copy, now)
        return working_copy

    def _after_writing(self, now: datetime) -> None:
        """The caller holds the lock."""
        self._now, self._has_written = now, True
        if self._loaded().state.is_due:
            self._checkpoint()

    def _checkpoint(self) -> None:
        working_copy = self._loaded()
        working_copy.state.catch_up()
        working_copy.state.accept_files()
        if self._now is not None:
            publish(working_copy, self._now)
        if not working_copy.state.has_news or is_unfinished(working_copy):
            return
        texts = {file: working_copy.state.known_text(file, "") for file in NOTE_FILES}
        working_copy.state.checkpoint(
            {file: text for file, text in texts.items() if text is not None}, self._now
        )

    @contextmanager
    def _keeping(self, seen: Notes | None, settles: bool) -> Iterator[bool]:
        """Holds the lock; yields whether a cache made of the notes `seen` may be written.

        It may in a channel that is saved, if nothing was forgotten since. `settles` saves it first.
        """
        with self._mutex:
            if settles:
                self._make_channel()
            if not self.channel_folder.is_saved or self.channel_folder.is_deleted:
                yield False
                return
            with self.channel_folder.lock.held():
                yield seen is None or seen.ledger.forgotten == self.ledger.forgotten


def _new_identity(
    channel_id: str, kind: str, title: str, key: bytes | None, *, is_derived: bool
) -> Identity:
    """A channel that has no `channel.json` yet, with a random key if none is given.

    A folder that is only read gets a key derived from the id, the same at each reading.
    """
    if key is None:
        key = identity.derived_key(channel_id) if is_derived else os.urandom(identity.KEY_BYTES)
    return Identity(channel_id, kind, title, key)


def _unknown(workspace: WorkspaceStore, channel_id: str) -> str:
    missing = f"There is no channel {channel_id!r} in {workspace.root}."
    names = [channel.id for channel in workspace.channels()]
    if not names:
        return f"{missing} There are no channels yet."
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{missing} There are: {', '.join(names[:5])}{more}."
