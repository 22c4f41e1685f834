"""A channel and its workspace as they stand on disk, for commands that need no event loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pipimem.errors import ChannelError
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author
from pipimem.runtime.forget_preview import (
    Forgettable,
    Passage,
    forget_targets,
    forgettable,
    remains,
    speakers_of,
)
from pipimem.store.arrivals import first_arrival
from pipimem.store.channel import ChannelStore
from pipimem.store.commit.past import Past, Point
from pipimem.store.disk.files import read_text
from pipimem.store.forget.verify import Trace
from pipimem.store.history.blame import Origin, origins
from pipimem.store.history.undo import (
    Restored,
    Undone,
    changes_of,
    restore,
    taken_back,
    to_be_asked,
    undo,
    undone_texts,
)
from pipimem.store.journal.records import FORGET, JournalRecord
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.store.forget.verify import Forgotten  # loaded by a forgetting alone

__all__ = ["ChannelOnDisk", "WorkspaceStore", "remains_in"]

_PERSON = "person"


@dataclass(frozen=True, slots=True)
class ChannelOnDisk:
    """A channel's files and changes, and what a person does with them while a bot may run.

    What it changes is a commit by a person; `close` writes what would wait for an idle moment.
    """

    _store: ChannelStore

    @classmethod
    def opened(cls, workspace: WorkspaceStore, name: str) -> Self:
        """The channel of an id. Raises `ChannelError` for an unknown one."""
        return cls(ChannelStore.open(workspace, name, create=False))

    @classmethod
    def opened_or_arrived(cls, workspace: WorkspaceStore, name: str) -> Self:
        """The channel of an id, also where only what a killed bot had acknowledged tells of it.

        Then it is made, as the bot's next start would make it: what is to be forgotten there could
        not be reached otherwise. Its title comes with that start. Raises `ChannelError` for an
        unknown one.
        """
        try:
            return cls.opened(workspace, name)
        except ChannelError:
            arrival = first_arrival(workspace.root, name)
            if arrival is None:
                raise
            return cls(ChannelStore.open(workspace, name, create=True, kind=arrival.kind))

    @property
    def id(self) -> str:
        """The platform's id of the conversation."""
        return self._store.channel_id

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        return self._store.folder

    @property
    def root(self) -> Path:
        """The folder of its workspace."""
        return self._store.workspace.root

    def close(self) -> None:
        """Write what waits for an idle moment."""
        self._store.close()

    def remove(self) -> None:
        """Delete it for good; the usage ledger keeps its lines."""
        workspace = self._store.workspace
        (info,) = [one for one in workspace.channels() if one.folder == self.folder]
        workspace.remove(info)

    # ── what stands there ─────────────────────────────────────────────────────────────────────────

    def text(self, file: File) -> str:
        """A file as it stands, empty where there is none."""
        return read_text(self.folder / file, self.root) or ""

    def notes(self) -> Notes:
        """The notes as they stand now."""
        return self._store.notes()

    def messages(self) -> Iterator[Message]:
        """The whole transcript, oldest first."""
        return self._store.transcript.messages()

    @property
    def last_number(self) -> int:
        """The number of the newest message; 0 where there is none."""
        return self._store.transcript.last_number

    # ── its changes ───────────────────────────────────────────────────────────────────────────────

    def journal_edits(self, now: datetime) -> None:
        """Note what was edited by hand since the last look as a change of its own."""
        self._store.journal_edits(now)

    def newest_changes(self, count: int, before: int | None = None) -> list[JournalRecord]:
        """The newest records of the journal before one of a number, or of all; newest first."""
        records = self._store.journal_records()
        if before is not None:
            records = (record for record in records if record.sequence < before)
        return list(deque(records, maxlen=count))[::-1]

    def taken_back(self) -> dict[int, int]:
        """The numbers of the changes that are taken back, each with the number of its undo."""
        return taken_back(self._store.journal_records())

    def changes_of(self, author: Author, since: datetime) -> list[JournalRecord]:
        """The changes by an author since a time that were not taken back, newest first."""
        return changes_of(self.past(), author, since)

    def origins(self, files: Iterable[File]) -> list[Origin]:
        """The origin of each entry of some files."""
        return origins(self._store.notes(), self._store.journal_records(), files)

    def forgotten_at(self) -> str:
        """The time of the forgetting that the journal begins with; empty if it does not."""
        first = next(iter(self._store.journal_records()), None)
        return first.time if first and first.task == FORGET else ""

    def past(self) -> Past:
        """The texts of the notes after each change that the journal keeps."""
        return self._store.past()

    def to_be_asked(self, now: datetime) -> JournalRecord | None:
        """What an undo without a number takes back, where that may surprise; else `None`."""
        self.journal_edits(now)
        return to_be_asked(self.past())

    def undo(self, number: int | None, now: datetime) -> Undone:
        """Take one change back, without a number the newest that still counts.

        Raises `CannotTakeBack`, with nothing changed, where later changes stand on it.
        """
        return undo(self._store, number, now, actor=_PERSON)

    def undone_texts(self, number: int) -> dict[File, str]:
        """The files of a change as an undo would leave them.

        Raises `CannotTakeBack` where later changes stand on it.
        """
        return undone_texts(self.past(), number)

    def texts_after(self, point: Point | None) -> dict[File, str]:
        """The texts of the notes at a moment, `None` for now.

        Raises `NothingFound` beyond what the journal keeps, `CannotTakeBack` where a part is gone.
        """
        past = self.past()
        if point is None:
            return dict(past.current)
        sequence = past.sequence_at(point)
        return {file: past.known_text(file, sequence) for file in NOTE_FILES}

    def restore(self, point: Point, now: datetime) -> Restored:
        """Put the notes back to how they stood at a moment, as one change."""
        return restore(self._store, point, now, actor=_PERSON)

    # ── forgetting ────────────────────────────────────────────────────────────────────────────────

    def forget_targets(
        self,
        what: str | Sequence[str] = (),
        *,
        speaker: str = "",
        message: str = "",
        inside_words: bool = False,
    ) -> str | list[str]:
        """What to give `forget` for a text, ids, a speaker's words, or one message.

        Raises `NothingFound` where nothing is meant, and `ArgumentError` for a text and a message.
        """
        return forget_targets(
            self._store, what, speaker=speaker, message=message, inside_words=inside_words
        )

    def speakers_of(self, found: Forgettable) -> frozenset[str]:
        """The names of all on whose words what was found rests, an empty one for the unknown."""
        return speakers_of(self._store, found)

    def speakers_of_entry(self, ref: str) -> frozenset[str]:
        """The names of all on whose words an entry of MEMORY.md rests; none where it is gone."""
        meant = [one for one in self.notes().memory.entries if one.ref == ref]
        found = Forgettable([Passage.of(entry) for entry in meant])
        return speakers_of(self._store, found) if meant else frozenset()

    def forgettable(
        self,
        what: str | Sequence[str],
        *,
        keep_transcript: bool = False,
        inside_words: bool = False,
    ) -> tuple[Forgettable, Forgettable]:
        """What a `forget` would remove, and what holds it only inside another word."""
        return forgettable(
            self._store, what, keep_transcript=keep_transcript, inside_words=inside_words
        )

    def forget(
        self,
        what: str | Sequence[str],
        now: datetime,
        *,
        keep_transcript: bool = False,
        inside_words: bool = False,
        with_learnt: bool = False,
    ) -> Forgotten:
        """Remove a text, or entries and messages by their ids, from everything we keep.

        With `with_learnt` also what was learnt from the messages since somebody looked that up.
        """
        return self._store.forget(
            what,
            keep_transcript=keep_transcript,
            now=now,
            actor=_PERSON,
            inside_words=inside_words,
            with_learnt=with_learnt,
        )


def remains_in(
    workspace: WorkspaceStore, name: str, text: str, *, inside_words: bool
) -> tuple[list[Trace], list[Trace]]:
    """Where a text still stands: in our files of a channel, then in people's of the workspace.

    Writes nothing; of a channel that only arrivals tell of it finds these. Raises `ChannelError`
    for an unknown one.
    """
    try:
        folder = ChannelOnDisk.opened(workspace, name).folder
    except ChannelError:
        if first_arrival(workspace.root, name) is None:
            raise
        folder = workspace.folder_of(name)
    return remains(workspace.root, folder, text, inside_words=inside_words)
