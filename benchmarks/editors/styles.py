"""Five ways an editor saves, in steps: between two a bot goes on, and may be killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

Style = Callable[[Path, str], Iterator[None]]
"""Saves a text, or appends a line, in steps that each end with a `yield`."""


def _in_halves(path: Path, text: str) -> Iterator[None]:
    """As nano on a slow disk: cut to nothing, one half, then the other."""
    data = text.encode()
    with path.open("wb", buffering=0) as file:
        file.write(data[: len(data) // 2])
        yield
        file.write(data[len(data) // 2 :])


def _renamed_over(path: Path, text: str) -> Iterator[None]:
    """As `sed -i`, rsync and many editors: a new file, that takes the name."""
    other = path.with_name(".sed0123")
    other.write_bytes(text.encode())
    yield
    other.replace(path)


def _removed_and_made(path: Path, text: str) -> Iterator[None]:
    """As git checks out: the name goes, and comes back with another file."""
    path.unlink(missing_ok=True)
    yield
    path.write_bytes(text.encode())


def _backed_up(path: Path, text: str) -> Iterator[None]:
    """As vim with `backupcopy=no`: the old file gets another name until a new one is there."""
    backup = path.with_name(f"{path.name}~")
    if path.exists():
        path.replace(backup)
    yield
    path.write_bytes(text.encode())
    yield
    backup.unlink(missing_ok=True)


def _appended(path: Path, text: str) -> Iterator[None]:
    """As `echo >>`."""
    with path.open("ab", buffering=0) as file:
        yield
        file.write(text.encode())


APPEND = "append"
STYLES: dict[str, Style] = {
    "two halves": _in_halves,
    "rename over": _renamed_over,
    "delete and create": _removed_and_made,
    "backup and rename": _backed_up,
    APPEND: _appended,
}
