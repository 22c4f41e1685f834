"""The changes of a channel for hosts: its log, blame and diff, undo and restore, in threads."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from anyio import CancelScope, to_thread

from pipimem.clock import Clock
from pipimem.errors import NothingFound, require_count
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Record
from pipimem.notes.operations import Author, Change, Trust
from pipimem.runtime.call_arguments import require_point
from pipimem.runtime.change_history import unified, wrote
from pipimem.runtime.on_disk import ChannelOnDisk
from pipimem.store.commit.past import Point
from pipimem.store.history.blame import Origin
from pipimem.store.journal.records import JournalRecord

T = TypeVar("T")

FILES = (File.SESSION, File.MEMORY, File.HISTORY)
# How `memory` begins why a change was made that came of talk, and why such a job failed.
_MESSAGES = re.compile(r"(?:failed: )?messages ([1-9][0-9]*)–([1-9][0-9]*)\b")


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """One commit as the log has it.

    `number` names it for `diff`, `undo` and `restore`, `time` is ISO 8601, `task` what it was done
    for, `actor` the model or person. `refused` are sentences on what was not carried out. `tokens`
    are those of the model calls that it took, 0 without any. `undone_by` is the change that took it
    back, 0 where it stands.
    """

    number: int
    time: str
    author: Author
    actor: str
    task: str
    why: str
    changes: tuple[Change, ...] = ()
    refused: tuple[str, ...] = ()
    tokens: int = 0
    undone_by: int = 0

    @property
    def messages(self) -> tuple[int, int] | None:
        """The numbers of the first and the last message that it read; `None` where it read none.

        A change that sets messages aside, or learns at last what was set aside, names them too.
        """
        found = _MESSAGES.match(self.why)
        return (int(found[1]), int(found[2])) if found else None


@dataclass(frozen=True, slots=True)
class EntryOrigin:
    """Where an entry comes from: who said or wrote it, when, from which messages, by which change.

    `change` is the number of the commit that brought it, `None` where no journal has it.
    `heard_by` are the people who were there when it was learnt: all who had spoken by then.
    """

    file: File
    section: str
    id: str
    text: str
    who: str
    when: str
    sources: tuple[str, ...]
    trust: Trust
    change: int | None
    heard_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What an undo or a restore did; `number` is its own in the log, by which it is taken back."""

    number: int
    changes: tuple[Change, ...]


@dataclass(slots=True, init=False, eq=False, repr=False)
class ChannelHistory:
    """The changes of one channel's notes: who made them, and how they are taken back."""

    _channel: ChannelOnDisk
    _clock: Clock

    async def log(self, count: int = 20, *, before: int | None = None) -> tuple[LoggedChange, ...]:
        """The newest changes, newest first; those before the change of a number, if one is given.

        Raises `JournalError` where the journal is damaged.
        """
        require_count(count, "count")
        return await to_thread.run_sync(self._log, count, before)

    def _log(self, count: int, before: int | None) -> tuple[LoggedChange, ...]:
        changes = self._channel.newest_changes(count, before)
        undone = self._channel.taken_back()
        return tuple(_logged(one, undone.get(one.sequence, 0)) for one in changes)

    async def change(self, number: int) -> LoggedChange:
        """The change of a number. Raises `NothingFound`."""
        require_count(number, "number")
        found = await to_thread.run_sync(self._log, 1, number + 1)
        if not found or found[0].number != number:
            raise NothingFound(f"There is no change {number}; `log` has those that are kept.")
        return found[0]

    async def blame(self, file: File | None = None) -> tuple[EntryOrigin, ...]:
        """Where each entry of the notes comes from, or of one file, in their order."""
        files = [file] if file else FILES
        found = await to_thread.run_sync(self._channel.origins, files)
        return tuple(map(_origin, found))

    async def diff(
        self, since: Point | None = None, until: Point | None = None, *, file: File | None = None
    ) -> str:
        """What changed between two moments as a unified diff; empty where nothing did.

        A moment is a time, or the number of a change: right after it. By default the newest change.
        Raises `NothingFound` beyond what the journal keeps.
        """
        for name, point in (("since", since), ("until", until)):
            if point is not None:
                require_point(point, name)
        files = [file] if file else FILES
        found = await to_thread.run_sync(
            lambda: unified(self._channel.past(), files, since, until).values()
        )
        return "\n".join(filter(None, found))

    async def texts(self, point: Point | None = None) -> dict[File, str]:
        """The three files as they stood at a time or right after a change, by default as they are.

        Raises `NothingFound` beyond what the journal keeps, `CannotTakeBack` where it has gaps.
        """
        if point is not None:
            require_point(point, "point")
        return await to_thread.run_sync(self._channel.texts_after, point)

    async def without(self, number: int) -> dict[File, str]:
        """The files of a change as `undo` would leave them, with nothing changed.

        Raises `CannotTakeBack` where later changes stand on it, `NothingFound` for no such change.
        """
        return await to_thread.run_sync(self._channel.undone_texts, number)

    async def undo(self, number: int | None = None) -> TakenBack:
        """Take one change back, by default the newest that still counts; later ones stay.

        Raises `CannotTakeBack` where later changes stand on it, `NothingFound` for no such change.
        """
        done = await _to_its_end(partial(self._channel.undo, number, self._clock.now()))
        return TakenBack(done.sequence, done.outcome.changes)

    async def restore(self, point: Point) -> TakenBack:
        """Put the notes back to how they stood at a time, or right after a change, as one change.

        Raises `CannotTakeBack` and `NothingFound` where nobody knows how they stood.
        """
        require_point(point, "point")
        done = await _to_its_end(partial(self._channel.restore, point, self._clock.now()))
        return TakenBack(done.sequence, done.outcome.changes)


@dataclass(slots=True, eq=False, repr=False)
class OpenHistory(ChannelHistory):
    """A `ChannelHistory` as the runtime makes it."""


async def _to_its_end(work: Callable[[], T]) -> T:
    """The result of a commit, which is not cancelled half way."""
    with CancelScope(shield=True):
        done = await to_thread.run_sync(work)
    return done  # noqa: RET504 - inside the scope mypy cannot tell that it does not swallow


def _logged(one: JournalRecord, undone_by: int) -> LoggedChange:
    refused = [f"{line.operation} {line.text}: {line.reason}" for line in one.refused]
    return LoggedChange(
        one.sequence,
        one.time,
        one.author,
        one.actor,
        one.task,
        one.why,
        one.changes,
        (*refused, *one.notes),
        one.tokens.run if one.tokens else 0,
        undone_by,
    )


def _origin(one: Origin) -> EntryOrigin:
    known = one.record or Record(Trust.HUMAN)
    who, when = wrote(one)
    entry, number = one.entry, one.change.sequence if one.change else None
    return EntryOrigin(
        entry.file,
        entry.section,
        entry.ref,
        entry.text,
        who,
        when,
        one.sources,
        known.trust,
        number,
        one.heard_by,
    )
