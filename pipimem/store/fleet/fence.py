"""The fence in a folder: the number of the newest holder, planted before anything is read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pipimem.errors import LockLost
from pipimem.store.disk import presence
from pipimem.store.disk.fencing import put_back, take_staging
from pipimem.store.disk.json_lines import checked_line, checked_value
from pipimem.store.disk.syscalls import (
    FILE_MODE,
    FOLDER_MODE,
    read_if_there,
    store_errors,
    sync_folder,
    write_whole,
)
from pipimem.store.fleet.lease import WriteLease


@dataclass(frozen=True, slots=True)
class PlantedFence:
    """One holder's fence in the folder `own`: the file `name`, and its staging directory."""

    own: Path
    name: str
    lease: WriteLease

    @property
    def number(self) -> int:
        """Greater than that of every holder before."""
        return self.lease.fence

    @property
    def folder(self) -> Path:
        """The folder above, which holds all that is written under this fence."""
        return self.own.parent

    @property
    def staging(self) -> Path:
        """The folder through which all that this holder names or removes passes."""
        return self.own / f"{self.name}-{self.number}"

    @property
    def is_passed(self) -> bool:
        """Whether the fence that stands in the folder is another one."""
        return standing_number(self.own, self.name) != self.number

    def check(self) -> None:
        """Raises `LockLost` where the lease is over, or another holder has planted its fence."""
        if self.lease.is_over or self.is_passed:
            raise LockLost(
                f"{self.folder.name}: this process was suspended, or cut off from the database, "
                "for longer than its lease, so another one may write. Nothing was written; try "
                "again."
            )

    def wrote(self, record: int) -> None:
        """Notes a writing: others get notice of it when the lease is given back."""
        self.lease.written = max(record, self.lease.written or 0)

    def plant(self) -> None:
        """Plants the fence, durably, and takes away what holders before it had under way.

        Raises `LockLost` where a greater one stands there already.
        """
        with store_errors("write", self.own / self.name):
            if self._is_planted():
                put_back(self.staging, self.folder)
                return
            self.staging.mkdir(mode=FOLDER_MODE, exist_ok=True)
            while True:
                self._put()
                for staging in self._lower_stagings():
                    take_staging(staging, self.staging, self.folder)
                # One that was suspended in its own planting may have come in between, the last
                # time: its draft lay in its staging directory.
                if not self.is_passed:
                    break
            put_back(self.staging, self.folder)
        sync_folder(self.own)

    def _is_planted(self) -> bool:
        if self.lease.taken_over or not presence.is_folder(self.staging):
            return False
        return not self.is_passed

    def _put(self) -> None:
        draft = self.staging / "half-fence"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
        try:
            write_whole(descriptor, checked_line({"fence": self.number}))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        # Behind the draft: the staging directory of who is suspended from here on is taken away.
        if standing_number(self.own, self.name) > self.number:
            raise LockLost(f"{self.folder.name}: another process took the lock over. Try again.")
        draft.replace(self.own / self.name)

    def _lower_stagings(self) -> list[Path]:
        found = []
        for path in self.own.glob(f"{self.name}-*"):
            number = path.name.removeprefix(f"{self.name}-")
            if number.isdecimal() and int(number) < self.number:
                found.append(path)
        return found


def standing_number(own: Path, name: str) -> int:
    """The number that is planted in a folder; 0 where none is, or it cannot be understood."""
    value = checked_value(read_if_there(own / name) or b"") or {}
    number = value.get("fence")
    return number if isinstance(number, int) else 0
