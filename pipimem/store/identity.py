"""Who a channel's folder belongs to: `.pipimem/channel.json`."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from pipimem.errors import ChannelError
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import read_whole, sync_folder, told
from pipimem.store.disk.files import put_whole
from pipimem.store.migration import FORMAT

KEY_BYTES = 32


class DamagedIdentity(ChannelError):
    """A `channel.json` that nobody wrote so."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The true id of a channel, `dm` or `group`, what people call it, the key of its entry ids, and the format of its
    folder."""

    id: str
    kind: str
    title: str
    key: bytes
    format: int = FORMAT


def load(path: Path) -> Identity | None:
    """The identity in a file, `None` where there is none.

    Raises `ChannelError` for one of a newer pipimem, `DamagedIdentity` for one that is not understood.
    """
    with told("read", path):
        try:
            data = read_whole(path)
        except FileNotFoundError:
            return None
    match jsonlines.value(data):
        case {"format": int(version)} if version > FORMAT:
            raise ChannelError(
                f"{path} was written by a newer pipimem (format {version}). Update pipimem."
            )
        case {
            "format": 1 | 2 as version, "id": str(name), "kind": str(kind), "title": str(title), "key": str(key), **rest
        } if rest.get("key_sum", _checksum(key)) == _checksum(key):  # fmt: skip
            try:
                return Identity(name, kind, title, bytes.fromhex(key), version)
            except ValueError:
                pass
    raise DamagedIdentity(
        f"{path} is damaged. Put it back from a backup. Without one remove it: the folder is then adopted again, its "
        "Markdown untouched; but its key is gone, so entries get other ids, and what was forgotten or deleted by hand "
        "may be learnt again from older talk."
    )


def save(path: Path, identity: Identity) -> None:
    """Writes the identity."""
    value = {
        "format": FORMAT,
        "id": identity.id,
        "kind": identity.kind,
        "title": identity.title,
        "key": identity.key.hex(),
        # Of the key alone: people may mend the rest.
        "key_sum": _checksum(identity.key.hex()),
    }
    put_whole(path, jsonlines.line(value))
    sync_folder(path.parent)


def _checksum(key: str) -> str:
    return f"{zlib.crc32(key.encode()):08x}"


def derived_key(channel_id: str) -> bytes:
    """The key of a folder that has none yet: the same at each reading, without anything being written."""
    return blake2b(
        channel_id.encode("utf-8", "surrogatepass"),
        digest_size=KEY_BYTES,
        person=b"pipimem channel",
    ).digest()
