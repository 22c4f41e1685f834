"""The mark of a channel that is moving to another workspace: from then on nothing writes here."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from pipimem.errors import ChannelMoved
from pipimem.store.disk.files import put_whole, remove
from pipimem.store.disk.syscalls import read_if_there, sync_folder
from pipimem.text.json_lines import checked_line, checked_value

_NAME = "moved.json"


class ChannelMove(Struct, frozen=True):
    """A move: the archive it goes to, since when (ISO 8601), and the digest of the whole archive.

    `digest` is empty until the archive is whole and synced: until then the channel is here.
    """

    archive: str
    since: str
    digest: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether the channel is in the archive now, and no longer here."""
        return bool(self.digest)


def read_move(own: Path) -> ChannelMove | None:
    """The move of a channel, by its `.pipimem/`; `None` for a channel that stays.

    A damaged mark counts as a move that is not complete: nothing is written until it is lifted.
    """
    # Asked before each writing: a failing `open` costs ten times this.
    data = read_if_there(own / _NAME) if os.path.lexists(f"{own}/{_NAME}") else None
    if data is None:
        return None
    match checked_value(data):
        case {"archive": str(archive), "since": str(since), "digest": str(digest)}:
            return ChannelMove(archive, since, digest)
    return ChannelMove("", "")


def write_move(own: Path, move: ChannelMove) -> None:
    """Marks a channel; the caller holds its lock. Durable when it returns."""
    put_whole(own / _NAME, checked_line(asdict(move)))
    sync_folder(own)


def lift_move(own: Path) -> None:
    """Takes the mark away: the channel is here again."""
    remove(own / _NAME)
    sync_folder(own)


def refuse_moved(own: Path, channel_id: str) -> None:
    """Raises `ChannelMoved` where a channel is marked."""
    move = read_move(own)
    if move is None:
        return
    if move.is_complete:
        raise ChannelMoved(
            f"{channel_id!r} was moved to {move.archive} on {move.since}: use it where that "
            f"archive was imported. What stands here is of before; `pipimem remove` deletes it."
        )
    raise ChannelMoved(
        f"{channel_id!r} is being moved to {move.archive} since {move.since}. Run the same "
        "`pipimem export --move` again to go on, or `pipimem export --cancel-move` to keep it here."
    )
