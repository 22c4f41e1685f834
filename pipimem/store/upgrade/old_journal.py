"""The journal of formats 1 and 2: a checked line for each change, in parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, field

from pipimem.notes.kinds import File
from pipimem.state.changes import ChangeRecord
from pipimem.store.disk.appended_files import lines
from pipimem.text.json_codec import CodecError, decoded
from pipimem.text.json_lines import checked_value, checksum_of
from pipimem.text.markdown.line_edits import Splice

_GOES_ON = b'"goes_on": true'
_FOLLOWS = b'"follows": true'


class OldFileChange(Struct, frozen=True):
    """A file from one text to another, by their etags without a key, and the lines that differ.

    `found` is the etag of a person's text that was merged, and `found_splices` lead to it from the
    text after the change. `unseen`: the text before the change never stood in the file.
    """

    before: str
    after: str
    splices: tuple[Splice, ...] = ()
    found: str = ""
    unseen: bool = False
    found_splices: tuple[Splice, ...] = ()


class OldChange(Struct, frozen=True):
    """A change, and what it did to the files; `record` has no files.

    One that `goes_on` counts only together with the next.
    """

    record: ChangeRecord
    files: Mapping[File, OldFileChange]
    goes_on: bool = False


class OldJournal(Struct, frozen=True):
    """All changes that can be read, oldest first, and the names of the parts that have them.

    `damage` is how many of them come before the last line that is damaged; `None` for no such line.
    A last line that a crash has torn is none.
    """

    changes: Sequence[OldChange]
    names: frozenset[str]
    damage: int | None


class _Line(Struct, frozen=True):
    """The fields of a line that a `ChangeRecord` does not have, or has under another name."""

    sequence: int = field(name="seq")
    time: str = field(name="ts")
    files: dict[File, OldFileChange] = field(default_factory=dict)
    goes_on: bool = False


def read_journal(parts: Iterable[Path]) -> OldJournal:
    """Read the parts of a journal, oldest first."""
    changes: list[OldChange] = []
    names: set[str] = set()
    damage: int | None = None
    for part in parts:
        rows = list(lines(part))
        name = _name_in(rows[0]) if rows else ""
        names.add(name)
        found = _read_rows(rows, changes, is_chained=bool(name))
        damage = damage if found is None else found
    return OldJournal(changes, frozenset(names), damage)


def _read_rows(rows: Sequence[bytes], changes: list[OldChange], *, is_chained: bool) -> int | None:
    """Add the changes of a part; return how many there are before its last damaged line.

    Of an append that a crash cut off nothing was acknowledged: all its lines are left out.
    """
    damage: int | None = None
    previous = checksum_of(rows[0]) if is_chained else ""
    group: list[OldChange] = []
    for number, data in enumerate(rows[1:] if is_chained else rows, start=int(is_chained)):
        change = _change(data, previous)
        if change is None:
            if _is_torn_end(rows[number:]):
                break
            damage, group = len(changes), []
        else:
            group.append(change)
            if not change.goes_on:
                changes += group
                group = []
        previous = checksum_of(data) if is_chained else ""
    return damage


def _is_torn_end(rows: Sequence[bytes]) -> bool:
    """Whether a damaged line and all that follow were written as one, by an append that was cut."""
    return all(_GOES_ON in data or _FOLLOWS in following for data, following in pairwise(rows))


def _change(data: bytes, previous: str) -> OldChange | None:
    """Return the change on a line; `None` where the line is damaged, or follows another one."""
    value = checked_value(data, previous)
    if value is None:
        return None
    try:
        line = decoded(_Line, value)
        del value["seq"], value["ts"]
        value.pop("files", None)
        record = decoded(ChangeRecord, {**value, "sequence": line.sequence, "time": line.time})
    except CodecError:
        return None
    return OldChange(record, line.files, line.goes_on)


def _name_in(data: bytes) -> str:
    """Return the random name in the first line of a journal; empty in format 1, which has none."""
    match checked_value(data):
        case {"journal": str(name)}:
            return name
    return ""
