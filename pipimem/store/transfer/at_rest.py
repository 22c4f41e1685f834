"""A channel's files with nothing on its way into them, while its lock is held."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.notes.files import File
from pipimem.store import identity
from pipimem.store.commit.publish import is_unfinished
from pipimem.store.disk import editor_saves, presence
from pipimem.store.disk.links import resolved
from pipimem.store.disk.syscalls import store_errors
from pipimem.store.opened_channel import OpenedChannel
from pipimem.store.transfer.manifest import is_of_a_channel
from pipimem.store.workspace import WorkspaceStore


@contextmanager
def held_at_rest(
    workspace: WorkspaceStore, channel_id: str, now: datetime
) -> Iterator[tuple[OpenedChannel, dict[str, Path]]]:
    """Holds a channel's lock; yields it, and its files by their paths in its folder.

    What a crash left is carried out and a checkpoint is made before, so that the files alone say
    everything. Raises `StoreError` where an editor holds a text of it back, and `ChannelError` for
    an unknown channel.
    """
    new = identity.new(channel_id, "dm", "", None, is_derived=False)
    opened = OpenedChannel.open(workspace, channel_id, create=False, new=new)
    deadline = editor_saves.save_deadline()
    with opened.writing(now, until=deadline) as working_copy:
        opened.now = now
        opened.checkpoint()
        if is_unfinished(working_copy):
            raise StoreError(
                f"{channel_id}: an editor is saving one of its files. Close it, and try again."
            )
        yield opened, _files(opened.channel_folder.folder, workspace.root)


def _files(folder: Path, root: Path) -> dict[str, Path]:
    """The files that an export takes along, by their paths; a link of a note is followed."""
    found: dict[str, Path] = {}
    with store_errors("read", folder):
        for below in (folder, folder / ".pipimem", folder / ".pipimem" / "versions"):
            for path in sorted(below.iterdir()) if presence.is_folder(below) else ():
                name = path.relative_to(folder).as_posix()
                place = resolved(path, root) if name in set(File) else path
                if is_of_a_channel(name) and presence.is_file(place):
                    found[name] = place
    return found
