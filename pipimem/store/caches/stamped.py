"""Cache files: the first line has a format, the hash of a stamp, and the hash of the rest."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.store.disk.files import put_whole
from pipimem.store.disk.syscalls import read_whole

_FORMAT = 4

WORDS = "words.idx"
VECTORS = "vectors.bin"


def load(path: Path, stamp: str) -> bytes:
    """The bytes saved under the same stamp; empty where there are none, or they are damaged."""
    try:
        head, _, rest = read_whole(path).partition(b"\n")
    except (OSError, StoreError):
        return b""
    return rest if head == _head(stamp, rest) else b""


def begins(head: bytes, stamp: str) -> bool:
    """Whether the first line of a file, or its beginning, has this stamp."""
    return head.startswith(_beginning(stamp))


def save(path: Path, stamp: str, body: bytes) -> None:
    """Replaces a file, whole or not at all."""
    # Not synced: torn by a power cut it is found out, and made again.
    put_whole(path, b"\n".join((_head(stamp, body), body)), synced=False)


def _head(stamp: str, body: bytes) -> bytes:
    digest = blake2b(body, digest_size=16).hexdigest()
    return _beginning(stamp) + digest.encode()


def _beginning(stamp: str) -> bytes:
    # A person may have written the stamp, with anything in it, also line ends.
    mark = blake2b(stamp.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{_FORMAT} {mark} ".encode()
