"""`words.idx`: the words of a channel's entries as they were cut, believed only when it is whole and of this tokenizer."""

from __future__ import annotations

from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.store.disk.calls import read_whole
from pipimem.store.disk.files import put_whole, remove

_FORMAT = 1
NAME = "words.idx"


def load(folder: Path, stamp: str) -> str:
    """What was kept under the same stamp; empty where nothing was, or it is damaged, stale or out of reach."""
    try:
        head, _, body = read_whole(folder / NAME).partition(b"\n")
        return body.decode() if head == _head(stamp, body) else ""
    except (OSError, StoreError, UnicodeDecodeError):
        return ""


def save(folder: Path, stamp: str, text: str) -> None:
    """Keeps a text in the place of the former one, whole or not at all."""
    body = text.encode("utf-8", "replace")
    # Not synced: torn by a power cut it is found out, and made again.
    put_whole(folder / NAME, _head(stamp, body) + b"\n" + body, synced=False)


def drop(folder: Path) -> None:
    """Takes it away: what is forgotten is not to be found in it either."""
    with suppress(FileNotFoundError):
        remove(folder / NAME)


def _head(stamp: str, body: bytes) -> bytes:
    return f"{_FORMAT} {stamp} {blake2b(body, digest_size=16).hexdigest()}".encode()
