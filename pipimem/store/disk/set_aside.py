"""Files that are set aside when they are full: `log-0001.jsonl` beside `log.jsonl`."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from pipimem.store.disk.syscalls import store_errors


def older_parts(path: Path) -> list[Path]:
    """The files that were set aside, oldest first."""
    with store_errors("read", path.parent):
        try:
            paths = list(path.parent.iterdir())
        except FileNotFoundError:
            return []
    number = partial(_number, path)
    return sorted(filter(number, paths), key=number)


def parts(path: Path) -> list[Path]:
    """The files that were set aside, oldest first, then the one at `path` if it is there."""
    with store_errors("read", path):
        current = [path] if path.exists() else []
    return older_parts(path) + current


def set_aside(path: Path) -> None:
    """Renames a file to the next number."""
    number = max((_number(path, part) for part in older_parts(path)), default=0) + 1
    with store_errors("rotate", path):
        path.rename(path.with_name(f"{path.stem}-{number:04d}{path.suffix}"))


def _number(path: Path, part: Path) -> int:
    """The number in the name of a file that was set aside, 0 for any other file."""
    found = re.fullmatch(rf"{path.stem}-(\d{{4,}}){re.escape(path.suffix)}", part.name)
    return int(found[1]) if found else 0
