"""A folder's files held in memory, laid out again as often as wanted."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Tree:
    """Folders and files by their path below the root: mode, bytes and times (access, modification,
    in ns).
    """

    folders: tuple[tuple[str, int], ...]
    files: tuple[tuple[str, int, bytes, tuple[int, int]], ...]

    @classmethod
    def of(cls, root: Path) -> Tree:
        """What lies in a folder; reading leaves its times as they are."""
        folders, files = [], []
        for path in sorted(root.rglob("*")):
            status, name = path.stat(), os.fspath(path.relative_to(root))
            if path.is_dir():
                folders.append((name, status.st_mode & 0o7777))
            else:
                files.append(
                    (
                        name,
                        status.st_mode & 0o7777,
                        path.read_bytes(),
                        (status.st_atime_ns, status.st_mtime_ns),
                    )
                )
        return cls(tuple(folders), tuple(files))

    def laid(self, root: Path) -> Path:
        """Puts all of it into an empty folder, in the place of whatever lay there."""
        if root.exists():
            shutil.rmtree(root)
        root.mkdir(mode=0o700)
        for name, mode in self.folders:
            (root / name).mkdir(mode=mode)
        for name, mode, data, times in self.files:
            descriptor = os.open(root / name, os.O_WRONLY | os.O_CREAT, mode)
            os.write(descriptor, data)
            os.utime(descriptor, ns=times)
            os.close(descriptor)
        return root
