"""The changes of a channel: its log, blame and diff, undo and restore."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import unified_diff
from typing import NamedTuple

from pipimem.errors import NothingFound, require_count, require_one_of, require_time, require_type
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import Record
from pipimem.notes.operations import Author, Change, Progress, Tokens, Trust
from pipimem.runtime.channel_access import PERSON, ChannelAccess
from pipimem.runtime.threads import finish_in_thread, run_in_thread
from pipimem.state.changes import FORGET, ChangeRecord, RefusedLine
from pipimem.store.commit.past import Past, Point
from pipimem.store.history import undo as undoing
from pipimem.store.history.blame import Origin, origins
from pipimem.text.markdown.line_edits import splices_between
from pipimem.text.markdown.lines import split_lines, without_ending

__all__ = [
    "ChannelHistory",
    "Comparison",
    "EditByHand",
    "EditedLine",
    "EntryOrigin",
    "LoggedChange",
    "Moment",
    "Point",
    "RestorePreview",
    "TakenBack",
]

FILES = (File.SESSION, File.MEMORY, File.HISTORY)
_BEFORE_ALL = "before the first change"
# The counters of a channel's progress that a log tells.
_COUNTERS = ("cursor", "boundary", "refreshed", "epoch")
# How `memory` begins why a change was made that came of talk, and why such a job failed.
_MESSAGES = re.compile(r"(?:failed: )?messages ([1-9][0-9]*)–([1-9][0-9]*)\b")


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """One commit as the log has it.

    `number` names it for `diff`, `undo` and `restore`, `time` is ISO 8601, `task` what it was done
    for, `actor` the model or person. `refused` are sentences on what was not carried out. `tokens`
    are those of the model calls that it took, 0 without any. `undone_by` is the change that took it
    back, 0 where it stands.

    `correlation` is what its model calls have in the ledger of costs, `spent` the calls by tokens.
    `refusals` are what was not carried out, `notes` sentences on what was left out before; `moved`
    are the counters that it set (`cursor`, `boundary`, `refreshed`: numbers of messages). With
    `in_archive` some of it is also in HISTORY.archive.md, which only grows.
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
    correlation: str = ""
    refusals: tuple[RefusedLine, ...] = ()
    notes: tuple[str, ...] = ()
    spent: Tokens | None = None
    moved: Mapping[str, int] = field(default_factory=dict)
    in_archive: bool = False

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

    `change` is the number of the commit that brought it, `None` where no change that is kept did.
    `heard_by` are the people who were there when it was learnt: all who had spoken by then. `line`
    is the line of the file on which it begins, from 1. `made_by` is that change, `brought_back` the
    undo or restore that added it once more, and `predecessor` the entry that it took the place of.
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
    line: int = 0
    predecessor: str = ""
    made_by: LoggedChange | None = None
    brought_back: LoggedChange | None = None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What an undo or a restore did; `number` is its own in the log, by which it is taken back.

    `files` are those whose text it changed; `undone` is the change that an undo took back.
    """

    number: int
    changes: tuple[Change, ...]
    files: tuple[File, ...] = ()
    undone: LoggedChange | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of the past: right after the change of a number, which was made at `time`.

    The number is `None` for now; the time is empty before the first change. As a text it is for
    eyes.
    """

    number: int | None
    time: str = ""

    def __str__(self) -> str:
        if self.number is None:
            return "now"
        return f"after change {self.number} ({self.time})" if self.time else _BEFORE_ALL


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed between two moments: by file a unified diff, empty where nothing did."""

    since: Moment
    until: Moment
    diffs: Mapping[File, str]


class EditedLine(NamedTuple):
    """A line that somebody took out of a file (`sign` is `-`) or added to it (`+`)."""

    file: File
    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class EditByHand:
    """A change that people made in the files: its number, its time, and the lines it changed."""

    number: int
    time: str
    lines: tuple[EditedLine, ...]


@dataclass(frozen=True, slots=True)
class RestorePreview:
    """What a restore would take out: how many later `changes`, and the `edits` by hand of them.

    `is_start` says that `to` is the first moment that is kept.
    """

    to: Moment
    changes: int
    edits: tuple[EditByHand, ...]
    is_start: bool


@dataclass(slots=True, eq=False, repr=False)
class ChannelHistory:
    """The changes of one channel's notes: who made them, and how they are taken back."""

    _access: ChannelAccess

    async def log(self, count: int = 20, *, before: int | None = None) -> tuple[LoggedChange, ...]:
        """Return the newest changes, newest first; with `before` those before that number."""
        require_count(count, "count")
        return await run_in_thread(self._log, count, before)

    def _log(self, count: int, before: int | None) -> tuple[LoggedChange, ...]:
        undos: list[ChangeRecord] = []
        newest: deque[ChangeRecord] = deque(maxlen=count)
        for record in self._access.store.changes():
            if record.task == undoing.UNDO:
                undos.append(record)
            if before is None or record.sequence < before:
                newest.append(record)
        undone_by = undoing.taken_back(undos)
        return tuple(_logged(record, undone_by) for record in reversed(newest))

    async def change(self, number: int) -> LoggedChange:
        """The change of a number. Raises `NothingFound`."""
        require_count(number, "number")
        found = await run_in_thread(self._log, 1, number + 1)
        if not found or found[0].number != number:
            raise NothingFound(f"There is no change {number}; `log` has those that are kept.")
        return found[0]

    async def blame(self, file: File | None = None) -> tuple[EntryOrigin, ...]:
        """Where each entry of the notes comes from, or of one file, in their order."""
        return await run_in_thread(self._origins, [file] if file else FILES)

    def _origins(self, files: Sequence[File]) -> tuple[EntryOrigin, ...]:
        store = self._access.store
        records = tuple(store.changes())
        undone_by = undoing.taken_back(records)
        found = origins(store.notes(), records, store.text_of, files)
        return tuple(_origin(each, undone_by) for each in found)

    async def forgotten(self) -> str:
        """The time of the forgetting that the kept changes begin with, in ISO 8601; empty without.

        What was changed before it cannot be taken back, and nobody knows which change made it.
        """
        return await run_in_thread(self._forgotten)

    def _forgotten(self) -> str:
        first = next(iter(self._access.store.changes()), None)
        return first.time if first and first.task == FORGET else ""

    async def diff(
        self, since: Point | None = None, until: Point | None = None, *, file: File | None = None
    ) -> str:
        """What changed between two moments as a unified diff; empty where nothing did.

        A moment is a time, or the number of a change: right after it. By default the newest change.
        Raises `NothingFound` beyond the changes that are kept.
        """
        compared = await self.compare(since, until, file=file)
        return "\n".join(filter(None, compared.diffs.values()))

    async def compare(
        self, since: Point | None = None, until: Point | None = None, *, file: File | None = None
    ) -> Comparison:
        """What changed between two moments, by file, as `diff` takes and raises."""
        for name, point in (("since", since), ("until", until)):
            if point is not None:
                require_point(point, name)
        return await run_in_thread(self._compared, since, until, [file] if file else FILES)

    def _compared(
        self, since: Point | None, until: Point | None, files: Sequence[File]
    ) -> Comparison:
        past = self._access.store.past()
        first = _before_newest(past) if since is None else past.sequence_at(since)
        last = None if until is None else past.sequence_at(until)
        moments = _moment(past, first), _moment(past, last)
        return Comparison(*moments, {file: _diff(past, file, *moments) for file in files})

    async def texts(self, point: Point | None = None) -> dict[File, str]:
        """The three files as they stood at a time or right after a change, by default as they are.

        Raises `NothingFound` beyond the changes that are kept, `CannotTakeBack` where it has gaps.
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
        done = await finish_in_thread(self._undo, number)
        files = tuple(done.outcome.texts)
        return TakenBack(done.sequence, done.outcome.changes, files, _logged(done.record))

    def _undo(self, number: int | None) -> undoing.Undone:
        return undoing.undo(self._access.store, number, self._access.clock.now(), actor=PERSON)

    async def unexpected_undo(self) -> LoggedChange | None:
        """The change that `undo` without a number takes back, where that may surprise.

        The newest change is an undo already, or was typed into the files by hand. Else `None`: it
        is the newest change. Raises `NothingFound` where there is nothing to take back.
        """
        return await finish_in_thread(self._unexpected_undo)

    def _unexpected_undo(self) -> LoggedChange | None:
        self._record_edits()
        found = undoing.to_be_asked(self._access.store.past())
        return _logged(found) if found is not None else None

    async def changes_by(self, author: Author, since: datetime) -> tuple[LoggedChange, ...]:
        """The changes of texts by an author since a time that still count, newest first."""
        require_one_of(author, Author, "author")
        require_time(since, "since")
        return await run_in_thread(self._changes_by, Author(author), since)

    def _changes_by(self, author: Author, since: datetime) -> tuple[LoggedChange, ...]:
        found = undoing.changes_of(self._access.store.past(), author, since)
        return tuple(map(_logged, found))

    async def record_edits(self) -> None:
        """Note what people edited by hand since the last look as a change of its own.

        Turns and jobs do so, too.
        """
        await finish_in_thread(self._record_edits)

    def _record_edits(self) -> None:
        self._access.store.record_edits(self._access.clock.now())

    async def restore(self, point: Point) -> TakenBack:
        """Put the notes back to how they stood at a time, or right after a change, as one change.

        Raises `CannotTakeBack` and `NothingFound` where nobody knows how they stood.
        """
        require_point(point, "point")
        done = await finish_in_thread(self._restore, point)
        return TakenBack(done.sequence, done.outcome.changes, tuple(done.outcome.texts))

    def _restore(self, point: Point) -> undoing.Restored:
        return undoing.restore(self._access.store, point, self._access.clock.now(), actor=PERSON)

    async def preview_restore(self, point: Point) -> RestorePreview:
        """What `restore` would take out; nothing is put back. Raises `NothingFound` like it."""
        require_point(point, "point")
        return await finish_in_thread(self._preview_restore, point)

    def _preview_restore(self, point: Point) -> RestorePreview:
        self._record_edits()
        past = self._access.store.past()
        to = past.sequence_at(point)
        later = sum(1 for record in past.records if record.sequence > to and record.files)
        text_of = self._access.store.text_of
        edits = tuple(
            _edit_by_hand(record, text_of) for record in undoing.edits_after(past.records, to)
        )
        return RestorePreview(_moment(past, to), later, edits, to == past.begins)


def require_point(point: object, name: str) -> None:
    """Raises `ArgumentError` unless it is a time with its offset, or the number of a change."""
    if isinstance(point, datetime):
        require_time(point, name)
        return
    require_type(point, int, name, "Give a time, or the number of a change; `log` has them.")
    require_count(point, name, least=0)


def _logged(record: ChangeRecord, undone_by: Mapping[int, int] | None = None) -> LoggedChange:
    refused = [f"{line.operation} {line.text}: {line.reason}" for line in record.refused]
    return LoggedChange(
        number=record.sequence,
        time=record.time,
        author=record.author,
        actor=record.actor,
        task=record.task,
        why=record.why,
        changes=record.changes,
        refused=(*refused, *record.notes),
        tokens=record.tokens.run if record.tokens else 0,
        undone_by=(undone_by or {}).get(record.sequence, 0),
        correlation=record.correlation,
        refusals=record.refused,
        notes=record.notes,
        spent=record.tokens,
        moved=_moved(record.delta.progress),
        in_archive=bool(record.archived),
    )


def _moved(progress: Progress) -> dict[str, int]:
    """Return the counters that a change set; none of a window that failed: the reason tells it."""
    if progress.narrowed is not None:
        return {}
    values = {name: getattr(progress, name) for name in _COUNTERS}
    return {name: value for name, value in values.items() if value is not None}


def _origin(origin: Origin, undone_by: Mapping[int, int]) -> EntryOrigin:
    entry, change, again = origin.entry, origin.change, origin.brought_back
    known = origin.record or Record(Trust.HUMAN)
    said = origin.record.when if origin.record else ""
    return EntryOrigin(
        file=entry.file,
        section=entry.section,
        id=entry.ref,
        text=entry.text,
        who=_writer(origin),
        when=said or (change.time if change else ""),
        sources=origin.sources,
        trust=known.trust,
        change=change.sequence if change else None,
        heard_by=origin.heard_by,
        line=entry.start + 1,
        predecessor=known.predecessor,
        made_by=_logged(change, undone_by) if change else None,
        brought_back=_logged(again, undone_by) if again else None,
    )


def _writer(origin: Origin) -> str:
    """Return the speaker, else who made the change."""
    is_human = origin.record is None or origin.record.trust is Trust.HUMAN
    if origin.record and origin.record.speaker and not is_human:
        return origin.record.speaker
    if origin.change is None:
        return "by hand" if is_human else "-"
    if origin.change.author is Author.EDITOR:
        return "by hand"
    return origin.change.actor or str(origin.change.author)


def _edit_by_hand(record: ChangeRecord, text_of: Callable[[str], str | None]) -> EditByHand:
    lines = (line for file in record.files for line in _edited_lines(record, file, text_of))
    return EditByHand(record.sequence, record.time, tuple(lines))


def _edited_lines(
    record: ChangeRecord, file: File, text_of: Callable[[str], str | None]
) -> Iterator[EditedLine]:
    """Yield the lines that a change took out of a file and added."""
    change = record.files[file]
    before, after = text_of(change.before), text_of(change.after)
    if before is None or after is None:
        return
    for splice in splices_between(before, after):
        for sign, side in (("-", splice.removed), ("+", splice.added)):
            yield from (EditedLine(file, sign, line.rstrip()) for line in side if line.strip())


def _moment(past: Past, sequence: int | None) -> Moment:
    times = (record.time for record in past.records if record.sequence == sequence)
    return Moment(sequence, next(times, ""))


def _before_newest(past: Past) -> int:
    """The number of the change before the newest.

    A hand edit that is not recorded yet is newer than all that are.
    """
    if not past.records:
        return 0
    if past.base != past.current:
        return past.records[-1].sequence
    for record in reversed(past.records):
        if record.files:
            return max(past.begins, record.sequence - 1)
    return past.begins


def _diff(past: Past, file: File, since: Moment, until: Moment) -> str:
    """The unified diff of a file. Raises `CannotTakeBack` where a text is not known any more."""
    old = past.known_text(file, since.number or 0)
    new = past.current[file] if until.number is None else past.known_text(file, until.number)
    before, after = _bare_lines(old), _bare_lines(new)
    if before == after and old != new:
        return f"--- {file}\n+++ {file}\nonly line ends changed"
    names = f"{file}  {since}", f"{file}  {until}"
    return "\n".join(unified_diff(before, after, *names, lineterm=""))


def _bare_lines(text: str) -> list[str]:
    return [without_ending(line) for line in split_lines(text)]
