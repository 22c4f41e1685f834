"""Files that save time: the first line is a format, a stamp and a hash of the rest, and others are not believed."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.store.disk.calls import read_whole
from pipimem.store.disk.files import put_whole

_FORMAT = 3

WORDS = "words.idx"
VECTORS = "vectors.bin"


def load(path: Path, stamp: str) -> bytes:
    """What was kept under the same stamp; empty where nothing was, or it is damaged, stale or out of reach."""
    try:
        head, rest = _parts(path)
    except (OSError, StoreError):
        return b""
    return rest if head == _head(stamp, rest) else b""


def is_whole(path: Path) -> bool:
    """Whether the file is as it was written, under whatever stamp; one that is not there is."""
    try:
        head, rest = _parts(path)
    except FileNotFoundError:
        return True
    return head.rpartition(b" ")[2] == _digest(rest)


def begins(head: bytes, stamp: str) -> bool:
    """Whether the first line of a file, or its beginning, has this stamp."""
    return head.startswith(_beginning(stamp))


def stamped(stamp: str, body: bytes) -> bytes:
    """The content of a file under a stamp."""
    return _head(stamp, body) + b"\n" + body


def save(path: Path, stamp: str, body: bytes) -> None:
    """Keeps what saves time in the place of what was kept, whole or not at all."""
    # Not synced: torn by a power cut it is found out, and made again.
    put_whole(path, stamped(stamp, body), synced=False)


def stamp_of(name: str) -> str:
    """A stamp of a name that a person wrote: it may hold anything, also line ends."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _parts(path: Path) -> tuple[bytes, bytes]:
    head, _, rest = read_whole(path).partition(b"\n")
    return head, rest


def _head(stamp: str, body: bytes) -> bytes:
    return _beginning(stamp) + _digest(body)


def _beginning(stamp: str) -> bytes:
    return f"{_FORMAT} {stamp} ".encode()


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).hexdigest().encode()
