"""A prepared file put in another's place so that what it displaces can still be looked at."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from pipimem.store.disk import presence
from pipimem.store.disk.fencing import check_fence
from pipimem.store.disk.files import free_name
from pipimem.store.disk.syscalls import store_errors

_HERE = -100  # AT_FDCWD
_NOREPLACE = 1
_EXCHANGE = 2
# The kernel, the file system or a sandbox does not know the call, or not this flag.
_UNKNOWN = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})
# Whoever makes and removes the name all the time is no editor.
_TRIES = 20


def displace(prepared: Path, target: Path) -> Path | None:
    """Puts `prepared` in the place of `target`.

    Returns the path where the former file now lies, `None` where there was none.

    Where the system exchanges two names in one step nothing can come between. Elsewhere the former
    file gets a second name first: then only a file renamed into the place within these microseconds
    is lost.
    """
    with store_errors("replace", target):
        check_fence()
        return _displaced(prepared, target)


def _displaced(prepared: Path, target: Path) -> Path | None:
    for _ in range(_TRIES):
        try:
            return _exchanged(prepared, target)
        except FileNotFoundError:
            if not presence.exists(prepared):
                raise
        try:
            put_new(prepared, target)
        except FileExistsError:
            continue
        return None
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


def _exchanged(prepared: Path, target: Path) -> Path:
    if _was_renamed(prepared, target, _EXCHANGE):
        return prepared
    # What has such a name already may hold a person's words.
    copy = free_name(prepared)
    try:
        os.link(target, copy)
    except FileNotFoundError:
        raise
    except OSError:  # no second names here (FAT): a copy, which no longer follows a writer
        shutil.copyfile(target, copy)
    prepared.replace(target)
    return copy


def move(path: Path, target: Path) -> None:
    """Renames a file of ours to a name that nobody has. Raises `FileExistsError`."""
    check_fence()
    put_new(path, target)


def put_new(prepared: Path, target: Path) -> None:
    """Gives a prepared file a name that nobody has; FileExistsError where somebody was faster."""
    if _was_renamed(prepared, target, _NOREPLACE):
        return
    try:
        os.link(prepared, target)
    except FileExistsError:
        raise
    except OSError:
        prepared.replace(target)
    else:
        prepared.unlink()


def _was_renamed(prepared: Path, target: Path, flag: int) -> bool:
    """Renames as the flag says; False where the system knows no such renaming."""
    number = _renamed(prepared, target, flag)
    if number == 0:
        return True
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(target))


def _renamed(old: Path, new: Path, flags: int) -> int:
    """0, or the number of the error."""
    call = _renameat2()
    return errno.ENOSYS if call is None else call(os.fsencode(old), os.fsencode(new), flags)


@cache
def _renameat2() -> Callable[[bytes, bytes, int], int] | None:
    if sys.platform != "linux":
        return None
    import ctypes  # 2 ms, and only a commit needs it

    library = ctypes.CDLL(None, use_errno=True)
    found = getattr(library, "renameat2", None)
    if found is None:  # a C library from before 2018
        return None
    found.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def call(old: bytes, new: bytes, flags: int) -> int:
        return 0 if found(_HERE, old, _HERE, new, flags) == 0 else ctypes.get_errno()

    return call
