"""`search.idx`: the index of a transcript, believed only when it is whole, of this tokenizer and of these very files."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from pipimem.errors import LockTimeout, StoreError
from pipimem.store.disk.calls import read_whole, reading, told
from pipimem.store.disk.files import TEMPORARY, laid_ready, remove
from pipimem.store.pages import Bookmark, Mark, Pages
from pipimem.store.transcript import Transcript

_FORMAT = 2
NAME = "search.idx"
# A format, the order of bytes, a stamp and a digest.
_LONGEST_HEAD = 200
# Nobody waits for this file: where others write all the time, the next search makes it.
_PATIENCE = 0.5


def load(folder: Path, stamp: str, transcript: Transcript) -> tuple[Pages, memoryview] | None:
    """What was kept under the same stamp with its place in the transcript.

    None where nothing was, or it is damaged, stale, of another transcript, or out of reach.
    """
    try:
        data = read_whole(folder / NAME)
    except (OSError, StoreError):
        return None
    end = data.find(b"\n", 0, _LONGEST_HEAD)
    rest = memoryview(data)[end + 1 :]
    if end < 0 or data[:end] != _head(stamp, rest):
        return None
    bookmark, body = _parts(data, end + 1)
    pages = Pages.resumed(transcript, bookmark)
    return None if pages is None else (pages, body)


def lag(folder: Path, stamp: str, transcript: Transcript) -> int:
    """About how many bytes of the transcript the file does not have; a look at its beginning and at sizes."""
    known = 0
    try:
        with reading(folder / NAME) as file:
            if file.readline(_LONGEST_HEAD).startswith(_head_of(stamp)):
                known = sum(mark.size for mark in _marks(json.loads(file.readline())))
    except (OSError, StoreError, ValueError, TypeError, KeyError):  # damaged: whoever loads it finds out for sure
        pass
    return sum(part.stat().st_size for part in transcript.parts()) - known


def is_whole(folder: Path) -> bool:
    """Whether the file is as it was written, whatever it was written of; one that is not there is."""
    try:
        data = read_whole(folder / NAME)
    except FileNotFoundError:
        return True
    end = data.find(b"\n", 0, _LONGEST_HEAD)
    digest = blake2b(memoryview(data)[end + 1 :], digest_size=16).hexdigest().encode()
    return end >= 0 and data[:end].rpartition(b" ")[2] == digest


def save(folder: Path, stamp: str, transcript: Transcript, read: Bookmark, body: bytes) -> bool:
    """Keeps an index of what was read, whole or not at all; whether it could.

    It is written beside, and the lock is held for its renaming alone: what was rewritten meanwhile is not kept.
    """
    parts = [[mark.stamp, mark.size, mark.digest] for mark in read.marks]
    told_of = json.dumps({"parts": parts, "places": len(read.places)}).encode()
    rest = b"".join((told_of, b"\n", read.places, body))
    # Not synced: torn by a power cut it is found out, and made again.
    ready = laid_ready(folder / NAME, _head(stamp, rest) + b"\n" + rest, str(os.getpid()))
    try:
        with transcript.lock.held(_PATIENCE):
            if not read.fits(transcript):
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
        with suppress(FileNotFoundError):
            remove(path)


def _parts(data: bytes, start: int) -> tuple[Bookmark, memoryview]:
    # Whether it is whole is checked already.
    end = data.index(b"\n", start)
    read = json.loads(data[start:end])
    middle = end + 1 + read["places"]
    return Bookmark(_marks(read), data[end + 1 : middle]), memoryview(data)[middle:]


def _marks(read: dict[str, list[tuple[list[int], int, str]]]) -> tuple[Mark, ...]:
    return tuple(Mark((stamp[0], stamp[1], stamp[2]), size, digest) for stamp, size, digest in read["parts"])


def _head(stamp: str, rest: bytes | memoryview) -> bytes:
    return _head_of(stamp) + blake2b(rest, digest_size=16).hexdigest().encode()


def _head_of(stamp: str) -> bytes:
    return f"{_FORMAT} {sys.byteorder} {stamp} ".encode()
