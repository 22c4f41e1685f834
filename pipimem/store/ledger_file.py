"""The checkpoint of a channel's ledger: `ledger.json`, a fold of the journal up to one record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipimem.notes.ledger import Ledger
from pipimem.store import jsonlines
from pipimem.store.disk import told
from pipimem.store.files import put_whole
from pipimem.store.json_values import CodecError
from pipimem.store.ledger_codec import ledger_from, ledger_json

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A ledger, and the byte of the journal after the last record it holds (a hint.

    Rotation may have moved it).
    """

    ledger: Ledger
    offset: int = 0


def load(path: Path) -> Checkpoint | None:
    """The checkpoint, `None` where there is none that can be read: the journal has it all again."""
    with told("read", path):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
    value = jsonlines.value(data)
    try:
        if value is None or value.get("format") != _FORMAT or not isinstance(offset := value.get("offset"), int):
            return None
        return Checkpoint(ledger_from(value), offset)
    except CodecError:
        return None


def save(path: Path, checkpoint: Checkpoint) -> None:
    """Writes the checkpoint in the place of the former one, whole or not at all."""
    value = {"format": _FORMAT, "offset": checkpoint.offset, **ledger_json(checkpoint.ledger)}
    put_whole(path, jsonlines.line(value))
