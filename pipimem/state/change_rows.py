"""Changes of a channel, the texts that they lead to, and what they left out, in rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec import to_builtins
from msgspec.structs import replace

from pipimem.notes.kinds import File
from pipimem.notes.operations import Author, LeftOut
from pipimem.state.changes import ChangeRecord, FileChange, StoredLeftOut
from pipimem.state.ledger_rows import get_value, put_value
from pipimem.state.rows import Row, Rows
from pipimem.text import json_lines
from pipimem.text.json_codec import CodecError, decoded, encoded

_VERSIONS_AFTER = (
    "select number, file, before, after, displaces, saved, on_disk from version where number > ?"
)
_VERSIONS_OF = (
    "select before, after, displaces, saved, on_disk from version where file = ? "
    "order by number desc"
)
_CHANGES_AFTER = (
    "select number, id, time, task, author, detail from change where number > ? order by number"
)
_VERSIONS = "select number, file, before, after, displaces, saved from version"
_RENAME = (
    "update version set before = ?, after = ?, displaces = ?, saved = ? "
    "where number = ? and file = ?"
)
_ADD_CHANGE = (
    "insert into change (number, id, time, task, author, detail) values (?, ?, ?, ?, ?, ?)"
)
_ADD_VERSION = (
    "insert into version (number, file, before, after, displaces, saved, on_disk) "
    "values (?, ?, ?, ?, ?, ?, ?)"
)

LEFT_OUT_TABLE = (
    "create table left_out (number integer primary key, change integer not null, "
    "task text not null, time text not null, value blob not null)"
)
_ADD_LEFT_OUT = "insert into left_out (number, change, task, time, value) values (?, ?, ?, ?, ?)"
_LEFT_OUT = "select number, change, time, value from left_out order by number"
_NEWEST_LEFT_OUT = (
    "select number, change, time, value from left_out where change = "
    "(select max(number) from change where task = ?) order by number"
)
_CONSOLIDATE = "consolidate"
# The value that has the greatest number ever given to an item.
_NUMBERED = "left_out"


def newest_change(rows: Rows) -> int:
    """Return the number of the newest change, 0 where there is none."""
    return int(rows.all("select coalesce(max(number), 0) from change")[0][0])


def put_change(rows: Rows, change: ChangeRecord) -> None:
    """Write a change, and the texts that it leaves as the newest ones of their files."""
    detail = json_lines.line(encoded(change))
    named = (change.sequence, change.id, change.time, change.task, str(change.author))
    rows.run(_ADD_CHANGE, *named, detail)
    for file, each in change.files.items():
        texts = (each.before, each.after, each.displaces, each.saved)
        rows.run(_ADD_VERSION, change.sequence, str(file), *texts, int(each.on_disk))
        rows.run("delete from head where file = ?", str(file))
        rows.run("insert into head (file, etag) values (?, ?)", str(file), each.after)
    drop_left_out(rows, change.taken_in)
    _put_left_out(rows, change)


def _put_left_out(rows: Rows, change: ChangeRecord) -> None:
    """Write what a change left out, under numbers that no item ever had."""
    if not change.left_out:
        return
    known = get_value(rows, _NUMBERED) or {}
    newest = int(rows.all("select coalesce(max(number), 0) from left_out")[0][0])
    first = max(newest, int(str(known.get("number", 0)))) + 1
    put_value(rows, _NUMBERED, {"number": first + len(change.left_out) - 1})
    for number, item in enumerate(change.left_out, first):
        value = {key: part for key, part in to_builtins(item).items() if part or key == "text"}
        head = (number, change.sequence, change.task, change.time)
        rows.run(_ADD_LEFT_OUT, *head, json_lines.line(value))


def left_out(rows: Rows) -> list[StoredLeftOut]:
    """Return what was left out, oldest first."""
    return _left_out(rows.all(_LEFT_OUT))


def newest_left_out(rows: Rows) -> tuple[LeftOut, ...]:
    """Return what the newest consolidation left out."""
    return tuple(one.item for one in _left_out(rows.all(_NEWEST_LEFT_OUT, _CONSOLIDATE)))


def drop_left_out(rows: Rows, numbers: Iterable[int]) -> None:
    """Delete items by their numbers."""
    rows.run_many("delete from left_out where number = ?", [(number,) for number in numbers])


def _left_out(found: Iterable[Row]) -> list[StoredLeftOut]:
    stored: list[StoredLeftOut] = []
    for number, change, when, value in found:
        with suppress(CodecError):  # written by a newer version with other values
            item = decoded(LeftOut, json_lines.value(bytes(value)))
            stored.append(StoredLeftOut(number, change, when, item))
    return stored


def changes_after(rows: Rows, number: int) -> list[ChangeRecord]:
    """Return the changes after a number, oldest first."""
    files: dict[int, dict[File, FileChange]] = {}
    for sequence, file, *texts in rows.all(_VERSIONS_AFTER, number):
        files.setdefault(sequence, {})[File(file)] = _file_change(texts)
    return [_change(row, files.get(row[0], {})) for row in rows.all(_CHANGES_AFTER, number)]


def versions_of(rows: Rows, file: File) -> list[FileChange]:
    """Return the changes of a file, newest first."""
    return [_file_change(row) for row in rows.all(_VERSIONS_OF, str(file))]


def rename_texts(rows: Rows, renamed: Mapping[str, str]) -> None:
    """Give texts that were edited their new etags wherever they are named."""
    if not renamed:
        return
    changed = []
    for number, file, *named in rows.all(_VERSIONS):
        after = [renamed.get(etag, etag) for etag in named]
        if after != named:
            changed.append((*after, number, file))
    rows.run_many(_RENAME, changed)
    for file, etag in rows.all("select file, etag from head"):
        if etag in renamed:
            rows.run("update head set etag = ? where file = ?", renamed[etag], file)


def _file_change(row: Sequence[object]) -> FileChange:
    before, after, displaces, saved, on_disk = row
    return FileChange(str(before), str(after), str(displaces), str(saved), on_disk=bool(on_disk))


def _change(row: Row, files: Mapping[File, FileChange]) -> ChangeRecord:
    number, name, when, task, author, detail = row
    fields = json_lines.value(bytes(detail)) or {}
    fields |= {"sequence": number, "id": name, "time": when, "task": task, "author": author}
    try:
        return replace(decoded(ChangeRecord, fields), files=files)
    except CodecError:  # written by a newer version with other values; what it did is kept
        return ChangeRecord(number, when, task, Author(author), files=files, id=name)
