"""The few system calls that change the disk, and the sentence for each way they fail."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import BinaryIO, Concatenate, ParamSpec, Protocol, TypeVar

from pipimem.errors import StoreError
from pipimem.store.disk import presence

_NETWORK = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre",
    "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.davfs",
})  # fmt: skip
MOUNTS = Path("/proc/self/mountinfo")
# The fifth field is the mount point, blanks in it written in octal; the type follows the hyphen.
_MOUNT = re.compile(r"(?:\S+ ){4}(\S+) .*? - (\S+) ")
_ESCAPED = re.compile(r"\\([0-7]{3})")


def network_type(folder: Path, mounts: Path = MOUNTS) -> str:
    """Returns the type of the network file system a folder lies on.

    Returns "" for a local one, and where the system does not tell.
    """
    kind = file_system(folder, mounts)
    return kind if kind in _NETWORK else ""


def file_system(folder: Path, mounts: Path = MOUNTS) -> str:
    """Returns the type of the file system a folder lies on: that of the innermost mount above it.

    Returns "" where the system has no list of mounts at `mounts`.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:  # not Linux
        return ""
    place, depth, kind = folder.resolve(), -1, ""
    for found in filter(None, map(_MOUNT.match, lines)):
        point = Path(_ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), found[1]))
        if place.is_relative_to(point) and len(point.parts) >= depth:
            depth, kind = len(point.parts), found[2]
    return kind


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
_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP})
_IN_THE_WAY = frozenset({errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENXIO, errno.ELOOP})
_FULL = ("The disk is full", "Free some space; what was there is whole.")
_REFUSED = ("No permission", "Check the owner and mode of the file and its folder.")
_TOO_MANY = ("Too many open files", "Raise the limit (ulimit -n) and try again.")
_REASONS = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: ("The disk is read-only", "Mount it writable, or use another workspace."),
    errno.EACCES: _REFUSED,
    errno.EPERM: _REFUSED,
    errno.EMFILE: _TOO_MANY,
    errno.ENFILE: _TOO_MANY,
}
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)
# Most readings want the end of a file; larger blocks gain nothing on whole ones.
_BLOCK = 64 * 1024


@contextmanager
def store_errors(action: str, path: Path) -> Iterator[None]:
    """Turns an `OSError` into a `StoreError` that says what could not be done and what helps."""
    try:
        yield
    except OSError as error:
        raise StoreError(_sentence(action, path, error)) from error


def raises_store_error(
    method: Callable[Concatenate[_S, _P], _T],
) -> Callable[Concatenate[_S, _P], _T]:
    """Makes a method of something with a `folder` raise `StoreError` for every `OSError` in it."""

    @wraps(method)
    def call(self: _S, /, *args: _P.args, **options: _P.kwargs) -> _T:
        try:
            return method(self, *args, **options)
        except OSError as error:
            path = self.folder
            if isinstance(error.filename, str | bytes):
                path = Path(os.fsdecode(error.filename))
            raise StoreError(_sentence("use", path, error)) from error

    return call


def _sentence(action: str, path: Path, error: OSError) -> str:
    cannot = f"cannot {action} {path}"
    if action == "lock" and error.errno in _NO_LOCKS:
        return f"This file system cannot lock files: {cannot}. Put the workspace on a local disk."
    if error.errno in _IN_THE_WAY:
        place = _taken_place(path) if error.errno == errno.ENOTDIR else "its place"
        return f"C{cannot[1:]}: something else stands in {place}. Move it away and try again."
    if error.errno in _REASONS:
        problem, advice = _REASONS[error.errno]
        return f"{problem}: {cannot}. {advice}"
    return f"C{cannot[1:]}: {error.strerror or error}. Check the disk and try again."


def _taken_place(path: Path) -> str:
    """The place of the folder that is none on the way to a path."""
    with suppress(OSError):
        for folder in path.parents:
            if presence.exists(folder) and not presence.is_folder(folder):
                return f"the place of {folder}"
    return "its place"


def opened(path: Path, flags: int = os.O_RDONLY) -> int:
    """The descriptor of a file of ours; made, where the flags say so, for the owner alone.

    Raises `StoreError` at once for what is no regular file: a pipe would wait for its other end
    without an end, a link may lead anywhere. Otherwise raises `OSError`.
    """
    flags |= NO_FOLLOW | NO_WAIT | CLOSE_ON_EXEC | BINARY
    try:
        descriptor = os.open(path, flags, FILE_MODE)
    except OSError as error:
        if error.errno in _NO_FILE:
            _refuse_unless_regular(path, path.lstat().st_mode)
        raise
    try:
        _refuse_unless_regular(path, os.fstat(descriptor).st_mode)
    except StoreError:
        os.close(descriptor)
        raise
    return descriptor


def reading(path: Path) -> BinaryIO:
    """A file of ours, opened for reading. Raises `StoreError` for no regular file, `OSError`."""
    return os.fdopen(opened(path), "rb", buffering=_BLOCK)


def read_whole(path: Path) -> bytes:
    """All bytes of a file of ours. Raises `StoreError` for no regular file, `OSError`."""
    with reading(path) as file:
        return file.read()


def read_if_there(path: Path) -> bytes | None:
    """All bytes of a file of ours, `None` where there is none. Raises `StoreError`."""
    with store_errors("read", path):
        try:
            return read_whole(path)
        except FileNotFoundError:
            return None


def _refuse_unless_regular(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((name for test, name in _KINDS if test(mode)), "a device")
    raise StoreError(
        f"{path} is {kind}, where a file of ours belongs. Move it away and try again; "
        "a new file is made where needed."
    )


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
    with store_errors("sync", folder):
        descriptor = os.open(folder, os.O_RDONLY | CLOSE_ON_EXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Creates a folder, and those above it, for the owner alone, unless it is there."""
    with store_errors("create", folder):
        if not presence.is_folder(folder):
            make_folder(folder.parent)
            folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
            # Else a power cut takes the folder with all that was synced in it.
            sync_folder(folder.parent)
