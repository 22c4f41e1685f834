"""An import taken back: channels that it made go, and what it added to others goes from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from pipimem.errors import CannotTakeBack, PipimemError
from pipimem.store.channel import ChannelStore
from pipimem.store.history.undo import UNDO, undo
from pipimem.store.transfer.import_log import (
    IMPORT,
    OWN_ARCHIVE,
    ImportedChannel,
    ImportLog,
    ImportRecord,
    content_mark,
    drop_messages,
    key_mark,
)
from pipimem.store.transfer.moving_in import is_there
from pipimem.store.workspace import WorkspaceStore

_ACTOR = "person"


class ImportTakenBack(Struct, frozen=True):
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
        if not is_there(workspace, folder.name) or key_mark(folder) != channel.key:
            continue  # gone, or another that was made under its name
        if channel.is_new and content_mark(folder) == channel.mark:
            (info,) = [one for one in workspace.channels() if one.id == channel.id]
            workspace.remove(info)
            removed.append(channel.id)
            continue
        try:
            later = _later(workspace, record, channel.id)
            dropped, undone = _clean(workspace, record, channel, later, now)
        except PipimemError as error:
            kept.append(f"{channel.id}: {error}")
            continue
        cleaned.append(channel.id)
        messages, changes = messages + dropped, changes + undone
    if not kept:
        log = _log(workspace)
        log.add(ImportRecord(log.next_number(), now.isoformat(), undoes=record.number))
    return ImportTakenBack(record, tuple(removed), tuple(cleaned), messages, changes, tuple(kept))


def _later(workspace: WorkspaceStore, record: ImportRecord, channel: str) -> ImportedChannel | None:
    """What the next import added to a channel; `None` where there was none."""
    records = [one for one in _log(workspace).records() if one.number > record.number]
    found = (each for one in records for each in one.channels if each.id == channel)
    return next(found, None)


def _clean(
    workspace: WorkspaceStore,
    record: ImportRecord,
    channel: ImportedChannel,
    later: ImportedChannel | None,
    now: datetime,
) -> tuple[int, int]:
    """Takes out of a channel what an import added; how many messages, and how many changes."""
    if record.kind == OWN_ARCHIVE:
        raise CannotTakeBack(
            "somebody wrote to it since it came; `pipimem remove` deletes it with that"
        )
    store = ChannelStore.open(workspace, channel.id, create=False)
    undone = _undone(store, _changes(store, record.kind, channel, later), now)
    numbers = frozenset(_numbers(store, record.kind, channel, later))
    dropped = drop_messages(store.channel_folder, store.transcript, numbers) if numbers else 0
    store.close()
    return dropped, undone


def _undone(store: ChannelStore, changes: Sequence[int], now: datetime) -> int:
    """Takes changes back, the newest first, but those that were; how many."""
    already = {one.correlation for one in store.changes() if one.task == UNDO}
    wanted = [number for number in sorted(changes, reverse=True) if str(number) not in already]
    for number in wanted:
        undo(store, number, now, actor=_ACTOR)
    return len(wanted)


def _changes(
    store: ChannelStore, kind: str, channel: ImportedChannel, later: ImportedChannel | None
) -> list[int]:
    """Return the numbers of an import's changes; of a killed import by what the changes say."""
    if channel.is_done:
        return list(channel.records)
    upto = later.before if later else None
    return [
        one.sequence
        for one in store.changes()
        if one.task == IMPORT and one.actor == kind and one.files
        if one.sequence > channel.before and (upto is None or one.sequence <= upto)
    ]


def _numbers(
    store: ChannelStore, kind: str, channel: ImportedChannel, later: ImportedChannel | None
) -> Iterator[int]:
    """The numbers of an import's messages: what others said meanwhile has other ids."""
    upto: int | None = channel.last
    if not channel.is_done:
        upto = later.first - 1 if later else None
    for message in store.transcript.window(channel.first - 1, upto):
        if message.id.startswith(f"{kind}:"):
            yield message.number


def _log(workspace: WorkspaceStore) -> ImportLog:
    return ImportLog(workspace.root / ".pipimem")
