"""One channel's folder, as the runtime sees it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial, wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import DamagedState, DatabaseUnavailable, LockLost, StoreError
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Asked, Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Author, Decision
from pipimem.state.changes import ChangeRecord, StoredLeftOut
from pipimem.store import identity
from pipimem.store.caches.channel_caches import Caches
from pipimem.store.commit.commit import (
    CarryOut,
    CommitInDoubt,
    Committed,
    Recalls,
    commit,
    record_edits,
)
from pipimem.store.commit.past import Past
from pipimem.store.commit.publish import set_note_aside
from pipimem.store.commit.working_copy import UnreadableFile, WorkingCopy
from pipimem.store.disk import editor_saves
from pipimem.store.disk.files import read_text
from pipimem.store.disk.syscalls import raises_store_error
from pipimem.store.forget import forget as forgetting
from pipimem.store.forget.find import find_targets
from pipimem.store.forget.places import (
    VISIBLE,
    Forgetting,
    Forgotten,
    Held,
    Plan,
    find_held,
    in_caches,
    in_state,
    in_talk,
    is_being_saved,
)
from pipimem.store.forget.targets import ForgetTargets
from pipimem.store.identity import ChannelFolder
from pipimem.store.off_the_record import OffTheRecord
from pipimem.store.opened_channel import OpenedChannel
from pipimem.store.transcript.log import Transcript
from pipimem.store.workspace import WorkspaceStore

_P = ParamSpec("_P")
_T = TypeVar("_T")
_log = logging.getLogger("pipimem")

# After so many attempts on a fresher text, what is saved meanwhile is merged instead.
_TRIES = 2
# A deletion hits one attempt; somebody who deletes one file after the other hits several.
_RETRIES = 4


class CommitRetry(Struct, frozen=True):
    """A decision for a channel; `now` is the conversation's time, `wall` the real one."""

    opened: OpenedChannel
    recalls: Recalls
    decision: Decision
    now: datetime
    actor: str
    wall: datetime
    carry_out: CarryOut | None
    wait: float | None = None

    def done(self) -> Committed:
        """Commit, again if the lock was lost or something of `.pipimem/` deleted meanwhile.

        Raises `StoreError` with everything as it was.
        """
        return retry_when_deleted(self.opened.channel_folder, self._attempt)

    def _attempt(self) -> Committed:
        """Commit once; return what was committed also if that is found out only afterwards."""
        try:
            return self._commit()
        except CommitInDoubt as doubt:
            has_landed = partial(self._has_landed, doubt)
            if retry_when_deleted(self.opened.channel_folder, has_landed):
                return doubt.committed
            raise

    def _commit(self) -> Committed:
        deadline = editor_saves.save_deadline()
        done: Committed | None = None
        tries = 0
        while done is None:
            with self.opened.writing(self.wall, deadline, wait=self.wait) as working_copy:
                self.recalls.take_in()
                done = commit(
                    working_copy,
                    self.decision,
                    self.now,
                    self.actor,
                    self.wall,
                    self.recalls,
                    insists=tries == _TRIES,
                    carry_out=self.carry_out,
                )
                if done is not None:
                    self._after(done)
            tries += 1
        return done

    def _after(self, done: Committed) -> None:
        """End a commit that is durable; what fails here is done with the next."""
        try:
            self.opened.after_writing(self.wall)
        except (StoreError, OSError) as error:
            _log.info("change %s is committed; what goes with it waits: %s", done.sequence, error)

    def _has_landed(self, doubt: CommitInDoubt) -> bool:
        """Return whether the state has the change, or the notes have its texts.

        They have them where the state was deleted right behind the commit.
        """
        texts = doubt.committed.outcome.texts
        with self.opened.writing(self.wall, until=0.0) as working_copy:
            has_landed = working_copy.state.has(doubt.change) or (
                bool(texts)
                and all(working_copy.read_now(file).text == text for file, text in texts.items())
            )
        if has_landed:
            self.recalls.clear()
        return has_landed


class _HasFolder(Protocol):
    @property
    def channel_folder(self) -> ChannelFolder: ...


_S = TypeVar("_S", bound=_HasFolder)


