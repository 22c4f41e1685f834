"""The usage ledger: one line for each call of a model, a file for each month, only ever appended to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from pipimem.notes.usage import Usage
from pipimem.store.codec import CodecError, decoded, encoded
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import append, make_folder, reading, told
from pipimem.store.disk.known_prefix import KnownPrefix
from pipimem.text.dates.bounds import later

_FILES = "usage-*.jsonl"
# A day's lines are looked for from the end in steps of so many bytes: about 700 calls.
_STEP = 256 * 1024
# Lines are written when a call ends and by several processes: this much out of order, none of a day is missed.
_OUT_OF_ORDER = timedelta(hours=1)
# More tokens than any bill has: a line that says more is damaged, and sums stay exact.
_MOST_TOKENS = 10**12


@dataclass(frozen=True, slots=True)
class UsageLedger:
    """The ledger in a workspace's `.pipimem/`."""

    folder: Path

    def append(self, usage: Usage) -> None:
        """Adds one call to its month."""
        make_folder(self.folder)
        append(
            self.folder / f"usage-{usage.time[:7] or 'unknown'}.jsonl",
            jsonlines.line(encoded(usage)),
        )

    def lines(self, since: datetime | None = None) -> Iterator[Usage | None]:
        """The calls since a time, oldest month first; `None` for a line of these months that is none."""
        for path in _files(self.folder, since):
            for data in jsonlines.lines(path):
                usage = _usage(data)
                if usage is None or since is None or _at_or_after(usage, since):
                    yield usage

    def tail(self, since: datetime) -> Tail:
        """The calls since a time and, from then on, each new one."""
        return Tail(self.folder, since)


@dataclass(slots=True)
class Tail:
    """What was appended since it was last asked, by whomever; remembers what was read of each file."""

    folder: Path
    since: datetime
    _read: dict[Path, KnownPrefix] = field(default_factory=dict)

    @property
    def rewritten(self) -> bool:
        """Whether the files no longer have what was read of them: only another tail helps."""
        return not all(prefix.still_stands(path) for path, prefix in self._read.items())

    def fresh(self) -> list[Usage]:
        """The calls of all processes that were not given before; a line still being written waits for its end."""
        found: list[Usage] = []
        for path in _files(self.folder, self.since):
            with told("read", path):
                size = path.stat().st_size
                if path not in self._read:
                    start = _start(path, size, later(self.since, -_OUT_OF_ORDER))
                    self._read[path] = KnownPrefix(start, start)
                if size > self._read[path].end:
                    found += self._appended(path, self._read[path])
        return found

    def _appended(self, path: Path, prefix: KnownPrefix) -> Iterator[Usage]:
        for data in jsonlines.lines(path, prefix.end):
            if not data.endswith(b"\n"):
                return
            prefix.take(data)
            usage = _usage(data)
            if usage is not None and _at_or_after(usage, self.since):
                yield usage


def _files(folder: Path, since: datetime | None) -> list[Path]:
    # Months are named in the local time of the call: a day of grace for those east and west of here.
    first = f"usage-{later(since, -timedelta(days=1)):%Y-%m}" if since else ""
    with told("read", folder):
        return [path for path in sorted(folder.glob(_FILES)) if path.stem >= first]


def _start(path: Path, size: int, since: datetime) -> int:
    """A line's start before which no line is as new as `since`."""
    start = max(0, size - _STEP)
    with reading(path) as file:
        while start:
            file.seek(start)
            file.readline()  # the rest of a line that begins before
            begin = file.tell()
            oldest = next((usage for data in file if (usage := _usage(data))), None)
            if oldest is not None and not _at_or_after(oldest, since):
                return begin
            start = max(0, start - _STEP)
    return 0


def _usage(data: bytes) -> Usage | None:
    """The call on a line, `None` where there is none, or one that no sum could take."""
    try:
        usage = decoded(Usage, jsonlines.value(data))
    except CodecError:
        return None
    counts = (
        usage.tokens_in,
        usage.tokens_out,
        usage.tokens_cached,
        usage.estimated_in,
        usage.estimated_out,
    )
    amounts = (usage.cost or 0, usage.estimated_cost or 0, usage.latency)
    if not all(0 <= count <= _MOST_TOKENS for count in counts):
        return None
    if not all(0 <= amount < math.inf for amount in amounts):
        return None
    return usage if _when(usage.time) is not None else None


def _when(time: str) -> datetime | None:
    try:
        when = datetime.fromisoformat(time)
        return when if when.tzinfo else when.astimezone()
    except (ValueError, OverflowError):  # the year 1 has no local time
        return None


def _at_or_after(usage: Usage, since: datetime) -> bool:
    when = _when(usage.time)
    return when is not None and when >= since
