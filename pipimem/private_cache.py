"""Texts that are made once and kept in the user's cache folder, where nobody else can write."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

# Checkouts of several versions beside each other; what more of one kind there is, nobody has asked for lately.
_MOST_OF_A_KIND = 8


def cached(kind: str, stamp: str, make: Callable[[], str]) -> str:
    """The text that `make` returned under this stamp before; else what it returns now, kept for the next process.

    A kept text is believed only if file and folder are the user's own, closed to others, and the text is whole. Where
    it cannot be kept, each process makes it anew.
    """
    from platformdirs import user_cache_path  # 5 ms, and an installed pipimem keeps nothing

    folder = user_cache_path("pipimem", appauthor=False)
    name = f"{kind}-{stamp}"
    try:
        return _read(folder, name)
    except (OSError, ValueError):  # absent, out of reach, not to be believed, or damaged
        text = make()
    try:
        _write(folder, name, text)
        _remove_old(folder, kind)
    except (OSError, ValueError):  # read-only, full, or open to others
        pass
    return text


def _read(folder: Path, name: str) -> str:
    """The text of a file; OSError or ValueError where there is none to be believed."""
    _check(folder.lstat(), stat.S_IFDIR)
    descriptor = os.open(
        folder / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, opened without following links
        _check(os.fstat(descriptor), stat.S_IFREG)
        digest, _, body = file.read().partition(b"\n")
    if digest != _digest(body):
        raise ValueError("a damaged cache file")
    return body.decode("utf-8")


def _check(found: os.stat_result, file_type: int) -> None:
    is_ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if stat.S_IFMT(found.st_mode) != file_type or not is_ours or found.st_mode & 0o022:
        raise ValueError("a cache that others may have written")


def _write(folder: Path, name: str, text: str) -> None:
    """Put the file in place at once and whole, whoever else is doing the same."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check(folder.lstat(), stat.S_IFDIR)
    body = text.encode("utf-8")
    draft = folder / f"{name}.{os.getpid()}.tmp"
    descriptor = os.open(
        draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600
    )
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, opened without following links
            file.write(_digest(body) + b"\n" + body)
        draft.replace(folder / name)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _remove_old(folder: Path, kind: str) -> None:
    newest_first = sorted(
        folder.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime, reverse=True
    )
    for path in newest_first[_MOST_OF_A_KIND:]:
        path.unlink(missing_ok=True)


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).hexdigest().encode()
