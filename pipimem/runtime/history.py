"""The changes of a channel: its log, blame and diff, undo and restore."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff

from pipimem.errors import NothingFound, require_count, require_time, require_type
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import Record
from pipimem.notes.operations import Author, Change, Trust
from pipimem.runtime.channel_access import PERSON, ChannelAccess
from pipimem.runtime.threads import finish_in_thread, run_in_thread
from pipimem.store.commit.past import Past, Point
from pipimem.store.history import undo as undoing
from pipimem.store.history.blame import Origin, origins
from pipimem.store.history.undo import Restored, Undone, changes_of, edits_after, taken_back
from pipimem.store.journal.records import FORGET, JournalRecord
from pipimem.text.markdown.lines import split_lines, without_ending

__all__ = [
    "ChannelHistory",
    "EntryOrigin",
    "JournalRecord",
    "LoggedChange",
    "Origin",
    "Past",
    "Point",
    "Restored",
    "TakenBack",
    "Undone",
    "before_newest",
    "change_in_question",
    "changes_of",
    "edits_after",
    "forgotten_at",
    "journal_edits",
    "moment",
    "newest_records",
    "origins_of",
    "past_of",
    "restored",
    "undone",
    "unified",
    "wrote",
]

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


@dataclass(slots=True, eq=False, repr=False)
class ChannelHistory:
    """The changes of one channel's notes: who made them, and how they are taken back."""

    _access: ChannelAccess

    async def log(self, count: int = 20, *, before: int | None = None) -> tuple[LoggedChange, ...]:
        """The newest changes, newest first; those before the change of a number, if one is given.

        Raises `JournalError` where the journal is damaged.
        """
        require_count(count, "count")
        return await run_in_thread(self._log, count, before)

    def _log(self, count: int, before: int | None) -> tuple[LoggedChange, ...]:
        records = newest_records(self._access, count, before)
        undo_of = taken_back(self._access.store.journal_records())
        return tuple(_logged(record, undo_of.get(record.sequence, 0)) for record in records)

    async def change(self, number: int) -> LoggedChange:
        """The change of a number. Raises `NothingFound`."""
        require_count(number, "number")
        found = await run_in_thread(self._log, 1, number + 1)
        if not found or found[0].number != number:
            raise NothingFound(f"There is no change {number}; `log` has those that are kept.")
        return found[0]

    async def blame(self, file: File | None = None) -> tuple[EntryOrigin, ...]:
        """Where each entry of the notes comes from, or of one file, in their order."""
        return tuple(
            map(
                _origin,
                await run_in_thread(origins_of, self._access, [file] if file else FILES),
            )
        )

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
        found = await run_in_thread(
            lambda: unified(self._access.store.past(), files, since, until).values()
        )
        return "\n".join(filter(None, found))

    async def texts(self, point: Point | None = None) -> dict[File, str]:
        """The three files as they stood at a time or right after a change, by default as they are.

        Raises `NothingFound` beyond what the journal keeps, `CannotTakeBack` where it has gaps.
        """
        if point is not None:
            require_point(point, "point")
        return await run_in_thread(self._texts_after, point)

    def _texts_after(self, point: Point | None) -> dict[File, str]:
        past = self._access.store.past()
        if point is None:
            return dict(past.current)
        sequence = past.sequence_at(point)
        return {file: past.known_text(file, sequence) for file in NOTE_FILES}

    async def without(self, number: int) -> dict[File, str]:
        """The files of a change as `undo` would leave them, with nothing changed.

        Raises `CannotTakeBack` where later changes stand on it, `NothingFound` for no such change.
        """
        return await run_in_thread(lambda: undoing.undone_texts(self._access.store.past(), number))

    async def undo(self, number: int | None = None) -> TakenBack:
        """Take one change back, by default the newest that still counts; later ones stay.

        Raises `CannotTakeBack` where later changes stand on it, `NothingFound` for no such change.
        """
        now = self._access.clock.now()
        done = await finish_in_thread(undone, self._access, number, now)
        return TakenBack(done.sequence, done.outcome.changes)

    async def restore(self, point: Point) -> TakenBack:
        """Put the notes back to how they stood at a time, or right after a change, as one change.

        Raises `CannotTakeBack` and `NothingFound` where nobody knows how they stood.
        """
        require_point(point, "point")
        now = self._access.clock.now()
        done = await finish_in_thread(restored, self._access, point, now)
        return TakenBack(done.sequence, done.outcome.changes)


def require_point(point: object, name: str) -> None:
    """Raises `ArgumentError` unless it is a time with its offset, or the number of a change."""
    if isinstance(point, datetime):
        require_time(point, name)
        return
    require_type(point, int, name, "Give a time, or the number of a change; `log` has them.")
    require_count(point, name, least=0)


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


# ── for commands ──────────────────────────────────────────────────────────────────────────────────


def newest_records(
    access: ChannelAccess, count: int, before: int | None = None
) -> list[JournalRecord]:
    """Return the newest records of the journal before that of a number, or of all; newest first."""
    records = access.store.journal_records()
    if before is not None:
        records = (record for record in records if record.sequence < before)
    return list(deque(records, maxlen=count))[::-1]


def origins_of(access: ChannelAccess, files: Iterable[File]) -> list[Origin]:
    """Return the origin of each entry of some files."""
    return origins(access.store.notes(), access.store.journal_records(), files)


def forgotten_at(access: ChannelAccess) -> str:
    """Return the time of the forgetting that the journal begins with; empty if it does not."""
    first = next(iter(access.store.journal_records()), None)
    return first.time if first and first.task == FORGET else ""


def change_in_question(access: ChannelAccess, now: datetime) -> JournalRecord | None:
    """Return what an undo without a number takes back, where that may surprise; else `None`."""
    access.store.journal_edits(now)
    return undoing.to_be_asked(access.store.past())


def undone(access: ChannelAccess, number: int | None, now: datetime) -> Undone:
    """Take one change back, without a number the newest that still counts.

    Raises `CannotTakeBack`, with nothing changed, where later changes stand on it.
    """
    return undoing.undo(access.store, number, now, actor=PERSON)


def restored(access: ChannelAccess, point: Point, now: datetime) -> Restored:
    """Put the notes back to how they stood at a moment, as one change."""
    return undoing.restore(access.store, point, now, actor=PERSON)


def past_of(access: ChannelAccess) -> Past:
    """Return the texts of the notes after each change that the journal keeps."""
    return access.store.past()


def journal_edits(access: ChannelAccess, now: datetime) -> None:
    """Note what was edited by hand since the last look as a change of its own."""
    access.store.journal_edits(now)


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
    old = past.known_text(file, first)
    new = past.current[file] if last is None else past.known_text(file, last)
    before, after = _bare_lines(old), _bare_lines(new)
    if before == after and old != new:
        return [f"--- {file}", f"+++ {file}", "only line ends changed"]
    names = f"{file}  {moment(past, first)}", f"{file}  {moment(past, last)}"
    return list(unified_diff(before, after, *names, lineterm=""))


def _bare_lines(text: str) -> list[str]:
    return [without_ending(line) for line in split_lines(text)]
