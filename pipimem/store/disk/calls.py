"""The few system calls that change the disk, and the sentence for each way they fail."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import BinaryIO, Concatenate, ParamSpec, Protocol, TypeVar

from pipimem.errors import StoreError

# Windows lacks these; there they ask for nothing.
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0)
BINARY = getattr(os, "O_BINARY", 0)

FILE_MODE = 0o600
FOLDER_MODE = 0o700


class _Placed(Protocol):
    @property
    def folder(self) -> Path: ...


_S = TypeVar("_S", bound=_Placed)
_P = ParamSpec("_P")
_T = TypeVar("_T")

# Opening what is no file says so in one of these ways.
_NO_FILE = frozenset({errno.ENXIO, errno.EISDIR, errno.ELOOP})
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)
# Most readings want the end of a file; larger blocks gain nothing on whole ones.
_BLOCK = 64 * 1024


@contextmanager
def told(action: str, path: Path) -> Iterator[None]:
    """Turns an `OSError` into a `StoreError` that says what could not be done and what helps."""
    try:
        yield
    except OSError as error:
        raise StoreError(_sentence(action, path, error)) from error


def told_at_the_door(
    method: Callable[Concatenate[_S, _P], _T],
) -> Callable[Concatenate[_S, _P], _T]:
    """A method of something with a `folder`: what the system refuses anywhere in it is a `StoreError`, too."""

    @wraps(method)
    def call(self: _S, /, *args: _P.args, **options: _P.kwargs) -> _T:
        try:
            return method(self, *args, **options)
        except OSError as error:
            path = (
                Path(os.fsdecode(error.filename))
                if isinstance(error.filename, str | bytes)
                else self.folder
            )
            raise StoreError(_sentence("use", path, error)) from error

    return call


def _sentence(action: str, path: Path, error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return f"The disk is full: cannot {action} {path}. Free some space; what was there is whole."
        case errno.EROFS:
            return f"The disk is read-only: cannot {action} {path}. Mount it writable, or use another workspace."
        case errno.EACCES | errno.EPERM:
            return f"No permission: cannot {action} {path}. Check the owner and mode of the file and its folder."
        case errno.EMFILE | errno.ENFILE:
            return f"Too many open files: cannot {action} {path}. Raise the limit (ulimit -n) and try again."
        case errno.ENOLCK | errno.EOPNOTSUPP if action == "lock":
            return f"This file system cannot lock files: cannot lock {path}. Put the workspace on a local disk."
        case errno.ENOTDIR | errno.EEXIST | errno.EISDIR | errno.ENXIO | errno.ELOOP:
            return f"Cannot {action} {path}: something else stands in its place. Move it away and try again."
        case _:
            return (
                f"Cannot {action} {path}: {error.strerror or error}. Check the disk and try again."
            )


def opened(path: Path, flags: int = os.O_RDONLY) -> int:
    """The descriptor of a file of ours; made, where the flags say so, for the owner alone.

    Raises `StoreError` at once for what only has the name of a file: a pipe would wait for its other end for ever, a link
    may lead anywhere. Otherwise `OSError`.
    """
    flags |= NO_FOLLOW | NO_WAIT | CLOSE_ON_EXEC | BINARY
    try:
        descriptor = os.open(path, flags, FILE_MODE)
    except OSError as error:
        if error.errno in _NO_FILE and (kind := _kind(path.lstat().st_mode)):
            raise StoreError(_in_the_way(path, kind)) from error
        raise
    if kind := _kind(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StoreError(_in_the_way(path, kind))
    return descriptor


def reading(path: Path) -> BinaryIO:
    """A file of ours, opened for reading; raises as `opened` does."""
    return os.fdopen(opened(path), "rb", buffering=_BLOCK)


def read_whole(path: Path) -> bytes:
    """All bytes of a file of ours; raises as `opened` does."""
    with reading(path) as file:
        return file.read()


def _kind(mode: int) -> str:
    """What it is that is no regular file, empty for one."""
    return (
        ""
        if stat.S_ISREG(mode)
        else next((name for test, name in _KINDS if test(mode)), "a device")
    )


def _in_the_way(path: Path, kind: str) -> str:
    return f"{path} is {kind}, where a file of ours belongs. Move it away and try again; a new file is made where needed."


def write_whole(descriptor: int, data: bytes) -> None:
    """Writes all of `data`: one call, more only where the system takes less at once."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_data(descriptor: int) -> None:
    """Waits until the content of a file is on the disk."""
    # macOS has no fdatasync.
    getattr(os, "fdatasync", os.fsync)(descriptor)


def sync_folder(folder: Path) -> None:
    """Waits until the names in a folder are on the disk."""
    if os.name == "nt":  # Windows cannot open a folder for this
        return
    with told("sync", folder):
        descriptor = os.open(folder, os.O_RDONLY | CLOSE_ON_EXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Creates a folder, and those above it, for the owner alone; one that is there stays as it is."""
    with told("create", folder):
        if not folder.is_dir():
            make_folder(folder.parent)
            folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
            # Else a power cut takes the folder with all that was synced in it.
            sync_folder(folder.parent)


def append(path: Path, data: bytes) -> None:
    """Puts `data` at the end of a file in one write, whole also beside other processes'; not synced."""
    with told("write", path):
        descriptor = opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            write_whole(descriptor, data)
        finally:
            os.close(descriptor)


def append_synced(path: Path, data: bytes, *, at: int | None = None) -> int:
    """Puts `data` at the end of a file in one write and waits for the disk; the answer is the new size.

    `at` is the size to cut the file back to before. A failure leaves the file as it was before the call, or
    as it was cut.
    """
    with told("write", path):
        descriptor = opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            size = os.fstat(descriptor).st_size
            if at is not None and at < size:
                os.ftruncate(descriptor, at)
                size = at
            try:
                write_whole(descriptor, data)
                sync_data(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
            return size + len(data)
        finally:
            os.close(descriptor)
