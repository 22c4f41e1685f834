"""Talk that came in with an import, consolidated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec.structs import replace

from pipimem.notes.operations import Author
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.runtime.replay import EventTime
from pipimem.store.channel import ChannelStore
from pipimem.store.transfer.import_log import ImportLog, content_mark
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem


async def learnt(
    open_runtime: Callable[..., AbstractAsyncContextManager[Pipimem]],
    workspace: WorkspaceStore,
    number: int,
    names: Sequence[str],
    progress: Callable[[int], None] = lambda _: None,
) -> list[str]:
    """Consolidates the talk of some channels, as at a compaction; why it failed where it did.

    What is learnt belongs to import `number`, and goes when that is taken back.
    """
    refused = []
    for done, name in enumerate(names, 1):
        # Each channel lives in the time of its own talk.
        time = EventTime()
        async with open_runtime(clock=time.clock()) as pipimem:
            channel = await pipimem.channel(name, create=False)
            before = upkeep_of(channel).store.ledger.sequence
            reason = await _consolidated(channel, time)
        await to_thread.run_sync(_note, workspace, number, name, before)
        if reason:
            refused.append(f"{name}: {reason}")
        progress(done)
    return refused


def _note(workspace: WorkspaceStore, number: int, name: str, before: int) -> None:
    """Adds to the line of an import what was learnt in a channel after the record `before`."""
    log = ImportLog(workspace.root / ".pipimem")
    store = ChannelStore.open(workspace, name, create=False)
    changed = (one for one in store.changes() if one.sequence > before and one.files)
    ours = tuple(one.sequence for one in changed if one.author is Author.MODEL)
    found = log.chosen(number)
    channels = [
        replace(one, mark=content_mark(store.folder), records=one.records + ours)
        if one.id == name
        else one
        for one in found.channels
    ]
    log.add(replace(found, channels=tuple(channels)))


async def _consolidated(channel: Channel, time: EventTime) -> str:
    last = await to_thread.run_sync(lambda: upkeep_of(channel).store.transcript.last_number)
    newest = await to_thread.run_sync(
        lambda: list(upkeep_of(channel).store.transcript.window(last - 1))
    )
    for message in newest:
        time.seen(message.time)
    model = upkeep_of(channel).access.settings.model
    deadline = max(model.consolidate_timeout, model.consolidate_gate_timeout)
    receipt = await channel.before_compaction(deadline=deadline)
    if receipt.state != "consolidated":
        return receipt.reason
    await channel.compacted(receipt)
    return ""
