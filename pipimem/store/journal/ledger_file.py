"""The checkpoint of a channel: `ledger.json`, a fold of the journal up to one record, with the texts of then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger
from pipimem.store import migration
from pipimem.store.codec import CodecError, decoded, encoded
from pipimem.store.disk.calls import read_whole, told
from pipimem.store.disk.checksums import checked_line, checked_value
from pipimem.store.disk.files import put_whole
from pipimem.store.journal.journal import NOWHERE, Place


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A ledger, and the end of the last record it holds, where the journal is still the one that it was read from.

    `texts` are those the files were left with: what the splices of later records start from, in one synced file.
    """

    ledger: Ledger
    place: Place = NOWHERE
    texts: Mapping[File, str] = field(default_factory=dict)


def load(path: Path) -> Checkpoint | None:
    """The checkpoint, `None` where there is none that can be read: the journal has it all again."""
    with told("read", path):
        try:
            data = read_whole(path)
        except FileNotFoundError:
            return None
    value = checked_value(data)
    if value is None:
        value = migration.checkpoint_of_format_1(data)
    try:
        return decoded(Checkpoint, value)
    except CodecError:
        return None


def save(path: Path, checkpoint: Checkpoint) -> None:
    """Writes the checkpoint in the place of the former one, whole or not at all."""
    put_whole(path, checked_line({"format": migration.FORMAT, **encoded(checkpoint)}))
