"""Archives of whole channels: made of a workspace, and taken into another, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from pipimem.errors import ArchiveError, ChannelError
from pipimem.store.disk import presence
from pipimem.store.moved import read_move
from pipimem.store.transfer.import_log import (
    OWN_ARCHIVE,
    ImportedChannel,
    ImportLog,
    ImportRecord,
    content_mark,
    key_mark,
)
from pipimem.store.transfer.manifest import CHANNELS, NAME, Manifest, PackedChannel
from pipimem.store.transfer.moving_in import (
    differing,
    incoming,
    is_there,
    move_in,
    move_in_shared,
)
from pipimem.store.transfer.packing import pack
from pipimem.store.transfer.unpacking import OpenedArchive, opened_archive
from pipimem.store.workspace import ChannelInfo, WorkspaceStore

__all__ = [
    "OWN_ARCHIVE",
    "MovedIn",
    "chosen_channels",
    "export_archive",
    "import_archive",
    "is_archive",
]

_NAMED = 5


@dataclass(frozen=True, slots=True)
class MovedIn:
    """What came out of an archive: ids of channels that are `new`, and that were there (`same`).

    `shared` are files for all channels that were put, `left` those that the workspace has its own
    of. `number` is that of the import, 0 where nothing was new.
    """

    new: tuple[str, ...]
    same: tuple[str, ...]
    shared: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    size: int = 0
    number: int = 0


def is_archive(path: Path) -> bool:
    """Whether a file is to be read as an archive of ours: a ZIP file with a manifest.

    One that is damaged beyond reading counts as one where its name ends with .zip.
    """
    try:
        with ZipFile(path) as packed:
            return NAME in packed.namelist()
    except (BadZipFile, IsADirectoryError):
        return path.suffix == ".zip" and presence.is_file(path)


def chosen_channels(workspace: WorkspaceStore, names: Sequence[str]) -> tuple[ChannelInfo, ...]:
    """The channels of these ids, without any all of them. Raises `ChannelError` for an unknown."""
    known = {info.id: info for info in workspace.channels()}
    missing = [name for name in names if name not in known]
    if missing:
        raise ChannelError(f"There is no channel {missing[0]!r} in {workspace.root}.")
    return tuple(known[name] for name in dict.fromkeys(names)) or tuple(known.values())


def export_archive(
    workspace: WorkspaceStore,
    names: Sequence[str],
    target: Path,
    now: datetime,
    version: str,
    packed: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """Packs channels into a new archive; without names all of them, with the workspace's files.

    Raises `ChannelError`, `ArchiveError` and `StoreError`; there is no archive then.
    """
    channels = chosen_channels(workspace, names)
    return pack(workspace, channels, target, now, version, with_shared=not names, packed=packed)


def import_archive(
    workspace: WorkspaceStore,
    source: Path,
    now: datetime,
    *,
    is_dry: bool = False,
    unpacked: Callable[[int], None] = lambda _: None,
) -> MovedIn:
    """Takes the channels of an archive into a workspace.

    A channel that is there already with the same bytes is passed over, so that a second time adds
    nothing and an import that was killed goes on. `unpacked` is told how many bytes of the archive
    are done. Raises `ArchiveError`, with nothing written,
    where one is there with other bytes and for an archive that is damaged or made to do harm.
    """
    with opened_archive(source) as archive:
        channels = archive.manifest.channels
        new = [one for one in channels if not is_there(workspace, one.folder)]
        same = [one for one in channels if is_there(workspace, one.folder)]
        _refuse_others(workspace, source, same)
        found = MovedIn(_ids(new), _ids(same), size=archive.manifest.size)
        packed, size = source.stat().st_size, max(1, archive.manifest.size)

        def moved(done: int) -> None:
            unpacked(done * packed // size)

        if is_dry:
            archive.verify(moved)
            return found
        return _moved_in(workspace, archive, new, found, now, moved)


def _moved_in(
    workspace: WorkspaceStore,
    archive: OpenedArchive,
    new: Sequence[PackedChannel],
    found: MovedIn,
    now: datetime,
    unpacked: Callable[[int], None],
) -> MovedIn:
    with incoming(workspace) as ready:
        archive.unpack(ready, unpacked)
        log, number = ImportLog(workspace.root / ".pipimem"), 0
        if new:
            number = log.next_number()
            made = tuple(_made(one.id, ready / CHANNELS / one.folder) for one in new)
            # Before the channels: where it is killed between, what came can be taken back.
            log.add(ImportRecord(number, now.isoformat(), OWN_ARCHIVE, made))
            move_in(workspace, ready, [one.folder for one in new])
        shared, left = move_in_shared(workspace, ready, archive.manifest.shared)
    return MovedIn(found.new, found.same, shared, left, found.size, number)


def _made(name: str, folder: Path) -> ImportedChannel:
    return ImportedChannel(name, key_mark(folder), True, content_mark(folder), is_done=True)


def _refuse_others(workspace: WorkspaceStore, source: Path, there: Sequence[PackedChannel]) -> None:
    """Raises `ArchiveError` where a channel that is there differs from the archive's."""
    folders = workspace.channels_folder
    moved = [one.id for one in there if read_move(folders / one.folder / ".pipimem")]
    if moved:
        raise ArchiveError(
            f"{source}: {moved[0]!r} was moved out of {workspace.root}, or is being moved; nothing "
            "was written. `pipimem export --cancel-move` keeps it here."
        )
    others = [one.id for one in there if differing(workspace, one)]
    if others:
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        raise ArchiveError(
            f"{source}: {', '.join(map(repr, others[:_NAMED]))}{more} stands in {workspace.root} "
            "already, with other content; nothing was written. Import into an empty workspace, or "
            "remove the channel first (`pipimem remove`)."
        )


def _ids(channels: Sequence[PackedChannel]) -> tuple[str, ...]:
    return tuple(one.id for one in channels)
