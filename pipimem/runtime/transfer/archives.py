"""Archives of whole channels: made of a workspace, and taken into another, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from msgspec import Struct

from pipimem.errors import ArchiveError, ChannelError
from pipimem.notes.kinds import File
from pipimem.settings import Settings, settings_from
from pipimem.store.channel import ChannelStore
from pipimem.store.disk import presence
from pipimem.store.disk.files import read_text
from pipimem.store.moved import ChannelMove, lift_move, read_move, write_move
from pipimem.store.opened_channel import OpenedChannel
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
from pipimem.store.transfer.packing import ArchiveWriter, new_archive, pack
from pipimem.store.transfer.unpacking import OpenedArchive, digest_of, opened_archive
from pipimem.store.workspace import USER_FILES, ChannelInfo, WorkspaceStore
from pipimem.text.characters import HAN, has_han
from pipimem.text.private import without_private
from pipimem.text.quotes import read_quote
from pipimem.text.secrets import redacted

__all__ = [
    "OWN_ARCHIVE",
    "MovedIn",
    "chosen_channels",
    "export_archive",
    "import_archive",
    "is_archive",
]


# A letter or digit of any script but Chinese, where words stand without blanks between them.
_LETTER = rf"[^\W{HAN}]"


def without_names(text: str, placeholders: Mapping[str, str]) -> str:
    """The text with each name replaced by its placeholder, also inside Chinese text.

    Longer names go first; `Tom` is no part of `tomorrow`. Capitals make no difference.
    """
    names = sorted(filter(str.strip, placeholders), key=len, reverse=True)
    if not names:
        return text
    folded = {name.casefold(): placeholders[name] for name in names}
    pattern = re.compile("|".join(map(_bounded, names)), re.IGNORECASE)
    return pattern.sub(lambda found: folded.get(found[0].casefold(), "[?]"), text)


def _bounded(name: str) -> str:
    """The pattern of a name: as a word of its own, unless it is Chinese."""
    if has_han(name):
        return re.escape(name)
    return rf"(?<!{_LETTER}){re.escape(name)}(?!{_LETTER})"


_NAMED = 5


class MovedIn(Struct, frozen=True):
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
            store = ChannelStore.open(workspace, channel.id, create=False)
            for file in File:
                count += _add(archive, f"{channel.folder.name}/{file}", _text(store, file))
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
        for name in _names_of(ChannelStore.open(workspace, channel.id, create=False), channel):
            placeholders.setdefault(name, f"[P{len(placeholders) + 1}]")
    _add_parts(placeholders)
    count = 0
    with new_archive(target) as archive:
        for number, channel in enumerate(channels, 1):
            store = ChannelStore.open(workspace, channel.id, create=False)
            for file in File:
                text = _clean(_text(store, file), placeholders, settings)
                count += _add(archive, f"channel-{number}/{file}", text)
            packed(number)
    return count


def _text(store: ChannelStore, file: File) -> str:
    return read_text(store.folder / file, store.workspace.root) or ""


def _clean(text: str, placeholders: dict[str, str], settings: Settings) -> str:
    kept = without_private(text, settings.private)
    return without_names(redacted(kept, own=settings.secrets), placeholders)


def _names_of(store: ChannelStore, channel: ChannelInfo) -> Iterator[str]:
    """The names of all who spoke or are quoted, oldest first, then the channel's own."""
    notes = store.notes()
    found = [message.speaker for message in store.transcript.messages() if message.role == "user"]
    found += notes.ledger.speakers
    found += [record.speaker for record in notes.ledger.records.values()]
    for file in File:
        found += [read_quote(line).name for line in _text(store, file).splitlines()]
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
