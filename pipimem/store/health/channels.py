"""A channel's folder with all checks of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from pipimem.errors import PipimemError
from pipimem.notes.kinds import File
from pipimem.settings import Settings
from pipimem.store import identity
from pipimem.store.channel import ChannelStore
from pipimem.store.commit.working_copy import UnreadableFile
from pipimem.store.disk import presence
from pipimem.store.disk.folder_names import folder_name, is_plain
from pipimem.store.health.finding import Finding, wrong
from pipimem.store.health.own_state import leftover_findings, state_findings
from pipimem.store.health.system import access_findings
from pipimem.store.health.texts import (
    Pairs,
    awaiting_findings,
    entry_findings,
    injection_findings,
    text_findings,
    unreadable_finding,
)
from pipimem.store.workspace import WorkspaceStore


def channel_findings(
    workspace: WorkspaceStore,
    folder: Path,
    now: datetime,
    settings: Settings,
    contradicting: Pairs = lambda _notes: (),
) -> Iterator[Finding]:
    """What is to be said about a folder below `channels/`, or about what stands in its place.

    `contradicting` returns the pairs of entries that may contradict each other.
    """
    if not presence.is_folder(folder):
        # A file with a suffix, or of a system: nobody takes it for a channel.
        if not presence.is_file(folder) or (is_plain(folder.name) and not folder.suffix):
            what = "is no folder, so no channel of this name can be opened; move it away"
            yield wrong(folder, what)
        return
    try:
        opened = _opened(workspace, folder)
    except PipimemError as error:
        yield wrong(folder, str(error))
        if not presence.is_link(folder):
            yield from access_findings(folder, workspace.root)
        return
    if isinstance(opened, ChannelStore):
        yield from _findings(opened, now, settings, contradicting)
    else:
        yield opened


def _opened(workspace: WorkspaceStore, folder: Path) -> ChannelStore | Finding:
    """The channel in a folder, or why it is none. Raises `PipimemError`."""
    known = identity.load(folder)
    if known is None and not is_plain(folder.name):
        return wrong(folder, "is no channel: it has no .pipimem/channel.json and no plain name")
    name = known.id if known else folder.name
    right = folder_name(name)
    if right != folder.name:
        return wrong(folder, f"belongs to the channel {name!r}; rename the folder to {right}")
    return ChannelStore.open(workspace, name, create=False)


def _findings(
    store: ChannelStore, now: datetime, settings: Settings, contradicting: Pairs
) -> Iterator[Finding]:
    folder, root, own = store.folder, store.workspace.root, settings.secrets
    unreadable: Mapping[File, UnreadableFile] = {}
    with suppress(PipimemError):  # reported with the text, or with the state
        unreadable = store.unreadable()
    for file in File:
        found = unreadable.get(file)
        finding = unreadable_finding(store, file, found) if found else None
        yield from text_findings(folder / file, root, settings, finding)
    # What is unreadable is reported with the text, a damaged state below.
    with suppress(PipimemError):
        notes = store.notes()
        yield from entry_findings(folder / File.MEMORY, notes, now, own, contradicting)
        yield from injection_findings(folder, notes)
        yield from awaiting_findings(folder, notes, own)
    yield from state_findings(store)
    yield from leftover_findings(store)
    yield from access_findings(folder, root)
