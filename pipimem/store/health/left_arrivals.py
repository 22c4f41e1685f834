"""What a bot acknowledged and has not stored: nobody sees it until its next start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pipimem.errors import ChannelError, PipimemError
from pipimem.notes.message import Message
from pipimem.store.arrivals import Arrival, arrival_files, read_arrivals, waiting_messages
from pipimem.store.channel import ChannelStore
from pipimem.store.health.finding import Finding, worth_knowing, wrong
from pipimem.store.leader_lock import LeaderLock
from pipimem.store.workspace import WorkspaceStore


def arrival_findings(workspace: WorkspaceStore) -> Iterator[Finding]:
    """One for each bot that ended with messages that no transcript has, or with damaged lines."""
    for bot, path in arrival_files(workspace.root).items():
        try:
            yield from _findings(workspace, bot, path)
        except (PipimemError, OSError) as error:
            yield wrong(path, str(error))


def _findings(workspace: WorkspaceStore, bot: str, path: Path) -> Iterator[Finding]:
    arrivals, damaged = read_arrivals(path)
    if damaged:
        yield worth_knowing(path, f"{damaged} lines are damaged; passed over")
    # What a running bot has there is on its way.
    if not LeaderLock(path.with_name(f"{bot}.lock")).is_free():
        return
    count = _count(workspace, arrivals)
    if count:
        messages = "1 message" if count == 1 else f"{count} messages"
        what = f"{messages} that the {bot} bot acknowledged and that are in no transcript yet; "
        more = "its next start takes them in. `forget` finds them, recall and search do not"
        yield wrong(path, what + more)


def _count(workspace: WorkspaceStore, arrivals: Iterable[Arrival]) -> int:
    """How many messages wait, in all channels."""
    channels = dict.fromkeys(one.channel for one in arrivals)
    return sum(len(_waiting(workspace, channel)) for channel in channels)


def _waiting(workspace: WorkspaceStore, channel: str) -> list[Message]:
    try:
        transcript = ChannelStore.open(workspace, channel, create=False).transcript
    except ChannelError:  # it is made when its first message is stored
        transcript = None
    return waiting_messages(workspace.root, channel, transcript)
