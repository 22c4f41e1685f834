"""An import taken back: channels that it made go, and what it added to others goes from them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pipimem.errors import CannotTakeBack, PipimemError
from pipimem.store.channel import ChannelStore
from pipimem.store.history.undo import undo
from pipimem.store.transfer.dropped_messages import drop_messages
from pipimem.store.transfer.import_log import (
    ImportedChannel,
    ImportLog,
    ImportRecord,
    content_mark,
)
from pipimem.store.transfer.moving_in import is_there
from pipimem.store.workspace import WorkspaceStore

_ACTOR = "person"


@dataclass(frozen=True, slots=True)
class ImportTakenBack:
    """What went with an import: ids of `removed` and `cleaned` channels, messages and changes.

    `kept` says for each channel of which something stays why.
    """

    record: ImportRecord
    removed: tuple[str, ...]
    cleaned: tuple[str, ...]
    messages: int
    changes: int
    kept: tuple[str, ...] = ()


def import_to_take_back(workspace: WorkspaceStore, number: int | None) -> ImportRecord:
    """The import of a number, without one the newest that stands. Raises `NothingFound`."""
    return _log(workspace).chosen(number)


def take_back(workspace: WorkspaceStore, record: ImportRecord, now: datetime) -> ImportTakenBack:
    """Takes an import back, channel by channel.

    A channel that it made is removed, unless somebody wrote to it since; elsewhere its messages are
    taken out of the transcript, and its changes of the notes are undone. What later changes stand
    on is `kept`; the import stands until nothing of it is.
    """
    removed: list[str] = []
    cleaned: list[str] = []
    kept: list[str] = []
    messages = changes = 0
    for channel in record.channels:
        folder = workspace.folder_of(channel.id)
        if not is_there(workspace, folder.name):
            continue
        if channel.is_new and content_mark(folder) == channel.mark:
            (info,) = [one for one in workspace.channels() if one.id == channel.id]
            workspace.remove(info)
            removed.append(channel.id)
            continue
        try:
            dropped, undone = _clean(workspace, channel, now)
        except PipimemError as error:
            kept.append(f"{channel.id}: {error}")
            continue
        cleaned.append(channel.id)
        messages, changes = messages + dropped, changes + undone
    if not kept:
        log = _log(workspace)
        log.add(ImportRecord(log.next_number(), now.isoformat(), undoes=record.number))
    return ImportTakenBack(record, tuple(removed), tuple(cleaned), messages, changes, tuple(kept))


def _clean(workspace: WorkspaceStore, channel: ImportedChannel, now: datetime) -> tuple[int, int]:
    """Takes out of a channel what an import added; how many messages, and how many changes."""
    if not channel.numbers and not channel.records:
        raise CannotTakeBack(
            "somebody wrote to it since it came; `pipimem remove` deletes it with that"
        )
    store = ChannelStore.open(workspace, channel.id, create=False)
    undone = 0
    already = {one.correlation for one in store.journal_records() if one.task == "undo"}
    for number in sorted(channel.records, reverse=True):
        if str(number) not in already:
            undo(store, number, now, actor=_ACTOR)
            undone += 1
    numbers = {number for first, last in channel.numbers for number in range(first, last + 1)}
    dropped = drop_messages(store.folder, store.transcript, numbers) if numbers else 0
    store.close()
    return dropped, undone


def _log(workspace: WorkspaceStore) -> ImportLog:
    return ImportLog(workspace.root / ".pipimem")
