"""The one process that is a workspace's bot: its lock, and what one of 0.1 or 0.2 left unstored."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Literal

from msgspec import Struct

from pipimem.errors import ChannelError, NothingFound, PipimemError, WorkspaceError
from pipimem.notes.message import Message
from pipimem.runtime.forgetting import ById, carry_out, forget_targets, retract_unlearnt
from pipimem.store.channel import ChannelStore
from pipimem.store.disk import appended_files, presence
from pipimem.store.disk.files import remove
from pipimem.store.leader_lock import LeaderLock
from pipimem.store.transcript.message_line import parsed
from pipimem.store.workspace import WorkspaceStore
from pipimem.text import json_lines

_log = logging.getLogger(__name__)


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


# pipimem 0.1 and 0.2 acknowledged a message to DingTalk when it stood in this file or in the
# transcript. Secrets, private stretches and what is off the record were left out of it.
_ARRIVALS, _LOCK = "dingtalk-arrivals.jsonl", "dingtalk.lock"


class _Arrival(Struct, frozen=True):
    """A message on a line of that file; with `is_taken_back` the id of one its sender took back."""

    channel: str
    message: Message
    kind: Literal["dm", "group"]
    title: str
    is_taken_back: bool


def take_in_arrivals(workspace: WorkspaceStore, now: datetime) -> None:
    """Append the messages that an older bot acknowledged and the transcripts lack, once.

    The file goes when all are stored. What the disk refuses is logged, and stays for the next
    start. While an older bot runs nothing is done: it stores them.
    """
    path = workspace.root / ".pipimem" / _ARRIVALS
    try:
        if not presence.exists(path) or not LeaderLock(path.with_name(_LOCK)).is_free():
            return
        arrivals = [found for found in map(_arrival, appended_files.lines(path)) if found]
        for channel, left in groupby(sorted(arrivals, key=_channel), _channel):
            _take_in(workspace, channel, list(left), now)
        remove(path)
    except (PipimemError, OSError) as error:
        _log.error("what an older bot left in %s is not all stored yet: %s", path, error)


def _channel(arrival: _Arrival) -> str:
    return arrival.channel


def _arrival(data: bytes) -> _Arrival | None:
    """The arrival on a line; `None` for a torn one, and for the blanks that a forgetting left."""
    match json_lines.checked_value(data):
        case {
            "channel": str(channel),
            "kind": "dm" | "group" as kind,
            "title": str(title),
            "message": dict(fields),
            **rest,
        }:
            message = parsed(json_lines.line(fields))
            if message is not None:
                said = replace(message, number=0)  # the number there means nothing
                return _Arrival(channel, said, kind, title, "taken_back" in rest)
    return None


def _take_in(
    workspace: WorkspaceStore, channel: str, arrivals: Sequence[_Arrival], now: datetime
) -> None:
    said = [arrival for arrival in arrivals if not arrival.is_taken_back]
    named = (said or arrivals)[0]
    try:
        store = ChannelStore.open(
            workspace, channel, create=bool(said), kind=named.kind, title=named.title
        )
    except ChannelError:
        if said:
            raise
        return  # of what was taken back nothing was ever stored
    store.append(arrival.message for arrival in said)
    for arrival in arrivals:
        if arrival.is_taken_back:
            with suppress(NothingFound):
                _empty(store, arrival.message.id, now)
    store.close()


def _empty(store: ChannelStore, name: str, now: datetime) -> None:
    """Empty the message of an id; with what was learnt from it, where that may be."""
    if not retract_unlearnt(store, name, now):
        carry_out(store, forget_targets(store, ById(f"log:{name}")), now)