def retried_when_deleted(
    method: Callable[Concatenate[_S, _P], _T],
) -> Callable[Concatenate[_S, _P], _T]:
    """A method that is called again where something of `.pipimem/` was deleted during a call."""

    @wraps(method)
    def call(self: _S, /, *args: _P.args, **options: _P.kwargs) -> _T:
        return retry_when_deleted(self.channel_folder, partial(method, self, *args, **options))

    return call


def retry_when_deleted(channel_folder: ChannelFolder, work: Callable[[], _T]) -> _T:
    """Return what `work` returns; call it again if something was deleted under it."""
    for _ in range(_RETRIES):
        try:
            return work()
        except StoreError as error:
            if not is_worth_retrying(error, channel_folder):
                raise
    return work()


def is_worth_retrying(error: StoreError, channel_folder: ChannelFolder) -> bool:
    """Return whether an error came by a lost lock, or by a deletion in `.pipimem/`."""
    return (
        isinstance(error, LockLost | DamagedState | CommitInDoubt)
        or isinstance(error.__cause__, FileNotFoundError)
        or channel_folder.is_deleted
    )


@dataclass(slots=True)
class ChannelStore:
    """The notes, the state and the transcript of one channel.

    Methods may be called from any thread. Opening reads one small file; state and transcript are
    read at their first use.
    """

    workspace: WorkspaceStore
    _opened: OpenedChannel
    _recalls: Recalls = field(default_factory=Recalls)
    # When an entry was first recalled here.
    _recalled: datetime | None = None

    @classmethod
    def open(
        cls,
        workspace: WorkspaceStore,
        channel_id: str,
        *,
        create: bool,
        kind: str = "",
        title: str = "",
        key: bytes | None = None,
    ) -> ChannelStore:
        """The store of a channel.

        `kind` and `key` count when it is new, a `kind` also where nobody gave one before, a
        `title` at any time. Raises `ChannelError` for a
        folder of another channel and, without `create`, for a channel that is not there.
        """
        new = identity.new(channel_id, kind, title, key, is_derived=not create)
        return cls(workspace, OpenedChannel.open(workspace, channel_id, create=create, new=new))

    @property
    def channel_folder(self) -> ChannelFolder:
        """The folder, and whose it is."""
        return self._opened.channel_folder

    @property
    def transcript(self) -> Transcript:
        """What was said."""
        return self._opened.transcript

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
    @retried_when_deleted
    @raises_store_error
    def ledger(self) -> Ledger:
        """The ledger without a look at the files: what gates count by."""
        return self._opened.ledger

    @retried_when_deleted
    @raises_store_error
    def hear(self, messages: Iterable[Message]) -> None:
        """Count people among those who speak, before a consolidation has their words."""
        self._opened.hear(message.speaker for message in messages if message.role == "user")

    def notes(self, *, refresh: bool = True) -> Notes:
        """The notes as they stand: the same object while nothing changed.

        Never writes, and never waits for a commit.
        """
        return self._opened.notes(refresh=refresh)

    @raises_store_error
    def commit(
        self,
        decision: Decision,
        now: datetime,
        actor: str = "",
        wall: datetime | None = None,
        carry_out: CarryOut | None = None,
        *,
        of_a_turn: bool = False,
    ) -> Committed:
        """Carries a decision out on the freshest texts, all or nothing; durable when it returns.

        `now` is the conversation's time, `wall` the real one for the change where it is another. A
        decision that changes nothing writes nothing. One `of_a_turn` waits for no other commit:
        it raises `LockTimeout`. Raises `StoreError` with everything as it was.
        """
        run = CommitRetry(
            self._opened,
            self._recalls,
            decision,
            now,
            actor,
            wall or now,
            carry_out,
            self._opened.patience if of_a_turn else None,
        )
        done = run.done()
        self._opened.read_again()
        return done

    @raises_store_error
    def make_channel(self) -> None:
        """Makes the folder a channel of ours, unless it is one."""
        self._opened.make_channel()

    def append(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Adds the messages the transcript lacks, numbered, and returns those; they are synced.

        Waits for no commit.
        """
        return self._append(tuple(messages))

    @retried_when_deleted
    @raises_store_error
    def _append(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        self._opened.make_for_talk()
        with self._opened.beside_older_writers():
            return self.transcript.append(messages, after=self._opened.newest_message())

    def touch_recalls(self, ids: Iterable[str], when: datetime, asked: Asked | None = None) -> None:
        """Counts a recall of these entries, and keeps the question, until a commit or `close`.

        Waits for no commit.
        """
        self._recalls.note(ids, when, asked, self._opened.known_sequence)
        self._recalled = self._recalled or when

    def with_pending_recalls(self, notes: Notes) -> Notes:
        """The notes with the recalls that the next commit will write."""
        with self._opened.mutex:
            self._recalls.take_in()
            return self._recalls.noted_in(notes)

    @retried_when_deleted
    @raises_store_error
    def take_in_spool(self) -> None:
        """Adds talk that waits beside the transcript to it; nothing on one host."""
        self._opened.take_in_spool()

    @property
    def caches(self) -> Caches:
        """What is kept on disk only to save time."""
        return self._opened.caches

    @property
    def off_the_record(self) -> OffTheRecord:
        """The marks of messages that are never written."""
        return self._opened.off_the_record

    @raises_store_error
    def close(self) -> None:
        """Write pending recalls; not where the channel is gone."""
        with self._opened.mutex:
            if not self.channel_folder.is_deleted:
                # Counts of recalls are lost with a database that is gone, talk waits on the disk.
                with suppress(DatabaseUnavailable):
                    self._close()

    def _close(self) -> None:
        self._recalls.take_in()
        if self._recalled and self._recalls.are_worth_writing(self.ledger):
            self._recalls.are_due = True
            self.commit(Decision("recalls", Author.RULE), self._recalled)

    @property
    def is_loaded(self) -> bool:
        """Whether notes or ledger are held in memory."""
        return self._opened.working_copy is not None

    def unchanged(self) -> Notes | None:
        """The notes as last read, `None` where a file changed since; a few stats."""
        return self._opened.unchanged()

    def drop_cached(self) -> None:
        """Frees what was read, unless another thread uses the channel. Pending recalls stay."""
        self._opened.drop_cached()

    @retried_when_deleted
    @raises_store_error
    def changes(self, after: int = 0) -> list[ChangeRecord]:
        """Return what was committed, oldest first, as far back as it is kept."""
        return self._opened.loaded().state.changes(after)

    @retried_when_deleted
    @raises_store_error
    def left_out(self) -> list[StoredLeftOut]:
        """Return what answers had and memory did not take, oldest first."""
        return self._opened.loaded().state.all_left_out()

    @retried_when_deleted
    @raises_store_error
    def text_of(self, etag: str) -> str | None:
        """Return the text of an etag that a change names; `None` where it is not kept."""
        return self._opened.loaded().state.text(etag)

    @raises_store_error
    def set_state_aside(self) -> None:
        """Give a damaged state another name; the next change begins a new one."""
        with self._opened.mutex, self.channel_folder.lock.held():
            self._opened.loaded().state.database.set_aside()
            self._opened.working_copy = None

    @retried_when_deleted
    @raises_store_error
    def past(self) -> Past:
        """Return the changes, the texts as they left them, and as they stand. Writes nothing."""
        with self.reading() as working_copy:
            return Past.of(working_copy, working_copy.fresh_view())

    @contextmanager
    def reading(self) -> Iterator[WorkingCopy]:
        """What is known of the channel, brought up to its newest change; other threads wait."""
        with self._opened.mutex:
            working_copy = self._opened.loaded()
            working_copy.state.catch_up()
            yield working_copy

    @retried_when_deleted
    @raises_store_error
    def record_edits(self, now: datetime, *, only_seen: bool = False) -> None:
        """Record edits by hand; `only_seen`: only if the notes that were read last have any."""
        seen = self._opened.working_copy
        if only_seen and (seen is None or not seen.has_unrecorded_edits):
            return
        patience = self._opened.patience if only_seen else None  # it is the end of a turn
        with self._opened.writing(now, until=0.0, wait=patience) as working_copy:
            record_edits(working_copy, now)
            self._opened.after_writing(now)

    @retried_when_deleted
    @raises_store_error
    def unreadable(self) -> Mapping[File, UnreadableFile]:
        """Return the notes that are no text, and why; what is written waits for them."""
        with self.reading() as working_copy:
            working_copy.read_notes()
            return working_copy.unreadable

    @raises_store_error
    def set_note_aside(self, file: File, now: datetime) -> str:
        """Give a note that is no text another name, and put its newest known text in its place.

        Returns the other name, empty where it is a text meanwhile. Raises `StoreError` where no
        text of it is known.
        """
        with self._opened.writing(now, until=0.0) as working_copy:
            return set_note_aside(working_copy, file, now)

    def archive(self) -> Note:
        """HISTORY.archive.md as it stands; an empty note where there is none."""
        text = read_text(self.folder / File.ARCHIVE, self.workspace.root)
        return Note.read(File.ARCHIVE, text or "", self.key)

    @retried_when_deleted
    @raises_store_error
    def forget(
        self,
        what: str | Sequence[str],
        *,
        keep_transcript: bool,
        now: datetime,
        actor: str = "",
        inside_words: bool = False,
        with_learnt: bool = False,
    ) -> Forgotten:
        """Remove a text, or entries and messages by ids; return how much held it, and where.

        `what`, `inside_words` and `with_learnt` are as in `find_targets`. Where something held it,
        nothing before can be undone. The workspace's files are people's. Raises `StoreError`,
        nothing forgotten, while one is saved.
        """
        until = editor_saves.save_deadline()
        with self._opened.writing(now, until, is_held=is_being_saved) as working_copy:
            self._recalls.take_in()
            self._recalls.asked.clear()

            def find() -> ForgetTargets:
                targets = self._targets(working_copy, what, inside_words, with_learnt)
                return replace(targets, keep_transcript=keep_transcript, actor=actor)

            receipt = forgetting.forget(working_copy, self.transcript, now, find)
            self._opened.after_writing(now)
        if forgetting.is_under_way(working_copy):
            self._finish_forgetting(now)
        return receipt

    @raises_store_error
    def find_held(
        self,
        what: str | Sequence[str],
        *,
        keep_transcript: bool = False,
        inside_words: bool = False,
        with_learnt: bool = True,
    ) -> tuple[list[Held], list[Held]]:
        """Return what a `forget` would remove of what people see; it takes the same arguments.

        Second comes all that holds it, also inside another word.
        """
        with self.reading() as working_copy:
            targets = self._targets(working_copy, what, inside_words, with_learnt)
            targets = replace(targets, keep_transcript=keep_transcript)
            whole = Forgetting(working_copy, self.transcript, Plan(targets))
            inside = replace(whole, plan=Plan(replace(targets, inside_words=True)))
            return find_held(whole, VISIBLE), find_held(inside, VISIBLE)

    def _targets(
        self,
        working_copy: WorkingCopy,
        what: str | Sequence[str],
        inside_words: bool,
        with_learnt: bool,
    ) -> ForgetTargets:
        notes, log = working_copy.fresh_view().current, self.transcript
        return find_targets(
            working_copy, log, notes, what, inside_words=inside_words, with_learnt=with_learnt
        )

    @raises_store_error
    def has_in_past(self, text: str, *, inside_words: bool) -> bool:
        """Return whether a past text, a change or the ledger holds a text, also over lines."""
        targets = ForgetTargets.of([text], inside_words=inside_words)
        with self.reading() as working_copy:
            channel = Forgetting(working_copy, self.transcript, Plan(targets))
            return bool(find_held(channel, [in_state]))

    @raises_store_error
    def empty_messages(self, messages: Iterable[str]) -> None:
        """Empty messages that nothing was learnt from; they keep their numbers and ids.

        Undo goes on as before. Raises `StoreError`.
        """
        targets = ForgetTargets.of((), messages)
        with self._opened.mutex, self.channel_folder.lock.held():
            self.transcript.take_in_spool()
            channel = Forgetting(self._opened.loaded(), self.transcript, Plan(targets))
            for place in (in_caches, in_talk):
                place(channel, False)

    def _finish_forgetting(self, now: datetime) -> None:
        """Waits for an editor who began to save; each holder of the lock goes on with it."""
        until = editor_saves.save_deadline()
        with self._opened.writing(now, until, is_held=forgetting.is_under_way) as working_copy:
            if forgetting.is_under_way(working_copy):
                raise StoreError(
                    f"{self.folder}: an editor is saving a file. Save and close it: what is left "
                    "to forget goes with whatever is written next."
                )
