"""inotify: which names changed in the folders it was asked to watch, as the Linux kernel tells it."""

from __future__ import annotations

import errno
import os
import select
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pipimem.store.disk.calls import CLOSE_ON_EXEC

if TYPE_CHECKING:
    from ctypes import CDLL

# <sys/inotify.h>
CLOSED = 0x8
MOVED_FROM = 0x40
MOVED_TO = 0x80
CREATED = 0x100
DELETED = 0x200
SELF_DELETED = 0x400
SELF_MOVED = 0x800
OVERFLOWED = 0x4000
ENDED = 0x8000
_ONLY_FOLDERS = 0x01000000

_HEAD = struct.Struct("iIII")
# Some 2,000 events at a time.
_BUFFER = 64 * 1024


class Event(NamedTuple):
    """What happened (a sum of the constants above) to a name in a watched folder; `watch` is -1 for the queue itself."""

    watch: int
    what: int
    name: str


@dataclass(slots=True)
class Inotify:
    """One queue of events; `events` is called from one thread, `stop` from any."""

    _queue: int = -1
    _poll: select.poll = field(init=False)
    _waker: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        """Raises `OSError`: no more queues for this user (EMFILE), or a system without any (ENOSYS)."""
        library = _library()
        if library is None:
            raise OSError(errno.ENOSYS, "this system has no inotify")
        self._queue = _checked(library.inotify_init1(CLOSE_ON_EXEC | os.O_NONBLOCK))
        self._waker = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._queue, select.POLLIN)
        self._poll.register(self._waker[0], select.POLLIN)

    def watch(self, folder: str, what: int) -> int:
        """Hears of a folder from now on; the number of the watch, the one it has where it is watched already.

        Raises `OSError`: gone, not a folder, no permission, or no watch left (ENOSPC).
        """
        library = _library()
        assert library is not None
        return _checked(library.inotify_add_watch(self._queue, os.fsencode(folder), what | _ONLY_FOLDERS), folder)

    def leave(self, watch: int) -> None:
        """Hears no more of a folder; one that is gone is left already."""
        library = _library()
        assert library is not None
        library.inotify_rm_watch(self._queue, watch)

    def events(self) -> Iterator[list[Event]]:
        """What happened, as it comes, until `stop`; then everything is given back."""
        try:
            while True:
                ready = {descriptor for descriptor, _ in self._poll.poll()}
                if self._waker[0] in ready:
                    return
                with suppress(BlockingIOError):
                    yield list(_parsed(os.read(self._queue, _BUFFER)))
        finally:
            self.close()

    def stop(self) -> None:
        """Ends `events`."""
        with suppress(OSError):  # it has ended by itself
            os.write(self._waker[1], b".")

    def close(self) -> None:
        """Gives all watches back, where `events` was never asked for."""
        for descriptor in (self._queue, *self._waker):
            with suppress(OSError):  # closed already
                os.close(descriptor)
        self._queue, self._waker = -1, (-1, -1)


def _parsed(data: bytes) -> Iterator[Event]:
    at = 0
    while at < len(data):
        watch, what, _, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield Event(watch, what, os.fsdecode(data[at : at + length].rstrip(b"\0")))
        at += length


def _checked(answer: int, path: str | None = None) -> int:
    if answer < 0:
        import ctypes

        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return answer


@cache
def _library() -> CDLL | None:
    import ctypes  # some ms, and only a watch needs it

    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "inotify_init1"):
        return None
    library.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
    return library
