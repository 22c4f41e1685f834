"""Which change each entry came with, told from the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipimem.notes.entry import Entry
from pipimem.notes.files import File
from pipimem.notes.ledger import Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author
from pipimem.store.journal.records import FORGET, JournalRecord

_PREFIXES: Mapping[File, str] = {
    File.MEMORY: "",
    File.SESSION: "session:",
    File.HISTORY: "history:",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """An entry as it stands, what the ledger knows of it, and the change that brought it; `None` where nobody knows.

    `brought_back` is the undo or restore that put it there again, where there was one.
    """

    entry: Entry
    record: Record | None
    change: JournalRecord | None
    brought_back: JournalRecord | None = None


def origins(notes: Notes, records: Iterable[JournalRecord], files: Iterable[File]) -> list[Origin]:
    """The origin of each entry of some files, in file order."""
    by_name, by_line = _came(records)
    found = []
    for file in files:
        for entry in notes.note(file).entries:
            name = f"{_PREFIXES[file]}{entry.id}"
            came = by_name.get(name) or by_line.get((file, _first_line(entry.text)))
            found.append(Origin(entry, notes.ledger.records.get(name), *(came or (None, None))))
    return found


_Came = tuple[JournalRecord, JournalRecord | None]


def _came(
    records: Iterable[JournalRecord],
) -> tuple[dict[str, _Came], dict[tuple[File, str], _Came]]:
    """By the ledger's name, and for what a hand wrote by file and line: the change it came with."""
    by_name: dict[str, _Came] = {}
    by_line: dict[tuple[File, str], _Came] = {}
    gone: dict[str, _Came] = {}
    for record in records:
        if record.task == FORGET:  # it has the whole ledger, and brought nothing
            continue
        again = record.task in ("undo", "restore")
        for name, known in record.delta.records.items():
            if known is None:
                if name in by_name:
                    gone[name] = by_name.pop(name)
            elif name not in by_name:
                by_name[name] = (
                    (gone[name][0], record) if again and name in gone else (record, None)
                )
        if record.author is Author.EDITOR:
            for file, change in record.files.items():
                by_line |= {
                    (file, _bare(line)): (record, None) for s in change.splices for line in s.added
                }
    return by_name, by_line


def _first_line(text: str) -> str:
    return _bare(text.partition("\n")[0])


def _bare(line: str) -> str:
    return line.strip().lstrip("-*+0123456789.) \t").strip()
