"""Words taken out of the usage ledger, which others append to: overwritten in place, as long as they were."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import opened, sync_data, told
from pipimem.store.forgetting.needles import Needles

Place = tuple[int, int]
"""Offset and length in a file, in bytes."""


def quotes(folder: Path, needles: Needles) -> dict[Path, list[Place]]:
    """Where the reasons of calls hold a needle: the one field that may quote somebody, by file."""
    found = {path: list(_quotes_in(path, needles)) for path in sorted(folder.glob("usage-*.jsonl"))}
    return {path: places for path, places in found.items() if places}


def overwrite(path: Path, places: Iterable[Place]) -> None:
    """Puts blanks there. Whoever appends meanwhile is not disturbed."""
    with told("write", path):
        descriptor = opened(path, os.O_RDWR)
        try:
            for offset, length in places:
                os.lseek(descriptor, offset, os.SEEK_SET)
                os.write(descriptor, b" " * length)
            sync_data(descriptor)
        finally:
            os.close(descriptor)


def _quotes_in(path: Path, needles: Needles) -> Iterator[Place]:
    offset = 0
    for data in jsonlines.lines(path):
        reason = (jsonlines.value(data) or {}).get("reason")
        if isinstance(reason, str) and needles.are_in(reason):
            written = json.dumps(reason, ensure_ascii=False).encode("utf-8", "backslashreplace")[
                1:-1
            ]
            at = data.find(written, data.find(b'"reason"'))
            if at >= 0:
                yield offset + at, len(written)
        offset += len(data)
