"""JSON lines: one object a line, unescaped so that people can grep, with or without a checksum.

A checksum is the last field of its line, and goes over the line and the checksum before it.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping

_CHECKSUM = re.compile(rb', "sum": "([0-9a-f]{8})"\}\n$')
TAIL_LENGTH = len(b', "sum": "01234567"}\n')


def line(value: Mapping[str, object]) -> bytes:
    """The object as one line with its ending."""
    # Half of a surrogate pair, as broken clients send it, survives as an escape that JSON has too.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def value(data: bytes) -> dict[str, object] | None:
    """The object on a line, `None` where there is none."""
    if b"{" not in data:  # an exception for each of a million empty lines takes seconds
        return None
    try:
        # As UTF-8, which is what we write: zeros would be taken for UTF-32.
        found = json.loads(data.decode("utf-8").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def checked_line(fields: Mapping[str, object], previous: str = "") -> bytes:
    """The object as one line; `previous` is the checksum of the line before, empty for none."""
    body = line(fields).rstrip(b"\n")
    return body[:-1] + f', "sum": "{_checksum(body, previous)}"}}\n'.encode()


def checked_value(data: bytes, previous: str = "") -> dict[str, object] | None:
    """Returns the object on a line with a checksum; `previous` is that of the line before.

    Returns `None` where the line is torn, was changed or follows another line than it did.
    """
    checksum = checksum_of(data)
    body = data[:-TAIL_LENGTH] + b"}"
    if not checksum or _checksum(body, previous) != checksum:
        return None
    return value(body)


def checksum_of(data: bytes) -> str:
    """The checksum that bytes end with, empty where they end with none."""
    found = _CHECKSUM.search(data)
    return found[1].decode() if found else ""


def _checksum(body: bytes, previous: str) -> str:
    return f"{zlib.crc32(body, int(previous or '0', 16)):08x}"
