"""The usage ledger: one line for each model call, a file for each month, only appended to."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from pipimem.notes.usage import Usage
from pipimem.store.disk import appended_files, json_lines
from pipimem.store.disk.appended_files import append
from pipimem.store.disk.json_codec import CodecError, decoded, encoded
from pipimem.store.disk.known_prefix import KnownParts, KnownPrefix
from pipimem.store.disk.syscalls import make_folder, reading, store_errors
from pipimem.text.dates.bounds import aware, later

_FILES = "usage-*.jsonl"
# A day's lines are looked for from the end in steps of so many bytes: about 700 calls.
_STEP = 256 * 1024
# Lines are written when a call ends, by several processes: none that is this late is missed.
_OUT_OF_ORDER = timedelta(hours=1)
# More tokens than any bill has: a line that says more is damaged, and sums stay exact.
_MOST_TOKENS = 10**12


def append_usage(folder: Path, usage: Usage, host: str = "") -> None:
    """Adds one call to its month, in a workspace's `.pipimem/`; `host` has a file of its own."""
    make_folder(folder)
    month = usage.time[:7] or "unknown"
    append(folder / f"usage-{month}{_suffix(host)}.jsonl", json_lines.line(encoded(usage)))


def host_lines(folder: Path, host: str, since: datetime) -> Iterator[Usage]:
    """The calls since a time in the files of one host; damaged lines are passed over."""
    suffix = _suffix(host)
    for path in _files(folder, since):
        if path.stem.partition("~")[2] != suffix.removeprefix("~"):
            continue
        for data in appended_files.lines(path):
            usage = _usage(data)
            if usage is not None and _at_or_after(usage, since):
                yield usage


def _suffix(host: str) -> str:
    return f"~{host}" if host else ""


def usage_lines(folder: Path, since: datetime | None = None) -> Iterator[Usage | None]:
    """The calls since a time, oldest month first; `None` for each damaged line of these months."""
    for path in _files(folder, since):
        for data in appended_files.lines(path):
            usage = _usage(data)
            if usage is None or since is None or _at_or_after(usage, since):
                yield usage


@dataclass(slots=True)
class Tail:
    """The calls since a time, each given once, whichever process appended it."""

    folder: Path
    since: datetime
    _read: KnownParts = field(default_factory=KnownParts)

    @property
    def rewritten(self) -> bool:
        """Whether the files were rewritten: only a new `Tail` helps."""
        return not self._read.still_stand(_files(self.folder, self.since))

    def fresh(self) -> list[Usage]:
        """The calls that were not given before; a line still being written is left out."""
        paths = _files(self.folder, self.since)
        for path in paths[len(self._read.prefixes) :]:
            start = _start(path, later(self.since, -_OUT_OF_ORDER))
            self._read.prefixes.append(KnownPrefix(start, start))
        usages = (_usage(data) for _, _, data in self._read.fresh(paths))
        return [usage for usage in usages if usage is not None and _at_or_after(usage, self.since)]


def _files(folder: Path, since: datetime | None) -> list[Path]:
    # Months are named in the local time of the call: a day of grace for other time zones.
    first = ""
    if since:
        first = f"usage-{later(since, -timedelta(days=1)):%Y-%m}"
    with store_errors("read", folder):
        return [path for path in sorted(folder.glob(_FILES)) if path.stem >= first]


def _start(path: Path, since: datetime) -> int:
    """A line's start before which no line is as new as `since`."""
    with store_errors("read", path), reading(path) as file:
        start = max(0, file.seek(0, os.SEEK_END) - _STEP)
        while start:
            file.seek(start)
            file.readline()  # the rest of a line that begins before
            begin = file.tell()
            oldest = next(filter(None, map(_usage, file)), None)
            if oldest is not None and not _at_or_after(oldest, since):
                return begin
            start = max(0, start - _STEP)
    return 0


def _usage(data: bytes) -> Usage | None:
    """The call on a line; `None` where it is damaged, or has numbers that no bill has."""
    try:
        usage = decoded(Usage, json_lines.value(data))
    except CodecError:
        return None
    counts = (usage.tokens_in, usage.tokens_out, usage.tokens_cached)
    estimates = (usage.estimated_in, usage.estimated_out)
    amounts = (usage.cost or 0, usage.estimated_cost or 0, usage.latency)
    if not all(0 <= count <= _MOST_TOKENS for count in (*counts, *estimates)):
        return None
    if not all(0 <= amount < math.inf for amount in amounts):
        return None
    return usage if _when(usage.time) is not None else None


def _when(time: str) -> datetime | None:
    try:
        return aware(datetime.fromisoformat(time))
    except ValueError:
        return None


def _at_or_after(usage: Usage, since: datetime) -> bool:
    when = _when(usage.time)
    return when is not None and when >= since
