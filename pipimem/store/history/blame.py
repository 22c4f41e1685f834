"""Which change each entry came with, told from the changes that are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct, field

from pipimem.notes.entry import Entry
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Record, sources_by_name
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author
from pipimem.state.changes import FORGET, ChangeRecord
from pipimem.text.markdown.lines import split_lines


class Origin(Struct, frozen=True):
    """An entry, what the ledger knows of it, and the change that added it, as far as known.

    `sources` are the ids of the messages that it rests on.
    `brought_back` is the undo or restore that added it once more, where there was one. `heard_by`
    are the people who were there when it was learnt.
    """

    entry: Entry
    record: Record | None
    change: ChangeRecord | None
    brought_back: ChangeRecord | None = None
    heard_by: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def origins(
    notes: Notes,
    records: Iterable[ChangeRecord],
    text_of: Callable[[str], str | None],
    files: Iterable[File],
) -> list[Origin]:
    """Return the origin of each entry of some files, in file order.

    `text_of` has the texts of the changes by their etags.
    """
    added = _Additions(text_of)
    for record in records:
        if record.task != FORGET:  # it has the whole ledger, and added nothing
            added.take(record)
    found = []
    for file in files:
        for entry in notes.note(file).entries:
            name = entry.record_name
            change = added.by_name.get(name) or added.by_line.get((file, _first_line(entry.text)))
            known = notes.ledger.records.get(name)
            heard_by = notes.ledger.heard_by(known) if known else ()
            sources = sources_by_name(notes.ledger.records, name)
            found.append(Origin(entry, known, change, added.again.get(name), heard_by, sources))
    return found


class _Additions(Struct, frozen=True):
    """The change that first added each entry: by the ledger's name, or by file and line.

    By line are those that a person wrote. `again` has the undo or restore that added an entry once
    more after it was removed.
    """

    text_of: Callable[[str], str | None]
    by_name: dict[str, ChangeRecord] = field(default_factory=dict)
    by_line: dict[tuple[File, str], ChangeRecord] = field(default_factory=dict)
    again: dict[str, ChangeRecord] = field(default_factory=dict)
    _removed: set[str] = field(default_factory=set)

    def take(self, record: ChangeRecord) -> None:
        """Take in the next change."""
        for name, known in record.delta.records.items():
            if known is None:
                self._removed.add(name)
            elif name not in self.by_name or name in self._removed:
                self._add(name, record)
        if record.author is not Author.EDITOR:
            return
        for file, change in record.files.items():
            before, after = self.text_of(change.before), self.text_of(change.after)
            if before is not None and after is not None:
                added = {*split_lines(after)}.difference(split_lines(before))
                self.by_line.update({(file, _bare(line)): record for line in added})

    def _add(self, name: str, record: ChangeRecord) -> None:
        self._removed.discard(name)
        self.again.pop(name, None)
        if name in self.by_name and record.task in ("undo", "restore"):
            self.again[name] = record
        else:
            self.by_name[name] = record


def _first_line(text: str) -> str:
    return _bare(text.partition("\n")[0])


def _bare(line: str) -> str:
    return line.strip().lstrip("-*+0123456789.) \t").strip()
