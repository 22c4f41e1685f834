"""A channel's folder with all checks of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pipimem.errors import PipimemError
from pipimem.notes.files import File
from pipimem.store import identity
from pipimem.store.channel import ChannelStore
from pipimem.store.checkup.access import access_findings
from pipimem.store.checkup.entries import entry_findings
from pipimem.store.checkup.finding import Finding, wrong
from pipimem.store.checkup.leftovers import leftover_findings
from pipimem.store.checkup.own_state import state_findings
from pipimem.store.checkup.texts import text_findings
from pipimem.store.names import folder_name, is_plain
from pipimem.store.workspace import WorkspaceStore


def channel_findings(workspace: WorkspaceStore, folder: Path, now: datetime) -> Iterator[Finding]:
    """All there is to say about one folder below `channels/`, or about what stands there in the place of one."""
    if not folder.is_dir():
        # A file with a suffix, or of a system: nobody takes it for a channel.
        if not folder.is_file() or (is_plain(folder.name) and not folder.suffix):
            yield wrong(
                folder, "is no folder, so no channel of this name can be opened; move it away"
            )
        return
    try:
        known = identity.load(folder / ".pipimem" / "channel.json")
        if known is None and not is_plain(folder.name):
            yield wrong(folder, "is no channel: it has no .pipimem/channel.json and no plain name")
            return
        name = known.id if known else folder.name
        if folder_name(name) != folder.name:
            yield wrong(
                folder, f"belongs to the channel {name!r}; rename the folder to {folder_name(name)}"
            )
            return
        store = ChannelStore.open(workspace, name, create=False)
    except PipimemError as error:
        yield wrong(folder, str(error))
        if not folder.is_symlink():
            yield from access_findings(folder, workspace.root)
        return
    for file in File:
        yield from text_findings(folder / file, workspace.root)
    try:
        yield from entry_findings(folder / File.MEMORY, store.notes(), now)
    except PipimemError:  # unreadable, or a damaged journal: told with the text, or below
        pass
    yield from state_findings(store)
    yield from leftover_findings(store)
    yield from access_findings(folder, workspace.root)
