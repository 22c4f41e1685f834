"""The state of a channel: its ledger, its changes, and the texts that its files had."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from os import urandom

from msgspec.structs import replace

from pipimem.errors import (
    CommitUnsure,
    DamagedState,
    DatabaseUnavailable,
    LockLost,
    LockTimeout,
)
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.operations import LeftOut
from pipimem.state import ledger_rows
from pipimem.state import texts as text_rows
from pipimem.state.change_rows import (
    LEFT_OUT_TABLE,
    changes_after,
    drop_left_out,
    left_out,
    newest_change,
    newest_left_out,
    put_change,
    rename_texts,
    versions_of,
)
from pipimem.state.changes import FORGET, ChangeRecord, FileChange, StoredLeftOut
from pipimem.state.ledger_rows import get_value, put_value, stored_ledger, write_ledger
from pipimem.state.rows import Database, Rows, Schema, texts_of
from pipimem.state.texts import PastText, Texts
from pipimem.text.dates.bounds import later
from pipimem.text.markdown.line_edits import shared_ends

_log = logging.getLogger("pipimem")
_APPLICATION = 0x70697069  # "pipi"
SCHEMA = Schema(
    _APPLICATION,
    2,
    (
        "create table owner (id blob not null)",
        *text_rows.TABLES,
        "create table change (number integer primary key, id text not null, time text not null, "
        "task text not null, author text not null, detail blob not null)",
        "create table version (number integer not null, file text not null, "
        "before text not null, after text not null, displaces text not null, "
        "saved text not null, on_disk integer not null, primary key (number, file))",
        "create index version_of_file on version (file, number)",
        "create table head (file text primary key, etag text not null)",
        "create table forgotten_line (mark text primary key, time bigint not null)",
        *ledger_rows.TABLES,
        LEFT_OUT_TABLE,
    ),
    {1: (ledger_rows.SETTLED_TABLE, LEFT_OUT_TABLE)},
)
# A line that was forgotten is known so long, in nanoseconds: 30 days, as past texts are.
_MARKS_KEPT = 30 * 24 * 3600 * 10**9
# Undo is promised for this long, within this size: about 20 MB a file.
_KEPT = timedelta(days=30)
_LARGEST = 60_000_000
_SMALL = 4_000_000
_PRUNED = "pruned"
_PLAN = "forgetting"
# What may hold a text; those of `line` are in the texts, too, and may be of no text any more.
_TABLES_READ = (
    "select body from line",
    "select id, time, task, author, detail from change",
    "select name, value from record",
    "select name, reason from tombstone",
    "select name, value from value",
    "select pair, day from settled",
    "select value from left_out",
)


@dataclass(slots=True)
class ChannelState:
    """What the database of a channel says, read again where another process changed it.

    Whoever writes holds the channel's lock. Where there is no database `concluded` tells the
    ledger, and whether there was one before.
    """

    database: Database
    texts: Texts
    concluded: Callable[[], tuple[Ledger, bool]]
    ledger: Ledger = field(default_factory=Ledger)
    # By file, the etag of the text that the newest change left.
    heads: dict[File, str] = field(default_factory=dict)
    # By the mark of a forgotten line when it was forgotten, in nanoseconds since 1970.
    forgotten_lines: dict[str, int] = field(default_factory=dict)
    # Whether there was a database before, and is none now.
    is_lost: bool = False
    # What the newest consolidation left out.
    left_out: tuple[LeftOut, ...] = ()
    _stamp: tuple[int, ...] | None = None
    _is_read: bool = False
    # Found so; the next change sets the database aside.
    _is_damaged: bool = False
    # By file the etag of a text, and the text.
    _known: dict[File, tuple[str, str]] = field(default_factory=dict, repr=False)
    # The changes that were written last by file and etag, and their texts: a person may delete the
    # database before they are in place, and looking them up again takes time.
    _written: dict[tuple[File, str], ChangeRecord] = field(default_factory=dict, repr=False)
    _texts: dict[str, str] = field(default_factory=dict, repr=False)
    # The day on which it was last pruned.
    _pruned: str = ""

    def etag(self, text: str) -> str:
        """Return the etag of a text."""
        return self.texts.etag(text)

    def stamp(self) -> tuple[int, ...] | None:
        """Return what changes with each change; the last while the database does not answer."""
        with suppress(DatabaseUnavailable):
            return self.database.stamp()
        return self._stamp

    @contextmanager
    def _reading(self) -> Iterator[Rows | None]:
        """Open the database for reading; where it is damaged it counts as absent from then on."""
        if self._is_damaged:
            yield None
            return
        with self._noticing_damage(), self.database.reading() as rows:
            yield rows

    @contextmanager
    def _writing(self) -> Iterator[Rows]:
        """Open the database for a transaction; one that is damaged is set aside before."""
        if self._is_damaged:
            self.database.set_aside()
            self._is_damaged = False
        with self._noticing_damage(), self.database.writing() as rows:
            yield rows

    @contextmanager
    def _noticing_damage(self) -> Iterator[None]:
        try:
            yield
        except DamagedState:
            self._is_damaged, self._is_read = True, False
            raise

    def catch_up(self, *, is_writing: bool = False) -> None:
        """Read what other processes changed; the same stamp says that they did nothing.

        What was read last counts where the database does not answer; a writer gets that error.
        """
        try:
            stamp = self.database.stamp()
            if self._is_read and stamp == self._stamp:
                return
            with self._reading() as rows:
                self._read(rows)
        except LockTimeout:
            if not self._is_read:
                raise
            return  # another process is in the middle of a transaction: what was read serves
        except DamagedState as error:
            _log.warning("%s", error)
            stamp = self.database.stamp()
            self._read(None)
        except DatabaseUnavailable:
            if is_writing:
                raise
            if self.ledger.sequence == 0:
                self._reset(self.concluded()[0])
            return
        self._is_read, self._stamp = True, stamp

    def _read(self, rows: Rows | None) -> None:
        newest = newest_change(rows) if rows else 0
        if rows is None or newest == 0:
            ledger, self.is_lost = self.concluded()
            self._reset(ledger)
            return
        self.is_lost = False
        known = self.ledger.sequence
        fresh = changes_after(rows, known) if 0 < known <= newest else []
        if len(fresh) == newest - known and not any(each.task == FORGET for each in fresh):
            self.ledger = _folded(self.ledger, fresh)
        else:
            self._reset(stored_ledger(rows, newest))
        self.heads = {File(file): etag for file, etag in rows.all("select file, etag from head")}
        self.forgotten_lines = dict(rows.all("select mark, time from forgotten_line"))
        self.left_out = newest_left_out(rows)

    def _reset(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.heads, self.forgotten_lines, self.left_out = {}, {}, ()
        self._known.clear()
        self._written.clear()
        self._texts = {}
        self.texts.clear()

    # ── texts ────────────────────────────────────────────────────────────────────────────────────

    def known_text(self, file: File, disk: str) -> str | None:
        """Return the text that the newest change left in a file; `None` where none is known.

        `disk`, the text that stands there, spares reading it where it is that text.
        """
        etag = self.heads.get(file)
        if etag is None:
            return None
        known = self._known.get(file)
        if known is None or known[0] != etag:
            text = disk if self.etag(disk) == etag else self.text(etag)
            if text is None:
                return None
            known = self._known[file] = etag, text
        return disk if disk == known[1] else known[1]

    def text(self, etag: str) -> str | None:
        """Return the text of an etag; `None` where it is not kept, or damaged."""
        if etag == self.etag(""):
            return ""
        if etag in self._texts:
            return self._texts[etag]
        with self._reading() as rows:
            return self.texts.get(rows, etag) if rows else None

    def text_before(self, file: File) -> str:
        """Return the text that the newest change of a file was made to; empty if it is unknown."""
        change = self._change_to(file, self.heads.get(file, ""))
        return (self.text(change.files[file].before) or "") if change else ""

    def past_texts(self, file: File, *, is_placed: bool = True, before: str = "") -> list[PastText]:
        """Return the texts that stood in a file, newest first, with the ids of lines, for `line`.

        Without `is_placed` the newest text has not reached the file; with `before`, an etag, only
        texts older than that are returned.
        """
        with self._reading() as rows:
            if rows is None:
                return []
            versions = versions_of(rows, file)
            if before:
                after = [version.after for version in versions]
                versions = versions[after.index(before) :] if before in after else []
            etags = _past_etags(versions, skips_newest=bool(before) or not is_placed)
            texts = [(self.texts.line_ids(rows, etag), is_saved) for etag, is_saved in etags]
            found = [PastText(ids, is_saved) for ids, is_saved in texts if ids is not None]
            self.texts.load(rows, _ids_in(past.lines for past in found))
        return found

    def line(self, number: int) -> str:
        """Return a line of a past text that was returned before."""
        return self.texts.line(number)

    def count_unplaced(self, file: File) -> int:
        """Return how many changes, from the newest but one on, left texts that a file never had."""
        with self._reading() as rows:
            versions = versions_of(rows, file)[1:] if rows else []
        placed = (number for number, version in enumerate(versions) if version.on_disk)
        return next(placed, len(versions))

    def displaced_by(self, file: File, etag: str) -> frozenset[str]:
        """Return the etags of the texts that the one of this etag may take the place of."""
        change = self._change_to(file, etag)
        each = change.files[file] if change else None
        return frozenset(filter(None, (each.before, each.displaces, each.saved)) if each else ())

    def _change_to(self, file: File, etag: str) -> ChangeRecord | None:
        """Return the newest change that led to the text of an etag; `None` if none is kept."""
        known = self._written.get((file, etag))
        if known is not None:
            return known
        with self._reading() as rows:
            number = rows.all(_NUMBER_OF, str(file), etag)[0][0] if rows else None
            if rows is None or number is None:
                return None
            found = [each for each in changes_after(rows, number - 1) if each.sequence == number]
        return found[0] if found else None

    # ── changes ──────────────────────────────────────────────────────────────────────────────────

    def changes(self, after: int = 0) -> list[ChangeRecord]:
        """Return the changes that are kept, oldest first; those after a number."""
        with self._reading() as rows:
            return changes_after(rows, after) if rows else []

    def all_left_out(self) -> list[StoredLeftOut]:
        """Return what was left out in the last 30 days, oldest first."""
        with self._reading() as rows:
            return left_out(rows) if rows else []

    def archived_with(self, file: File) -> ChangeRecord | None:
        """Return the change that left the newest text of a file if it archived something."""
        change = self._change_to(file, self.heads.get(file, ""))
        return change if change and change.archived else None

    def append(
        self,
        changes: Sequence[ChangeRecord],
        texts: Iterable[str],
        never_placed: Iterable[File] = (),
    ) -> None:
        """Write changes, with the texts they name, in one transaction; durable when this returns.

        The newest text of the files `never_placed` did not stand in them. Raises `LockLost` where
        another writer came in between, and `StoreError`, with nothing written.
        """
        texts = tuple(texts)
        named = [replace(change, id=change.id or urandom(8).hex()) for change in changes]
        try:
            with self._writing() as rows:
                before = self._written_ledger(rows)
                for text in texts:
                    self.texts.put(rows, text)
                for file in never_placed:
                    rows.run(_NEVER_PLACED, str(file), self.heads.get(file, ""))
                self._put(rows, before, named)
                self.left_out = newest_left_out(rows)
        except CommitUnsure:
            self._is_read = False
            # Lines of a transaction that does not count may be known by ids that others get.
            self.texts.clear()
            if not self.has(named[-1]):
                raise
        except BaseException:
            self.texts.clear()
            raise
        self._take(named, texts)

    def _take(self, named: Sequence[ChangeRecord], texts: Iterable[str]) -> None:
        """Go on from changes that were written."""
        self.ledger = _folded(self.ledger, named)
        self._texts = {self.etag(text): text for text in texts}
        self._written = {
            (file, each.after): change for change in named for file, each in change.files.items()
        }
        self.heads |= dict(self._written.keys())
        for file, etag in self.heads.items():
            if etag in self._texts:
                self._known[file] = etag, self._texts[etag]
        self._is_read, self.is_lost, self._stamp = True, False, self.stamp()

    def damage(self) -> str:
        """Return what is wrong with the database, also of texts alone; empty for nothing."""
        found = self.database.damage()
        if found:
            return found
        if self._is_damaged:
            return "it belongs to another channel, or a table is missing"
        with self._reading() as rows:
            etags = [row[0] for row in rows.all("select etag from text")] if rows else []
            damaged = sum(self.texts.get(rows, etag) is None for etag in etags) if rows else 0
        return f"{damaged} past texts are not what they were" if damaged else ""

    def prune(self, now: datetime) -> None:
        """Drop what is older than 30 days, once a day; of much that is younger a text a day stays.

        A small past is kept whatever its age. The caller holds the lock.
        """
        today = now.date().isoformat()
        if self._pruned == today or self.ledger.sequence == 0:
            return
        with self._writing() as rows:
            self._pruned = today
            if get_value(rows, _PRUNED) == {"day": today}:
                return
            put_value(rows, _PRUNED, {"day": today})
            first_day = later(now, -_KEPT).date().isoformat()
            rows.run("delete from left_out where substr(time, 1, 10) < ?", first_day)
            size = self._size(rows)
            if size < _SMALL:
                return
            first = rows.all(_FIRST_SINCE, first_day)[0][0]
            self._drop_before(rows, self.ledger.sequence if first is None else int(first))
            if size > _LARGEST:
                self._keep_one_a_day(rows, today)
            self.texts.drop_unused(rows)

    def _drop_before(self, rows: Rows, number: int) -> None:
        """Drop the changes before a number; the newest text of each file stays."""
        rows.run("delete from change where number < ?", number)
        rows.run("delete from version where number < ?", number)
        rows.run(_DROP_TEXTS)

    def _keep_one_a_day(self, rows: Rows, today: str) -> None:
        """Drop the texts of earlier days but the last of each; their changes stay without them."""
        last: dict[tuple[str, str], str] = {}
        every = rows.all(_TEXTS_BY_DAY)
        for day, file, etag in every:
            last[file, day] = etag
        kept = {*last.values(), *(etag for day, _, etag in every if day >= today)}
        kept.update(self.heads.values())
        etags = (row[0] for row in rows.all("select etag from text"))
        gone = [(etag,) for etag in etags if etag not in kept]
        rows.run_many("delete from text where etag = ?", gone)

    def _size(self, rows: Rows) -> int:
        """Return about how many bytes the past texts have."""
        return sum(int(rows.all(statement)[0][0]) for statement in _SIZES)

    def fill(
        self,
        ledger: Ledger,
        changes: Sequence[ChangeRecord],
        texts: Iterable[str],
        forgotten: Mapping[str, int],
        plan: Mapping[str, object] | None,
    ) -> None:
        """Write what an older format kept into a new database, in one transaction.

        `ledger` is that of the newest change, `texts` those that the changes name. `forgotten` has
        when each line was forgotten, and `plan` is that of a forgetting that has not ended.
        """
        with self._writing() as rows:
            for text in texts:
                self.texts.put(rows, text)
            for change in changes:
                put_change(rows, replace(change, id=urandom(8).hex()))
            whole = ledger.as_delta()
            write_ledger(rows, Ledger(), ledger, whole)
            rows.run_many(_ADD_FORGOTTEN, forgotten.items())
            put_value(rows, _PLAN, plan)
        self._is_read = False
        self.texts.clear()
        self.catch_up()

    # ── forgetting ───────────────────────────────────────────────────────────────────────────────

    @property
    def plan(self) -> Mapping[str, object] | None:
        """The plan of a forgetting that was begun and has not ended; `None` for none."""
        with self._reading() as rows:
            return get_value(rows, _PLAN) if rows else None

    def begin_forgetting(self, plan: Mapping[str, object], marks: Iterable[str]) -> None:
        """Write the plan of a forgetting, and the marks of lines that are to go."""
        with self._writing() as rows:
            self._written_ledger(rows)
            put_value(rows, _PLAN, plan)
            self._mark_lines(rows, marks)

    def past_lines(self) -> tuple[dict[int, str], list[tuple[str, bytes]]]:
        """Return all lines by id, and the etags of all texts with the `packed` ids of theirs."""
        with self._reading() as rows:
            return self.texts.all_lines(rows) if rows else ({}, [])

    def end_forgetting(
        self,
        change: ChangeRecord,
        ledger: Ledger,
        edits: Mapping[str, Sequence[tuple[int, int, Sequence[str]]]],
        marks: Iterable[str],
        left_out: Iterable[int],
    ) -> None:
        """Edit texts, and drop the plan and all that was changed before, in one transaction.

        `edits` are by etag: lines `[start, end)` and those that take their place, in order.
        `left_out` are the numbers of left-out items that go. `change` becomes the first that is
        kept, and `ledger` the ledger as of it.
        """
        whole = ledger.as_delta()
        try:
            with self._writing() as rows:
                self._written_ledger(rows)
                self._mark_lines(rows, marks)
                renamed = {etag: self.texts.edit(rows, etag, edits[etag]) for etag in edits}
                rename_texts(rows, renamed)
                self.texts.drop_unused(rows)
                for statement in _DROP:
                    rows.run(statement)
                drop_left_out(rows, left_out)
                put_value(rows, _PLAN, None)
                write_ledger(rows, Ledger(), ledger, whole)
                self._put(rows, ledger, [change])
        finally:
            self._is_read = False
            self.texts.clear()
            self._known.clear()
        self.catch_up()

    def has_line(self, line: str) -> bool:
        """Return whether a text that is kept has a line."""
        with self._reading() as rows:
            return rows is not None and self.texts.has_line(rows, line)

    def strings(self) -> Iterator[str]:
        """Yield every value of every row as text."""
        with self._reading() as rows:
            if rows is None:
                return
            found = [each for table in _TABLES_READ for row in rows.all(table) for each in row]
        for value in found:
            yield from texts_of(value)

    def _mark_lines(self, rows: Rows, marks: Iterable[str]) -> None:
        now = time.time_ns()
        fresh = [(mark,) for mark in set(marks)]
        rows.run("delete from forgotten_line where time < ?", now - _MARKS_KEPT)
        rows.run_many("delete from forgotten_line where mark = ?", fresh)
        rows.run_many(
            _ADD_FORGOTTEN,
            [(mark, now) for (mark,) in fresh],
        )
        self.forgotten_lines = dict(rows.all("select mark, time from forgotten_line"))

    def _written_ledger(self, rows: Rows) -> Ledger:
        """Return the ledger that is written; a new database gets the one at hand.

        Raises `LockLost` where it is not the one that was read.
        """
        newest = newest_change(rows)
        if newest == 0:
            self.texts.clear()
            self.heads = {}
            ledger = replace(self.ledger, sequence=0)
            whole = ledger.as_delta()
            write_ledger(rows, Ledger(), ledger, whole)
            return ledger
        if newest != self.ledger.sequence:
            raise LockLost("Another process changed the channel meanwhile. Try again.")
        return self.ledger

    def _put(self, rows: Rows, ledger: Ledger, changes: Iterable[ChangeRecord]) -> Ledger:
        for change in changes:
            after = ledger.after(change.delta, change.sequence)
            put_change(rows, change)
            write_ledger(rows, ledger, after, change.delta)
            ledger = after
        return ledger

    def has(self, change: ChangeRecord) -> bool:
        """Whether a change stands, told by its id."""
        with self._reading() as rows:
            number = change.sequence
            found = rows.all("select id from change where number = ?", number) if rows else []
        return found == [(change.id,)]


_NUMBER_OF = "select max(number) from version where file = ? and after = ?"
_NEVER_PLACED = "update version set on_disk = 0 where file = ? and after = ?"
_ADD_FORGOTTEN = "insert into forgotten_line (mark, time) values (?, ?)"
_FIRST_SINCE = "select min(number) from change where substr(time, 1, 10) >= ?"
_DROP_TEXTS = (
    "delete from text where etag not in (select etag from head) "
    "and etag not in (select before from version) and etag not in (select after from version) "
    "and etag not in (select saved from version)"
)
_TEXTS_BY_DAY = (
    "select substr(change.time, 1, 10), version.file, version.after from version "
    "join change on change.number = version.number order by version.number"
)
_SIZES = (
    "select coalesce(sum(length(body)), 0) from line",
    "select coalesce(sum(length(lines)), 0) from text",
)
# What a forgetting ends.
_DROP = ("delete from change", "delete from record", "delete from tombstone", "delete from settled")


def _folded(ledger: Ledger, changes: Iterable[ChangeRecord]) -> Ledger:
    """Return a ledger with changes folded in."""
    for change in changes:
        ledger = ledger.after(change.delta, change.sequence)
    return ledger


def _past_etags(
    versions: Sequence[FileChange], *, skips_newest: bool
) -> Iterator[tuple[str, bool]]:
    """Yield the texts that stood in a file, newest first, and whether each was saved."""
    passed: set[str] = set()
    for place, version in enumerate(versions):
        stood = version.on_disk and (place > 0 or not skips_newest)
        if stood and version.after not in passed:
            passed.add(version.after)
            yield version.after, False
        if version.saved:
            yield version.saved, True
    if versions and versions[-1].before not in passed:
        yield versions[-1].before, False


def _ids_in(texts: Iterable[Sequence[int]]) -> set[int]:
    """Return the ids of all lines of some texts; neighbours have most of them in common."""
    found: set[int] = set()
    before: Sequence[int] = ()
    for ids in texts:
        head, tail = shared_ends(before, ids)
        found.update(ids[head : len(ids) - tail])
        before = ids
    return found
