"""A channel moved out into an archive: from then on this workspace refuses it.

Killed anywhere, the channel is whole in one place: here, marked as moving, until the archive is
whole under its name, and in the archive from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pipimem.errors import ArchiveError
from pipimem.runtime.transfer.archives import chosen_channels
from pipimem.store.moved import ChannelMove, lift_move, read_move, write_move
from pipimem.store.opened_channel import OpenedChannel
from pipimem.store.transfer.manifest import Manifest
from pipimem.store.transfer.moving_in import differing
from pipimem.store.transfer.packing import pack
from pipimem.store.transfer.unpacking import digest_of, opened_archive
from pipimem.store.workspace import ChannelInfo, WorkspaceStore


def move_out(
    workspace: WorkspaceStore,
    name: str,
    target: Path,
    now: datetime,
    version: str,
    packed: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """Packs one channel into an archive, and marks it as moved there once that is durable.

    A move that was killed is gone on with by the same call. Raises `ChannelError` for an unknown
    channel, `ArchiveError` where it was moved before or `target` is something else, `StoreError`.
    """
    (channel,) = chosen_channels(workspace, (name,))
    own = channel.folder / ".pipimem"
    place = str(target.absolute())
    begun = read_move(own)
    if begun is not None and begun.is_complete:
        raise ArchiveError(f"{name!r} was moved to {begun.archive} on {begun.since} already")
    since = begun.since if begun else now.isoformat(timespec="seconds")
    if begun is not None:
        manifest = _made_before(workspace, channel, target)
        if manifest is not None:
            write_move(own, ChannelMove(place, since, _digest(target)))
            return manifest
        # Nothing of it is anywhere else: it is packed anew, as it stands then.
        lift_move(own)

    def mark(held: OpenedChannel) -> None:
        write_move(held.channel_folder.own, ChannelMove(place, since))

    manifest = pack(
        workspace, (channel,), target, now, version, with_shared=False, packed=packed, at_rest=mark
    )
    write_move(own, ChannelMove(place, since, _digest(target)))
    return manifest


def cancel_move(workspace: WorkspaceStore, name: str, archive: Path | None = None) -> bool:
    """Keeps a channel here whose move is not complete; whether there was a move.

    A complete one is taken back only with its `archive`, which is deleted first: then the channel
    is in no other place that we know of. Raises `ChannelError`, `ArchiveError` and `StoreError`.
    """
    (channel,) = chosen_channels(workspace, (name,))
    own = channel.folder / ".pipimem"
    move = read_move(own)
    if move is None:
        return False
    if move.is_complete:
        if archive is None or _digest(archive) != move.digest:
            raise ArchiveError(
                f"{name!r} was moved to {move.archive} on {move.since}. Give that archive to take "
                "the move back; it is deleted. Where it was imported the channel would be in two "
                "places: remove it there first."
            )
        archive.unlink()
    lift_move(own)
    return True


def _made_before(workspace: WorkspaceStore, channel: ChannelInfo, target: Path) -> Manifest | None:
    """The manifest of an archive that a killed move had finished; `None` where there is none.

    Raises `ArchiveError` where another file has the name.
    """
    if not target.exists():
        return None
    with opened_archive(target) as archive:
        manifest = archive.manifest
        ids = [one.id for one in manifest.channels]
        if ids != [channel.id] or differing(workspace, manifest.channels[0]):
            raise ArchiveError(f"{target} is there already; give another name, or move it away")
        archive.verify(lambda _: None)
    return manifest


def _digest(path: Path) -> str:
    return digest_of(path) or ""
