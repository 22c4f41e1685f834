"""Every file call of a process below one folder, seen before it happens: counted, refused, recorded
or deadly.

The calls of `os`, `fcntl` and the exchange are replaced by ones that ask first. Python's own files
are C, so below the folder they are replaced by those of `_pyio`, which go through `os`. Calls of
other C code are not seen: tests/promises/libc_shim.c sees those. For a process of its own: nothing
is ever put back.
"""

from __future__ import annotations

import _pyio
import builtins
import errno
import fcntl
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pipimem.store.disk import exchange

CHANGES = frozenset({
    "write", "pwrite", "ftruncate", "truncate", "rename", "replace", "exchange", "link", "symlink",
    "unlink", "remove",
    "mkdir", "rmdir", "chmod", "fchmod", "utime", "create", "sendfile", "copy_file_range",
})  # fmt: skip
"""Calls that a disk which only lost its room or its right to write refuses."""
SYNCS = frozenset({"fsync", "fdatasync"})

_PATHS = (
    "open",
    "stat",
    "lstat",
    "listdir",
    "scandir",
    "readlink",
    "mkdir",
    "rmdir",
    "unlink",
    "remove",
    "rename",
    "replace",
    "link",
    "symlink",
    "chmod",
    "utime",
    "access",
    "truncate",
    "statvfs",
)
_DESCRIPTORS = ("read", "pread", "write", "pwrite", "close", "fsync", "fdatasync", "ftruncate",
"fstat", "fchmod",
                "fstatvfs", "lseek", "isatty", "sendfile", "copy_file_range")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """A call about to be made: its name (`create` for an open that makes the file), the file, how
    often that file was opened so far (0 for calls by name), and what it is called with."""

    name: str
    path: str
    instance: int
    arguments: tuple[Any, ...]

    @property
    def changes(self) -> bool:
        """Whether it changes what lies on the disk."""
        return self.name in CHANGES


class Watch(Protocol):
    """What a shim asks and tells."""

    def before(self, call: Call) -> int:
        """0, or the number of the error the call is to end with."""

    def after(self, call: Call, result: Any) -> None:
        """The call was made, and came back with this."""

    def failed(self, call: Call) -> None:
        """The system itself refused the call."""


class _Entry:
    """An entry of a folder; asking for its status is a call like any other."""

    def __init__(self, entry: os.DirEntry[str]) -> None:
        self._entry = entry

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """The status of the file, asked for through `os`."""
        return Path(self._entry.path).stat(follow_symlinks=follow_symlinks)


class _Scanned:
    """The entries of a folder, all read by the one call that asked for them."""

    def __init__(self, scan: Any) -> None:
        with scan:
            self._entries = iter([_Entry(entry) for entry in scan])

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> _Scanned:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is open any more."""


class Shim:
    """The calls of this process below `root`."""

    def __init__(self, root: Path, watch: Watch) -> None:
        self.root = os.fspath(root)
        self.watch = watch
        self.peek: Callable[[str], list[str]] = os.listdir
        self._open: dict[int, tuple[str, int]] = {}
        self._opened = 0
        self._real: dict[str, Callable[..., Any]] = {}

    def install(self) -> None:
        """Stands between this process and the system from now on."""
        for name in (*_PATHS, *_DESCRIPTORS):
            self._real[name] = getattr(os, name)
        scan = os.scandir
        self._real["scandir"] = lambda path: _Scanned(scan(path))
        for name in _PATHS:
            setattr(os, name, self._by_path(name))
        for name in _DESCRIPTORS:
            setattr(os, name, self._by_descriptor(name, self._real[name]))
        # `os` asks whether a function takes descriptors or follows links by looking it up in these
        # sets.
        for known in (os.supports_fd, os.supports_follow_symlinks, os.supports_dir_fd):
            known |= {getattr(os, name) for name in self._real if self._real[name] in known}
        fcntl.flock = self._by_descriptor("flock", fcntl.flock)
        fcntl.fcntl = self._by_descriptor("fcntl", fcntl.fcntl)
        exchange._renamed = self._exchange(exchange._renamed)  # noqa: SLF001 - not of `os`
        io.open = builtins.open = self._python_file(io.open)  # type: ignore[assignment]

    def _is_ours(self, path: object) -> bool:
        if isinstance(path, int):
            return path in self._open
        text = os.fsdecode(path)  # type: ignore[arg-type]
        return text == self.root or text.startswith(self.root + "/")

    def _by_path(self, name: str) -> Callable[..., Any]:
        real = self._real[name]

        def call(path: Any = ".", *rest: Any, **options: Any) -> Any:
            if isinstance(path, int):
                return self._by_descriptor(name, real)(path, *rest, **options)
            if not self._is_ours(path):
                return real(path, *rest, **options)
            text, kind = os.fsdecode(path), name
            if name == "open" and rest[0] & os.O_CREAT and not self._is_there(text):
                kind = "create"
            made = Call(kind, text, 0, rest)
            result = self._made(made, real, path, *rest, **options)
            if name == "open":
                self._opened += 1
                self._open[result] = (text, self._opened)
                made = Call(kind, text, self._opened, rest)
            self.watch.after(made, result)
            return result

        return call

    def _is_there(self, path: str) -> bool:
        # By the names of the folder above: its own call is not one of the journey's.
        return Path(path).name in self.peek(str(Path(path).parent))

    def _by_descriptor(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(descriptor: Any, *rest: Any, **options: Any) -> Any:
            if descriptor not in self._open:
                return real(descriptor, *rest, **options)
            path, instance = self._open[descriptor]
            made = Call(name, path, instance, (descriptor, *rest))
            if name == "close":  # a close that fails has closed
                number = self.watch.before(made)
                del self._open[descriptor]
                real(descriptor)
                self.watch.after(made, None)
                if number:
                    raise OSError(number, os.strerror(number), path)
                return None
            result = self._made(made, real, descriptor, *rest, **options)
            self.watch.after(made, result)
            return result

        return call

    def _exchange(self, real: Callable[[Path, Path, int], int]) -> Callable[[Path, Path, int], int]:
        def call(old: Path, new: Path, flags: int) -> int:
            if not self._is_ours(old):
                return real(old, new, flags)
            made = Call("exchange", os.fspath(old), 0, (os.fspath(new), flags))
            number = self.watch.before(made) or real(old, new, flags)
            if number == 0:
                self.watch.after(made, 0)
            else:
                self.watch.failed(made)
            return number

        return call

    def _python_file(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def opened(file: Any, *rest: Any, **options: Any) -> Any:
            return (_pyio.open if self._is_ours(file) else real)(file, *rest, **options)

        return opened

    def _made(self, call: Call, real: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        number = self.watch.before(call)
        if number:
            raise OSError(number, os.strerror(number), call.path)
        try:
            return real(*arguments, **options)
        except OSError:
            self.watch.failed(call)
            raise


ERRNOS = {number: errno.errorcode[number] for number in (
    errno.EIO, errno.ENOSPC, errno.EACCES, errno.EINTR, errno.EMFILE, errno.EROFS, errno.EDQUOT,
)}  # fmt: skip
"""What every call may end with.

A broken disk, a full one, no permission, a signal, no descriptors, read-only, quota.
"""
