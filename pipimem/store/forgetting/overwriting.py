"""Words taken out of a file that others append to: overwritten in place, byte for byte as long as they were."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import opened, sync_data, told
from pipimem.store.forgetting.needles import Needles

# The one field of the usage ledger that may quote somebody: an answer that was refused.
_QUOTES = "reason"


def from_usage(folder: Path, needles: Needles) -> dict[str, int]:
    """Blanks the reasons of calls that hold a needle; by file name how many. Appending needs no lock meanwhile."""
    counts = {}
    for path in sorted(folder.glob("usage-*.jsonl")):
        offset, places = 0, []
        for data in jsonlines.lines(path):
            if place := _quote_in(data, needles):
                places.append((offset + place[0], place[1]))
            offset += len(data)
        if places:
            _blank(path, places)
            counts[path.name] = len(places)
    return counts


def _quote_in(data: bytes, needles: Needles) -> tuple[int, int] | None:
    """Where in a line the quoted words stand, as offset and length; `None` where they hold no needle."""
    reason = (jsonlines.value(data) or {}).get(_QUOTES)
    if not isinstance(reason, str) or not needles.are_in(reason):
        return None
    written = json.dumps(reason, ensure_ascii=False).encode("utf-8", "backslashreplace")[1:-1]
    at = data.find(written, data.find(b'"reason"'))
    return (at, len(written)) if at >= 0 else None


def _blank(path: Path, places: list[tuple[int, int]]) -> None:
    with told("write", path):
        descriptor = opened(path, os.O_RDWR)
        try:
            for offset, length in places:
                os.lseek(descriptor, offset, os.SEEK_SET)
                os.write(descriptor, b" " * length)
            sync_data(descriptor)
        finally:
            os.close(descriptor)
