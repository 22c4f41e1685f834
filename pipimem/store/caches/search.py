"""`search.idx`: the index of a transcript, believed only when it is whole, of this tokenizer and of these very files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from pipimem.errors import LockTimeout, StoreError
from pipimem.store.caches import stamped
from pipimem.store.disk.calls import reading, told
from pipimem.store.disk.files import TEMPORARY, laid_ready, remove
from pipimem.store.pages import Bookmark, Mark, Pages
from pipimem.store.transcript import Transcript

NAME = "search.idx"
# Nobody waits for this file: where others write all the time, the next search makes it.
_PATIENCE = 0.5


def load(folder: Path, stamp: str, transcript: Transcript) -> tuple[Pages, memoryview] | None:
    """What was kept under the same stamp with its place in the transcript.

    None where nothing was, or it is damaged, stale, of another transcript, or out of reach.
    """
    kept = stamped.load(folder / NAME, _stamp(stamp))
    if not kept:
        return None
    bookmark, body = _parts(kept)
    pages = Pages.resumed(transcript, bookmark)
    return None if pages is None else (pages, body)


def lag(folder: Path, stamp: str, transcript: Transcript) -> int:
    """About how many bytes of the transcript the file does not have; a look at its beginning and at sizes."""
    known = 0
    try:
        with reading(folder / NAME) as file:
            if stamped.begins(file.readline(), _stamp(stamp)):
                known = sum(mark.size for mark in _marks(json.loads(file.readline())))
    except (
        OSError,
        StoreError,
        ValueError,
        TypeError,
        KeyError,
    ):  # damaged: whoever loads it finds out for sure
        pass
    return sum(part.stat().st_size for part in transcript.parts()) - known


def save(folder: Path, stamp: str, transcript: Transcript, read: Bookmark, body: bytes) -> bool:
    """Keeps an index of what was read, whole or not at all; whether it could.

    It is written beside, and the lock is held only to see that the transcript still says what was read, and to rename.
    """
    parts = [[mark.size, mark.digest] for mark in read.marks]
    told_of = json.dumps({"parts": parts, "places": len(read.places)}).encode()
    rest = b"".join((told_of, b"\n", read.places, body))
    # Not synced: torn by a power cut it is found out, and made again.
    ready = laid_ready(folder / NAME, stamped.stamped(_stamp(stamp), rest), str(os.getpid()))
    try:
        with transcript.lock.held(_PATIENCE):
            if Pages.resumed(transcript, read) is None:
                return False
            with told("replace", folder / NAME):
                ready.replace(folder / NAME)
            return True
    except LockTimeout:
        return False
    finally:
        remove(ready)


def drop(folder: Path) -> None:
    """Takes it away, and what is being written of it: what is forgotten is not to be found in it either."""
    for path in (folder / NAME, *folder.glob(f".{NAME}.*{TEMPORARY}")):
        remove(path)


def _parts(kept: bytes) -> tuple[Bookmark, memoryview]:
    # Whether it is whole is checked already.
    end = kept.index(b"\n")
    read = json.loads(kept[:end])
    middle = end + 1 + read["places"]
    return Bookmark(_marks(read), kept[end + 1 : middle]), memoryview(kept)[middle:]


def _marks(read: dict[str, list[tuple[int, str]]]) -> tuple[Mark, ...]:
    return tuple(Mark(size, digest) for size, digest in read["parts"])


def _stamp(stamp: str) -> str:
    return f"{sys.byteorder} {stamp}"
