"""What pipimem 0.1 wrote (format 1) and this version reads and brings to format 2.

Reading never writes: a checkpoint of format 1 is read as one of format 2, a journal without a
header as one without chained checksums. With the first lock that is taken `channel.json` gets the
new number, so that an older pipimem refuses the channel from then on; then what waits is carried
out, the ledger is written anew, and the journal is set aside. Each step can be the last before a
kill: what is still of format 1 is found by its own marks, and brought over later.
"""

from __future__ import annotations

from pathlib import Path

from pipimem.store.disk import json_lines
from pipimem.store.disk.files import remove

FORMAT = 2
"""The number in `channel.json`, `ledger.json` and the journal's first line."""


def checkpoint_of_format_1(data: bytes) -> dict[str, object] | None:
    """Returns `ledger.json` of format 1 as a checkpoint of format 2, `None` where it is none.

    The ledger's fields stood among the checkpoint's own. Where the journal ended then is unknown:
    it is read whole.
    """
    found = json_lines.value(data)
    if found is None or found.get("format") != 1 or "sequence" not in found:
        return None
    return {"ledger": found, "texts": found.get("texts", {})}


def remove_leftovers(own: Path) -> None:
    """Takes away what format 2 does not know: `unread`, the texts that nobody had read."""
    remove(own / "unread")
