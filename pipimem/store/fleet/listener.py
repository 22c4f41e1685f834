"""A thread that waits for notices of other hosts' writing, and has what they name read again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from weakref import ref

from msgspec import Struct

from pipimem.errors import PipimemError
from pipimem.store.disk.shared_folders import shared_folder, shared_folders_in
from pipimem.store.fleet.database import notifications

# An older name for a job, kept: the lock and its fence lie in folders that hosts share and in the
# database, and a host that called them otherwise would not exclude one that did not.
JOB_LOCK = "thought.lock"
"""The lock under which one host at a time does the jobs of a channel, a model's among them."""


class Notice(Struct, frozen=True):
    """`owner` wrote under the lock named `lock`; its newest record is `record`, 0 for unknown.

    Where `lock` is a `JOB_LOCK`, `owner` waits for it.
    """

    owner: str
    lock: str
    record: int

    @classmethod
    def read(cls, payload: str) -> Notice | None:
        """The notice that a payload says; `None` for one of another version."""
        record, _, rest = payload.partition(" ")
        owner, _, lock = rest.partition(" ")
        return cls(owner, lock, int(record)) if record.isdecimal() and lock else None

    @property
    def written(self) -> str:
        """The name of the channel's folder in which there is news; empty for another notice."""
        return self._folder("lock")

    @property
    def wanted(self) -> str:
        """The name of the channel's folder whose job lock `owner` waits for; or empty."""
        return self._folder(JOB_LOCK)

    def _folder(self, lock: str) -> str:
        _, _, path = self.lock.partition("/")
        folder, _, name = path.rpartition("/")
        return folder if name == lock else ""

    @property
    def payload(self) -> str:
        """The notice as it is sent."""
        return f"{self.record} {self.owner} {self.lock}"


def listeners_of(lock: str) -> str:
    """The name under which the hosts listen in whose workspace a lock is."""
    return f"pipimem_{lock.partition('/')[0]}"


# After a lost connection, before the next attempt; seconds.
_PAUSE = 2.0


@dataclass(slots=True, weakref_slot=True, eq=False)
class Listener:
    """Follows the writing in the channels of a workspace, `name` in the database.

    `owner` is what this process is called: its own notices are no news.
    """

    address: str
    name: str
    owner: str
    channels: Path
    is_listening: bool = False
    # What stops the job that runs here, by the folder of its channel; called in the thread.
    _stops: dict[str, Callable[[], object]] = field(default_factory=dict)

    def start(self) -> None:
        """Begins to listen, until nobody has this object any more."""
        threading.Thread(
            target=_listen, args=(ref(self),), name="pipimem notices", daemon=True
        ).start()

    def receive(self, payloads: list[str]) -> None:
        """Follows notices; the first call of a connection says that it listens from now on."""
        if not self.is_listening:
            for each in shared_folders_in(self.channels):
                each.distrust()  # earlier notices did not reach it
            self.is_listening = True
        for notice in filter(None, map(Notice.read, payloads)):
            if notice.owner != self.owner:
                self._follow(notice)

    def _follow(self, notice: Notice) -> None:
        folder = shared_folder(self.channels / notice.written)
        if folder is not None:
            folder.distrust(notice.record)
        stop = self._stops.get(notice.wanted)
        if stop is not None:
            with suppress(RuntimeError):  # its event loop may be closed by now
                stop()

    @contextmanager
    def stopping(self, folder: str, stop: Callable[[], object]) -> Iterator[None]:
        """While this lasts, `stop` is called where another host waits for a channel's job lock."""
        self._stops[folder] = stop
        try:
            yield
        finally:
            del self._stops[folder]


def _listen(listening: ref[Listener]) -> None:
    """Runs as long as somebody has the listener."""
    goes_on = True
    while goes_on:
        try:
            goes_on = _receive_all(listening)
        finally:
            listener = listening()
            if listener is not None:
                listener.is_listening = False  # each look opens the files until it does again
            del listener
        time.sleep(_PAUSE if goes_on else 0)


def _receive_all(listening: ref[Listener]) -> bool:
    """Receives until the connection is lost; `False` where nobody has the listener any more."""
    listener = listening()
    if listener is None:
        return False
    received = notifications(listener.address, listeners_of(listener.name))
    del listener
    with suppress(PipimemError), closing(received):
        for payloads in received:
            listener = listening()
            if listener is None:
                return False
            listener.receive(payloads)
            del listener
    return True
