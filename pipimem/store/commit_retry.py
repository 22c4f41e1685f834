"""What is tried again in a channel where a person saved, or another holder took over, meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from pipimem.errors import LockLost, StoreError
from pipimem.notes.operations import Decision
from pipimem.store.commit.commit import CarryOut, Committed, CommitUnsure, Recalls, commit
from pipimem.store.disk import editor_saves
from pipimem.store.identity import ChannelFolder
from pipimem.store.opened_channel import OpenedChannel

_P = ParamSpec("_P")
_T = TypeVar("_T")
_log = logging.getLogger("pipimem")

# After so many attempts on a fresher text, what is saved meanwhile is merged instead.
_TRIES = 2


@dataclass(frozen=True, slots=True)
class CommitRetry:
    """A decision for a channel; `now` is the conversation's time, `wall` the journal's."""

    opened: OpenedChannel
    recalls: Recalls
    decision: Decision
    now: datetime
    actor: str
    wall: datetime
    carry_out: CarryOut | None

    def done(self) -> Committed:
        """Commits, once more where the lock was lost or `.pipimem/` deleted meanwhile.

        Raises `StoreError` with everything as it was.
        """
        try:
            return self._attempted()
        except CommitUnsure as unsure:
            return unsure.committed if self._has_landed(unsure) else self._attempted()
        except StoreError as error:
            if not is_worth_retrying(error, self.opened.channel_folder):
                raise
            return self._attempted()

    def _attempted(self) -> Committed:
        deadline = editor_saves.save_deadline()
        done: Committed | None = None
        tries = 0
        while done is None:
            with self.opened.writing(self.wall, until=deadline) as working_copy:
                done = commit(
                    working_copy,
                    self.decision,
                    self.now,
                    self.actor,
                    self.wall,
                    self.recalls,
                    insists=tries == _TRIES,
                    carry_out=self.carry_out,
                )
                if done is not None:
                    self._after(done)
            tries += 1
        return done

    def _after(self, done: Committed) -> None:
        """Writes a checkpoint where one is due; a lock that is lost by now leaves it to others."""
        try:
            self.opened.after_writing(self.wall)
        except (StoreError, OSError):
            if not self.opened.is_lock_lost:
                raise
            _log.info("record %s is committed; its checkpoint is left to others", done.sequence)

    def _has_landed(self, unsure: CommitUnsure) -> bool:
        """Whether what was being committed when another host took over stands in the journal."""
        with self.opened.writing(self.wall, until=0.0) as working_copy:
            has_landed = working_copy.state.journal.has(unsure.end)
        if has_landed:
            self.recalls.clear()
        return has_landed


class _HasFolder(Protocol):
    @property
    def channel_folder(self) -> ChannelFolder: ...


_S = TypeVar("_S", bound=_HasFolder)


def retried_when_deleted(
    method: Callable[Concatenate[_S, _P], _T],
) -> Callable[Concatenate[_S, _P], _T]:
    """A method that is called again where `.pipimem/` was deleted during the first call.

    Or the lock file in it alone: then it is taken anew.
    """

    @wraps(method)
    def call(self: _S, /, *args: _P.args, **options: _P.kwargs) -> _T:
        try:
            return method(self, *args, **options)
        except StoreError as error:
            if not is_worth_retrying(error, self.channel_folder):
                raise
            return method(self, *args, **options)

    return call


def is_worth_retrying(error: StoreError, channel_folder: ChannelFolder) -> bool:
    """Whether an error came by a lock that was lost, or by the deletion of `.pipimem/`."""
    return isinstance(error, LockLost) or channel_folder.is_deleted
