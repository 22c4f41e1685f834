"""Looking back at a channel's changes, and taking them back: log, blame, diff, undo, restore."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from anyio import CancelScope, to_thread

from pipimem.clock import Clock
from pipimem.errors import CannotTakeBack
from pipimem.notes.files import File
from pipimem.notes.ledger import Record
from pipimem.notes.notes import Change
from pipimem.notes.operations import Author, Trust
from pipimem.store.channel import ChannelStore
from pipimem.store.commit.past import Past, Point
from pipimem.store.history.blame import Origin, origins
from pipimem.store.history.undo import Restored, Undone, changes_of, edits_after, restore, undo
from pipimem.store.journal.records import FORGET, JournalRecord
from pipimem.text.markdown.lines import split_lines, without_ending

__all__ = [
    "JournalRecord",
    "Origin",
    "Past",
    "Point",
    "Restored",
    "Undone",
    "changes_of",
    "edits_after",
    "forgotten_at",
    "moment",
    "newest_changes",
    "origins_of",
    "restore",
    "undo",
    "unified",
    "wrote",
]

T = TypeVar("T")

FILES = (File.SESSION, File.MEMORY, File.HISTORY)
_PERSON = "person"


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """One commit as the log has it.

    `number` names it for `diff`, `undo` and `restore`, `time` is ISO 8601, `task` what it was done
    for, `actor` the model or person. `refused` are sentences on what was not carried out.
    """

    number: int
    time: str
    author: Author
    actor: str
    task: str
    why: str
    changes: tuple[Change, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryOrigin:
    """Where an entry comes from: who said or wrote it, when, from which messages, by which change.

    `change` is the number of the commit that brought it, `None` where no journal has it.
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


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What an undo or a restore did; `number` is its own in the log, by which it is taken back."""

    number: int
    changes: tuple[Change, ...]


@dataclass(slots=True, init=False, eq=False, repr=False)
class ChannelHistory:
    """The changes of one channel's notes: who made them, and how they are taken back."""

    _store: ChannelStore
    _clock: Clock

    async def log(self, count: int = 20) -> tuple[LoggedChange, ...]:
        """The newest changes, newest first."""
        newest = await to_thread.run_sync(newest_changes, self._store, count)
        return tuple(map(_logged, newest))

    async def blame(self, file: File | None = None) -> tuple[EntryOrigin, ...]:
        """Where each entry of the notes comes from, or of one file, in their order."""
        files = [file] if file else FILES
        found = await to_thread.run_sync(origins_of, self._store, files)
        return tuple(map(_origin, found))

    async def diff(
        self, since: Point | None = None, until: Point | None = None, *, file: File | None = None
    ) -> str:
        """What changed between two moments as a unified diff; empty where nothing did.

        A moment is a time, or the number of a change: right after it. By default the newest change.
        Raises `NothingFound` beyond what the journal keeps.
        """
        files = [file] if file else FILES
        found = await to_thread.run_sync(
            lambda: unified(self._store.past(), files, since, until).values()
        )
        return "\n".join(filter(None, found))

    async def undo(self, number: int | None = None) -> TakenBack:
        """Take one change back, by default the newest that still counts; later ones stay.

        Raises `CannotTakeBack` where later changes stand on it, `NothingFound` for no such change.
        """
        work = partial(undo, self._store, number, self._clock.now(), actor=_PERSON)
        done = await _to_its_end(work)
        return TakenBack(done.sequence, done.outcome.changes)

    async def restore(self, point: Point) -> TakenBack:
        """Put the notes back to how they stood at a time, or right after a change, as one change.

        Raises `CannotTakeBack` and `NothingFound` where nobody knows how they stood.
        """
        work = partial(restore, self._store, point, self._clock.now(), actor=_PERSON)
        done = await _to_its_end(work)
        return TakenBack(done.sequence, done.outcome.changes)


@dataclass(slots=True, eq=False, repr=False)
class OpenHistory(ChannelHistory):
    """A `ChannelHistory` as the runtime makes it."""


async def _to_its_end(work: Callable[[], T]) -> T:
    """The result of a commit, which is not cancelled half way."""
    with CancelScope(shield=True):
        done = await to_thread.run_sync(work)
    return done  # noqa: RET504 - inside the scope mypy cannot tell that it does not swallow


def newest_changes(store: ChannelStore, count: int) -> list[JournalRecord]:
    """The newest records of the journal, newest first."""
    return list(deque(store.journal_records(), maxlen=count))[::-1]


def origins_of(store: ChannelStore, files: Iterable[File]) -> list[Origin]:
    """The origin of each entry of some files."""
    return origins(store.notes(), store.journal_records(), files)


def forgotten_at(store: ChannelStore) -> str:
    """The time of the forgetting that the journal begins with, empty where it begins otherwise."""
    first = next(iter(store.journal_records()), None)
    return first.time if first and first.task == FORGET else ""


def wrote(one: Origin) -> tuple[str, str]:
    """Who said or wrote an entry, and when it was said, else written down."""
    said = one.record.when if one.record else ""
    return _who(one), said or (one.change.time if one.change else "")


def _who(one: Origin) -> str:
    """The speaker, else who made the change."""
    is_human = one.record is None or one.record.trust is Trust.HUMAN
    if one.record and one.record.speaker and not is_human:
        return one.record.speaker
    if one.change is None:
        return "by hand" if is_human else "-"
    if one.change.author is Author.EDITOR:
        return "by hand"
    return one.change.actor or str(one.change.author)


def moment(past: Past, sequence: int | None) -> str:
    """A moment of the past for eyes: the change and its time; `None` is now."""
    if sequence is None:
        return "now"
    for change in past.records:
        if change.sequence == sequence:
            return f"after change {sequence} ({change.time})"
    return "before the first change"


def unified(
    past: Past, files: Sequence[File], since: Point | None, until: Point | None
) -> dict[File, str]:
    """The diff of each file between two moments; by default from before the newest change to now.

    Raises `CannotTakeBack` where a text is not known any more, `NothingFound` beyond the journal.
    """
    first = before_newest(past) if since is None else past.sequence_at(since)
    last = None if until is None else past.sequence_at(until)
    return {file: "\n".join(_diff(past, file, first, last)) for file in files}


def before_newest(past: Past) -> int:
    """The number of the change before the newest.

    A hand edit that is in no journal yet is newer than all that are.
    """
    if not past.records:
        return 0
    if past.base != past.current:
        return past.records[-1].sequence
    for one in reversed(past.records):
        if one.files:
            return max(past.begins, one.sequence - 1)
    return past.begins


def _diff(past: Past, file: File, first: int, last: int | None) -> list[str]:
    """The lines of a diff between two changes (`None`: now)."""
    old = past.text_after(file, first)
    new = past.current[file] if last is None else past.text_after(file, last)
    if old is None or new is None:
        raise CannotTakeBack(
            f"what {file} was then cannot be told any more, because a part of .pipimem/ is gone; "
            "choose a later point"
        )
    from difflib import unified_diff  # 6 ms that a bot need not take

    before, after = _bare_lines(old), _bare_lines(new)
    if before == after and old != new:
        return [f"--- {file}", f"+++ {file}", "only line ends changed"]
    names = f"{file}  {moment(past, first)}", f"{file}  {moment(past, last)}"
    return list(unified_diff(before, after, *names, lineterm=""))


def _bare_lines(text: str) -> list[str]:
    return [without_ending(line) for line in split_lines(text)]


def _logged(one: JournalRecord) -> LoggedChange:
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
        known.sources,
        known.trust,
        number,
    )
