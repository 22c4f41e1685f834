"""The workspace's `.pipimem/state.db`: usage, reservations, the schedule, failures of jobs."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import DamagedState, StoreError
from pipimem.notes.usage import Reservation, Usage
from pipimem.state import schedule, usage
from pipimem.state.rows import Database, Rows, Schema
from pipimem.state.sqlite import SqliteDatabase, set_aside
from pipimem.state.usage import OpenLedger
from pipimem.store.disk import presence
from pipimem.store.disk.files import put_whole
from pipimem.store.disk.folder_lock import FolderLock
from pipimem.store.disk.syscalls import make_folder, read_whole, store_errors
from pipimem.text import json_lines
from pipimem.text.dates.bounds import aware
from pipimem.text.json_codec import CodecError, decoded

WORKSPACE = Schema(
    application=0x70696D57,  # "pimW"
    version=1,
    tables=(
        "create table owner (id blob not null)",
        # Files of older versions that were taken over, by a digest of their content.
        "create table imported (digest text primary key)",
        *usage.TABLES,
        *schedule.TABLES,
    ),
)


class WorkspaceState(Struct, frozen=True):
    """The database in a workspace's `.pipimem/`. Raises `StoreError` where the disk refuses.

    In a fleet it is `shared` by all hosts, and `host` named the files of older versions.
    """

    folder: Path
    host: str = ""
    shared: Database | None = None

    @property
    def path(self) -> Path:
        """Where the database of one host lies."""
        return self.folder / "state.db"

    @property
    def database(self) -> Database:
        """The database, whatever older files lie beside it."""
        return self.shared or SqliteDatabase(self.path, WORKSPACE)

    @contextmanager
    def reading(self) -> Iterator[Rows | None]:
        """Open it for reading; yield `None` where there is none yet."""
        if any(older_files(self.folder, self.host)):
            with suppress(StoreError):  # a place that may only be read
                self.take_over()
        with self.database.reading() as rows:
            yield rows

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """Open it for one transaction, which is durable when this ends without an error.

        Damage that is found on the way is raised as `DamagedState`, and the next writer begins a
        new database.
        """
        with self._locked():
            older = older_files(self.folder, self.host)
            try:
                with self.database.writing() as rows:
                    for path in older:
                        _import(rows, path)
                    yield rows
            except DamagedState:
                self.database.set_aside()
                raise
            _remove(older)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        make_folder(self.folder)
        with nullcontext() if self.shared else FolderLock(self.folder / "lock").held():
            yield

    def set_damaged_aside(self) -> Path | None:
        """Rename a damaged database; return its new path, `None` where it is whole."""
        with self._locked():
            return set_aside(self.path) if self.database.damage() else None

    def take_over(self) -> None:
        """Import what versions before 0.3 left beside the database, and remove it."""
        if any(older_files(self.folder, self.host)):
            with self.writing():
                pass


# ── what versions before 0.3 kept in files ────────────────────────────────────────────────────────

DAMAGED = ".damaged"
"""The suffix of a file with those lines of a usage file that could not be read."""
# More tokens than any bill has: a line that says more is damaged, and sums stay exact.
_MOST_TOKENS = 10**12
_DIGEST_BYTES = 16
# Caches and locks, of which nothing is taken over, and the folder of reservations, whose files are.
_REMOVED = frozenset(("idle.jsonl", "problems", "usage.lock", "usage.lock.turnstile", "holds"))


def older_files(folder: Path, host: str = "") -> list[Path]:
    """Return the files of an older version, in the order in which they are taken over."""
    with store_errors("read", folder):
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208 - at each transaction
        except (FileNotFoundError, NotADirectoryError):
            return []
        found = [folder / name for name in names if _is_older(name, host)]
        holds = folder / "holds"
        return [
            *found,
            *(sorted(holds.iterdir()) if holds in found and presence.is_folder(holds) else ()),
        ]


def _is_older(name: str, host: str) -> bool:
    if not host and name in _REMOVED:
        return True
    stem, suffix = name.rsplit(".", 1) if "." in name else (name, "")
    return suffix == "jsonl" and stem.startswith("usage-") and stem.partition("~")[2] == host


def _import(rows: Rows, path: Path) -> None:
    """Take a file over, unless its content was taken over already."""
    is_usage = path.name.startswith("usage-") and presence.is_file(path)
    if not is_usage and path.parent.name != "holds":
        return
    with store_errors("read", path):
        data = read_whole(path)
    # Of two reservations that are alike each counts.
    digest = blake2b(data + (b"" if is_usage else path.name.encode()), digest_size=_DIGEST_BYTES)
    known = rows.all("select 1 from imported where digest = ?", digest.hexdigest())
    if known:
        return
    rows.run("insert into imported (digest) values (?)", digest.hexdigest())
    if not is_usage:
        # Its process may be at work still: it counts until its time is over, and as spent then.
        hold = _reservation(data)
        if hold is not None:
            OpenLedger(rows).place(hold, path.stem)
        return
    usages, damaged = _split(data)
    OpenLedger(rows).append(*usages)
    if damaged:
        put_whole(path.with_name(f"{path.stem}.{digest.hexdigest()[:8]}{DAMAGED}"), damaged)


def _split(data: bytes) -> tuple[list[Usage], bytes]:
    """Return the calls of a file, and its lines that are damaged, both without their reasons.

    A reason could quote what was asked or answered.
    """
    usages, damaged = [], []
    for line in data.splitlines(keepends=True):
        found = _usage(line)
        if found is not None:
            usages.append(replace(found, reason=""))
        elif line.strip():
            damaged.append(_without_reason(line))
    return usages, b"".join(damaged)


def _without_reason(line: bytes) -> bytes:
    value = json_lines.value(line)
    if value is None or "reason" not in value:
        return line
    del value["reason"]
    return json_lines.line(value)


def _usage(line: bytes) -> Usage | None:
    """Return the call on a line; `None` where it is damaged, or has numbers that no bill has."""
    try:
        found = decoded(Usage, json_lines.value(line))
    except CodecError:
        return None
    counts = (found.tokens_in, found.tokens_out, found.tokens_cached)
    estimates = (found.estimated_in, found.estimated_out)
    amounts = (found.cost or 0, found.estimated_cost or 0, found.latency)
    if not all(0 <= count <= _MOST_TOKENS for count in (*counts, *estimates)):
        return None
    if not all(0 <= amount < math.inf for amount in amounts):
        return None
    return found if _has_time(found.time) else None


def _reservation(data: bytes) -> Reservation | None:
    try:
        found = decoded(Reservation, json_lines.value(data))
    except CodecError:
        return None
    return found if _has_time(found.until) else None


def _has_time(text: str) -> bool:
    try:
        aware(datetime.fromisoformat(text)).timestamp()
    except (ValueError, OverflowError):
        return False
    return True


def _remove(older: list[Path]) -> None:
    """Remove what was taken over. What the disk keeps is passed over by the next writer."""
    for path in older:
        with suppress(OSError):
            if presence.is_folder(path):
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
