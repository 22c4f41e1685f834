"""The arrival journal: messages that a bot acknowledged, until the transcript has them.

One checked line for each, in `.pipimem/`; a torn one counts for nothing. What was stored is cut off
again as soon as nothing else waits.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import structs

from pipimem.errors import WorkspaceError
from pipimem.notes.message import Message
from pipimem.runtime.intake import Intake
from pipimem.store.arrivals import (
    Arrival,
    ArrivalKey,
    arrival_line,
    arrival_of,
    arrivals_path,
)
from pipimem.store.disk.appended_files import append_synced
from pipimem.store.disk.files import put_whole, remove
from pipimem.store.disk.syscalls import make_folder, read_if_there, sync_folder
from pipimem.store.leader_lock import LeaderLock

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem

__all__ = ["Arrival", "ArrivalJournal", "ArrivalKey"]

# So many lines that are over may stand before those that are not; then the file is written anew,
# for which whoever waits waits 20 to 60 ms longer. About 1 MB.
_MOST_OVER = 4096

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class ArrivalJournal:
    """The journal of one bot. The methods are for threads, one at a time; they raise `StoreError`.

    Whoever adds to it sees to it that nothing of an arrival is off the record; what is private or
    secret in one is taken out here.
    """

    path: Path
    pipimem: Pipimem
    # The lines of those that are not over.
    _waiting: dict[ArrivalKey, bytes] = field(default_factory=dict, repr=False)
    _lines: int = 0
    # Where a write failed, half a line may stand at the end.
    _is_whole: bool = True

    @classmethod
    def of(cls, pipimem: Pipimem, bot: str) -> Self:
        """The journal of a bot in a workspace; nothing is read yet."""
        return cls(arrivals_path(pipimem.store.root, bot), pipimem)

    def left(self) -> list[Arrival]:
        """What the process before this one acknowledged and may not have stored, in its order.

        A message that was taken back comes without its words.
        """
        data = read_if_there(self.path) or b""
        lines = [line for line in data.splitlines(keepends=True) if line.strip()]
        found = [one for one in map(arrival_of, lines) if one is not None]
        self._waiting = {one.key: arrival_line(one) for one in found}
        damaged = len(lines) - len(found)
        self._lines, self._is_whole = len(lines), not damaged and data[-1:] in (b"", b"\n")
        if damaged:
            _log.warning("%s: %d lines are damaged", self.path, damaged)
        return [self._without_words(one) for one in found]

    def _without_words(self, one: Arrival) -> Arrival:
        if (one.channel, one.message.id, True) not in self._waiting:
            return one
        return structs.replace(one, message=replace(one.message, content=""))

    def commit(self, added: Iterable[Arrival], over: Iterable[ArrivalKey]) -> None:
        """Make what was added durable, with one wait for the disk, and drop what is over."""
        fresh = {one.key: arrival_line(self._cleaned(one)) for one in added}
        for key in over:
            self._waiting.pop(key, None)
        self._waiting |= fresh
        if not self._waiting:
            self._empty()
        elif not self._is_whole or self._lines + len(fresh) > len(self._waiting) + _MOST_OVER:
            self._write_anew()
        elif fresh:
            self._append(fresh.values())

    def _cleaned(self, one: Arrival) -> Arrival:
        settings = self.pipimem.settings
        intake = Intake(settings.private, secrets=settings.secrets)
        found = intake.cleaned([one.message], self.pipimem.clock.now())
        # Only an injected block: nothing of it will be stored.
        message = found[0] if found else Message.user("", id=one.message.id)
        return structs.replace(one, message=message, title=intake.named(one.title))

    def _empty(self) -> None:
        if self._lines or not self._is_whole:
            remove(self.path)
        self._lines, self._is_whole = 0, True

    def _write_anew(self) -> None:
        make_folder(self.path.parent)
        put_whole(self.path, b"".join(self._waiting.values()))
        sync_folder(self.path.parent)
        self._lines, self._is_whole = len(self._waiting), True

    def _append(self, lines: Iterable[bytes]) -> None:
        data = b"".join(lines)
        make_folder(self.path.parent)
        self._is_whole = False
        size = append_synced(self.path, data)
        if size == len(data):
            sync_folder(self.path.parent)
        self._lines, self._is_whole = self._lines + data.count(b"\n"), True


@contextmanager
def process_lock(workspace: Path, name: str, what: str) -> Iterator[None]:
    """Holds `.pipimem/NAME.lock` of a workspace; a killed holder frees it at once.

    Raises `WorkspaceError` where another holder has it, with `what` it is that goes on already, and
    `StoreError` where the disk refuses.
    """
    lock = LeaderLock(workspace / ".pipimem" / f"{name}.lock")
    if not lock.take(f"process {os.getpid()}"):
        raise WorkspaceError(f"{what} on {workspace} already ({lock.holder()}). Stop it first.")
    try:
        yield
    finally:
        lock.give_back()
