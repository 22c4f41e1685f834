"""A change of a channel, as its state keeps it: who did what to which texts, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct, field

from pipimem.notes.kinds import File
from pipimem.notes.ledger import Delta
from pipimem.notes.operations import Author, Change, LeftOut, Tokens

FORGET = "forget"
"""The task of a forgetting: undo reaches no further back."""


class FileChange(Struct, frozen=True):
    """A file from one text to another, by their etags.

    `displaces` is the text that stood in the file when the change was made, and `saved` a text of a
    person's that was merged, without lines that were forgotten; empty where none was. `on_disk` is
    whether the text `after` stood in the file.
    """

    before: str
    after: str
    displaces: str = ""
    saved: str = ""
    on_disk: bool = True


class RefusedLine(Struct, frozen=True):
    """An operation that was not carried out: its name, the text it was about, and why."""

    operation: str
    text: str
    reason: str


class StoredLeftOut(Struct, frozen=True):
    """An item that was left out: its number, the change that it goes with, and when that was."""

    number: int
    change: int
    time: str
    item: LeftOut


class ChangeRecord(Struct, frozen=True):
    """A change with its number; `time` is ISO 8601 with offset.

    `left_out` is what memory did not take of an answer, `taken_in` the numbers of earlier such
    items that it took after all: both are empty in a change that was read. `taken_items` are these
    items, which an undo lists again. `archived` went to the end of the archive. `id` is random,
    so that a change is found again whose commit ended in doubt.
    """

    # Written in columns of their own, or in other tables.
    NOT_WRITTEN: ClassVar = frozenset(
        {"sequence", "id", "time", "task", "author", "files", "left_out", "taken_in"}
    )

    sequence: int
    time: str
    task: str
    author: Author
    actor: str = ""
    why: str = ""
    correlation: str = ""
    changes: tuple[Change, ...] = ()
    refused: tuple[RefusedLine, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    taken_in: tuple[int, ...] = ()
    taken_items: tuple[LeftOut, ...] = ()
    files: Mapping[File, FileChange] = field(default_factory=dict)
    archived: str = ""
    delta: Delta = field(default_factory=Delta)
    tokens: Tokens | None = None
    id: str = ""
