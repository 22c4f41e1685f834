"""`search.idx`: the search index of a transcript, used only if it fits these very files."""

from __future__ import annotations

import json
from pathlib import Path

from pipimem.errors import LockTimeout, StoreError
from pipimem.store.caches import stamped
from pipimem.store.disk.files import TEMPORARY, remove
from pipimem.store.disk.syscalls import reading
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.reader import ReadPosition, TranscriptReader
from pipimem.text import json_lines

NAME = "search.idx"
# Nobody waits for this file: where others write all the time, the next search makes it.
_LOCK_SECONDS = 0.5


def load(
    folder: Path, stamp: str, transcript: Transcript
) -> tuple[TranscriptReader, memoryview] | None:
    """The index that was written under the same stamp, and a reader that goes on behind it.

    `None` where there is none, or it is damaged, stale, of another transcript, or out of reach.
    """
    kept = stamped.load(folder / NAME, stamp)
    if not kept:
        return None
    head, _, rest = kept.partition(b"\n")  # whole: that is checked already
    read = json.loads(head)
    places = ReadPosition(read["parts"], rest[: read["places"]])
    reader = TranscriptReader.resumed(transcript, places)
    if reader is None:
        return None
    return reader, memoryview(rest)[read["places"] :]


def lag(folder: Path, stamp: str, transcript: Transcript) -> int:
    """About how many bytes of the transcript the index lacks, by its first lines and file sizes."""
    known = 0
    try:
        with reading(folder / NAME) as file:
            if stamped.begins(file.readline(), stamp):
                known = sum(size for size, _ in json.loads(file.readline())["parts"])
    # Damaged: `load` finds out for sure.
    except (OSError, StoreError, ValueError, TypeError, KeyError):
        pass
    return sum(part.stat().st_size for part in transcript.parts()) - known


def save(folder: Path, stamp: str, transcript: Transcript, read: ReadPosition, body: bytes) -> bool:
    """Writes an index of what was read, whole or not at all; whether it could.

    It cannot while others hold the lock, or if the transcript was rewritten since it was read.
    """
    head = json_lines.line({"parts": read.marks, "places": len(read.places)})
    try:
        with transcript.lock.held(_LOCK_SECONDS):
            if TranscriptReader.resumed(transcript, read) is None:
                return False
            stamped.save(folder / NAME, stamp, b"".join((head, read.places, body)))
            return True
    except LockTimeout:
        return False


def drop(folder: Path) -> None:
    """Removes the index, and what a killed process left half written of it."""
    for path in (folder / NAME, *folder.glob(f".{NAME}.*{TEMPORARY}")):
        remove(path)
