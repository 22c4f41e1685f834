"""The checkpoint of a channel, `ledger.json`: the ledger and the texts as of one record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from pipimem.notes.kinds import File
from pipimem.notes.ledger import Ledger
from pipimem.store.disk.files import put_whole
from pipimem.store.disk.syscalls import read_if_there
from pipimem.store.journal.records import FORMAT, NOWHERE, Place
from pipimem.text import json_lines
from pipimem.text.json_codec import CodecError, decoded, encoded
from pipimem.text.json_lines import checked_line, checked_value


class Checkpoint(Struct, frozen=True):
    """A ledger, and the place where the last record that it has ends in the journal.

    `texts` are those the files were left with: what the splices of later records start from, in one
    synced file.
    """

    ledger: Ledger
    place: Place = NOWHERE
    texts: Mapping[File, str] = field(default_factory=dict)


def load(path: Path) -> Checkpoint | None:
    """The checkpoint, `None` where there is none that can be read: the journal has it all again."""
    data = read_if_there(path)
    if data is None:
        return None
    value = checked_value(data)
    if value is None:
        value = _of_format_1(data)
    try:
        return decoded(Checkpoint, value)
    except CodecError:
        return None


def save(path: Path, checkpoint: Checkpoint) -> None:
    """Writes the checkpoint in the place of the former one, whole or not at all."""
    put_whole(path, checked_line({"format": FORMAT, **encoded(checkpoint)}))


def _of_format_1(data: bytes) -> dict[str, object] | None:
    """Returns `ledger.json` of format 1 as a checkpoint of format 2, `None` where it is none.

    The ledger's fields stood among the checkpoint's own. Where the journal ended then is unknown:
    it is read whole.
    """
    found = json_lines.value(data)
    if found is None or found.get("format") != 1 or "sequence" not in found:
        return None
    return {"ledger": found, "texts": found.get("texts", {})}
