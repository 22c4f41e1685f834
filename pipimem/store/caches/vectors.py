"""`vectors.bin`: texts' vectors by the marks of the texts, believed only when it is whole and of this embedder."""

from __future__ import annotations

from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.store.disk.calls import read_whole
from pipimem.store.disk.files import put_whole, remove

_FORMAT = 1
NAME = "vectors.bin"


def load(folder: Path, embedder: str) -> bytes:
    """What was kept of the same embedder; empty where nothing was, or it is damaged, another's or out of reach."""
    try:
        head, _, body = read_whole(folder / NAME).partition(b"\n")
    except (OSError, StoreError):
        return b""
    return body if head == _head(embedder, body) else b""


def save(folder: Path, embedder: str, body: bytes) -> None:
    """Keeps vectors in the place of the former ones, whole or not at all."""
    put_whole(folder / NAME, _head(embedder, body) + b"\n" + body, synced=False)


def drop(folder: Path) -> None:
    """Takes it away: what is forgotten is not to be found in it either."""
    with suppress(FileNotFoundError):
        remove(folder / NAME)


def _head(embedder: str, body: bytes) -> bytes:
    # A name is anything a person wrote; its mark has no line end.
    name = blake2b(embedder.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{_FORMAT} {name} {blake2b(body, digest_size=16).hexdigest()}".encode()
