"""What requests under way may cost, one small file each: seen by every process, left behind by one that dies."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipimem.notes.usage import Hold
from pipimem.store.codec import decoded, encoded
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import (
    BINARY,
    CLOSE_ON_EXEC,
    FILE_MODE,
    NO_FOLLOW,
    make_folder,
    read_whole,
    told,
    write_whole,
)

_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Holds:
    """The holds in a workspace's `.pipimem/holds/`; not synced: they matter when a process dies, not a machine."""

    folder: Path

    def place(self, hold: Hold) -> str:
        """Puts a hold on the disk, whole or not at all; gives its name. Raises `StoreError`."""
        make_folder(self.folder)
        # A killed process of the same number may have left its own behind: that one stays. Holds are placed under the
        # lock of the books, so nobody takes a name in between.
        names = (f"{os.getpid()}-{number}" for number in itertools.count())
        name = next(name for name in names if not (self.folder / (name + _SUFFIX)).exists())
        self._create(name, hold)
        return name

    def release(self, name: str) -> bool:
        """Takes a hold away; whether it was still there."""
        path = self.folder / (name + _SUFFIX)
        with told("remove", path):
            try:
                path.unlink()
            except FileNotFoundError:
                return False
        return True

    def held(self) -> dict[str, Hold]:
        """Every hold of every process, by name; one that is no hold is passed over."""
        with told("read", self.folder):
            try:
                names = [entry.name for entry in os.scandir(self.folder)]
            except FileNotFoundError:
                return {}
        return dict(self._read(names))

    def _read(self, names: list[str]) -> Iterator[tuple[str, Hold]]:
        for name in names:
            path = self.folder / name
            if not name.endswith(_SUFFIX):
                continue
            try:
                data = read_whole(path)
            except FileNotFoundError:  # released meanwhile
                continue
            if hold := _hold(data):
                yield name.removesuffix(_SUFFIX), hold

    def _create(self, name: str, hold: Hold) -> None:
        path = self.folder / (name + _SUFFIX)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | CLOSE_ON_EXEC | BINARY
        with told("write", path):
            descriptor = os.open(path, flags, FILE_MODE)
            try:
                write_whole(descriptor, jsonlines.line(encoded(hold)))
            except OSError:
                path.unlink(missing_ok=True)
                raise
            finally:
                os.close(descriptor)


def _hold(data: bytes) -> Hold | None:
    try:
        hold = decoded(Hold, jsonlines.value(data))
        has_offset = datetime.fromisoformat(hold.until).tzinfo is not None
    except ValueError:  # of the codec, or no time
        return None
    return hold if has_offset else None
