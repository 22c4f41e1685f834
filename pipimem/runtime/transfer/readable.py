"""Exports for reading: the Markdown alone, with or without the names of people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pipimem.notes.kinds import File
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.transfer.archives import chosen_channels
from pipimem.settings import Settings, settings_from
from pipimem.store.disk.files import read_text
from pipimem.store.transfer.packing import ArchiveWriter, new_archive
from pipimem.store.workspace import USER_FILES, ChannelInfo, WorkspaceStore
from pipimem.text.names import without_names
from pipimem.text.private import without_private
from pipimem.text.quotes import read_quote
from pipimem.text.secrets import redacted


def export_markdown(
    workspace: WorkspaceStore,
    names: Sequence[str],
    target: Path,
    packed: Callable[[int], None] = lambda _: None,
) -> int:
    """Writes the notes of channels as they stand into a new ZIP file; returns how many files.

    Without names all channels, and the Markdown of the workspace besides.
    """
    channels, count = chosen_channels(workspace, names), 0
    with new_archive(target) as archive:
        for name in USER_FILES if not names else ():
            if name.endswith(".md"):
                count += _add(archive, name, read_text(workspace.root / name, workspace.root) or "")
        for done, channel in enumerate(channels, 1):
            here = ChannelAccess.opened(workspace, channel.id)
            for file in File:
                count += _add(archive, f"{channel.folder.name}/{file}", here.text(file))
            packed(done)
    return count


def export_redacted(
    workspace: WorkspaceStore,
    names: Sequence[str],
    target: Path,
    packed: Callable[[int], None] = lambda _: None,
) -> int:
    """Writes the notes of channels without names, secrets and private stretches.

    Each person is `[P1]`, `[P2]` … in all of it: whoever spoke, whoever a quote names, and the
    channels' own ids and titles. A name that is only mentioned is not known to be one, and stays.
    """
    settings = settings_from(workspace.human_text("pipimem.toml"))
    channels = chosen_channels(workspace, names)
    placeholders: dict[str, str] = {}
    for channel in channels:
        for name in _names_of(ChannelAccess.opened(workspace, channel.id), channel):
            placeholders.setdefault(name, f"[P{len(placeholders) + 1}]")
    _add_parts(placeholders)
    count = 0
    with new_archive(target) as archive:
        for number, channel in enumerate(channels, 1):
            here = ChannelAccess.opened(workspace, channel.id)
            for file in File:
                text = _clean(here.text(file), placeholders, settings)
                count += _add(archive, f"channel-{number}/{file}", text)
            packed(number)
    return count


def _clean(text: str, placeholders: dict[str, str], settings: Settings) -> str:
    kept = without_private(text, settings.private)
    return without_names(redacted(kept, own=settings.secrets), placeholders)


def _names_of(here: ChannelAccess, channel: ChannelInfo) -> Iterator[str]:
    """The names of all who spoke or are quoted, oldest first, then the channel's own."""
    notes = here.notes()
    found = [message.speaker for message in here.messages() if message.role == "user"]
    found += notes.ledger.speakers
    found += [record.speaker for record in notes.ledger.records.values()]
    for file in File:
        found += [read_quote(line).name for line in here.text(file).splitlines()]
    yield from dict.fromkeys(name.strip() for name in (*found, channel.id, channel.title) if name)


def _add_parts(placeholders: dict[str, str]) -> None:
    """Adds the parts of names of several words: who spoke as Ann Lee is called Ann elsewhere."""
    for name, placeholder in list(placeholders.items()):
        for part in name.split():
            if len(part) > 1:
                placeholders.setdefault(part, placeholder)


def _add(archive: ArchiveWriter, name: str, text: str) -> int:
    """Packs a text that is not empty; how many files that is."""
    if text:
        archive.add_bytes(name, text.encode("utf-8", "surrogatepass"))
    return int(bool(text))
