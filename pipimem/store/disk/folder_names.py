"""The folder name of a channel id: readable, valid everywhere, and different for any two ids."""

from __future__ import annotations

import re
import unicodedata
from base64 import b32encode
from hashlib import blake2b

from pipimem.errors import ChannelError

_PLAIN = re.compile(r"[a-z0-9._-]{1,64}")
# Windows opens a device under these names, whatever extension follows.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
# 40 characters of up to 4 bytes, with the hash, stay below the 255 bytes a file system takes.
_SLUG_LENGTH = 40
# 100 bits: a million channels clash with a chance of 1 in 10^18.
_HASH_BYTES = 13
_HASH_LENGTH = 20


def is_plain(channel_id: str) -> bool:
    """Whether the id is its own folder name."""
    return (
        _PLAIN.fullmatch(channel_id) is not None
        and not channel_id.startswith(".")
        and not channel_id.endswith(".")
        and _DEVICES.fullmatch(channel_id) is None
    )


def folder_name(channel_id: str) -> str:
    """Returns the name of a channel's folder: a plain id itself, else `<slug>~<hash>`.

    A plain id holds no `~` and no capital, the hash is in lower case: no two ids meet, also where
    case is folded.
    """
    if not isinstance(channel_id, str):
        raise ChannelError(
            f"A channel id is a text, not {channel_id!r}. "
            "Give str() of a number that the platform has."
        )
    if not channel_id:
        raise ChannelError(
            "The channel id is empty. Give the id that the platform has for the conversation."
        )
    if is_plain(channel_id):
        return channel_id
    digest = blake2b(channel_id.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()
    return f"{_slug(channel_id)}~{b32encode(digest).decode().lower()[:_HASH_LENGTH]}"


def _slug(channel_id: str) -> str:
    """Letters and digits of any script in lower case, `-` for the rest."""
    # Only the beginning can show up in the slug; ids may be very long.
    text = unicodedata.normalize("NFC", channel_id[: 4 * _SLUG_LENGTH].lower())
    kept = "".join(char if unicodedata.category(char)[0] in "LMN" else "-" for char in text)
    slug = re.sub("-+", "-", kept).strip("-")[:_SLUG_LENGTH].rstrip("-")
    # Dropping characters can bring together what composes; macOS would show the composed form
    # anyway.
    return unicodedata.normalize("NFC", slug) or "channel"
