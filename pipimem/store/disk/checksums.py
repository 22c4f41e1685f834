"""JSON lines with a checksum as their last field, each over the line and the checksum before it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

from pipimem.store.disk import jsonlines

_CHECKSUM = re.compile(rb', "sum": "([0-9a-f]{8})"\}\n$')
TAIL_LENGTH = len(b', "sum": "01234567"}\n')


def checked_line(value: Mapping[str, object], previous: str = "") -> bytes:
    """The object as one line; `previous` is the checksum of the line before, empty for none."""
    body = jsonlines.line(value).rstrip(b"\n")
    return body[:-1] + f', "sum": "{_checksum(body, previous)}"}}\n'.encode()


def checked_value(data: bytes, previous: str = "") -> dict[str, object] | None:
    """The object on a line, `None` where the line is torn, was changed or follows another line than it did."""
    checksum = checksum_of(data)
    body = data[:-TAIL_LENGTH] + b"}"
    if not checksum or _checksum(body, previous) != checksum:
        return None
    return jsonlines.value(body)


def checksum_of(data: bytes) -> str:
    """The checksum that bytes end with, empty where they end with none."""
    found = _CHECKSUM.search(data)
    return found[1].decode() if found else ""


def _checksum(body: bytes, previous: str) -> str:
    return f"{zlib.crc32(body, int(previous or '0', 16)):08x}"
