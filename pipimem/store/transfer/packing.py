"""Writes an archive: a ZIP file with the files of channels and a manifest of their checksums."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pipimem.errors import ArchiveError, StoreError
from pipimem.notes.kinds import File
from pipimem.store import identity
from pipimem.store.commit.publish import is_unfinished
from pipimem.store.disk import editor_saves, presence
from pipimem.store.disk.exchange import put_new
from pipimem.store.disk.fencing import HALF
from pipimem.store.disk.files import remove, resolved, temporary_for
from pipimem.store.disk.syscalls import FILE_MODE, opened, reading, store_errors, sync_folder
from pipimem.store.opened_channel import OpenedChannel
from pipimem.store.transfer.manifest import (
    CHANNELS,
    FORMAT,
    NAME,
    SHARED,
    STATE_PATH,
    Manifest,
    PackedChannel,
    PackedFile,
    is_of_a_channel,
    is_of_the_workspace,
    new_digest,
    written,
)
from pipimem.store.workspace import ChannelInfo, WorkspaceStore
from pipimem.text import json_lines
from pipimem.text.json_codec import encoded


@contextmanager
def held_at_rest(
    workspace: WorkspaceStore, channel_id: str, now: datetime
) -> Iterator[tuple[OpenedChannel, dict[str, Path]]]:
    """Holds a channel's locks; yields it, and its files by their paths in its folder.

    What a crash left is carried out before, so that the files alone say everything. Raises
    `StoreError` where an editor holds a text of it back, and `ChannelError` for an unknown channel.
    """
    new = identity.new(channel_id, "", "", None, is_derived=False)
    opened = OpenedChannel.open(workspace, channel_id, create=False, new=new)
    deadline = editor_saves.save_deadline()
    with opened.writing(now, until=deadline) as working_copy:
        if is_unfinished(working_copy):
            raise StoreError(
                f"{channel_id}: an editor is saving one of its files. Close it, and try again."
            )
        with opened.transcript.exclusive():
            yield opened, _files(opened.channel_folder.folder, workspace.root)


def _files(folder: Path, root: Path) -> dict[str, Path]:
    """The files that an export takes along, by their paths; a link of a note is followed."""
    found: dict[str, Path] = {}
    with store_errors("read", folder):
        for below in (folder, folder / ".pipimem"):
            for path in sorted(below.iterdir()) if presence.is_folder(below) else ():
                name = path.relative_to(folder).as_posix()
                place = resolved(path, root) if name in set(File) else path
                if is_of_a_channel(name) and presence.is_file(place):
                    found[name] = place
    return found


# Read and packed in pieces of so many bytes.
_PIECE = 256 * 1024
# A file of more bytes is packed after the lock was given back: only its end can grow.
_AT_ONCE = 1024 * 1024
# The first second that a ZIP file can name: the same content gives the same bytes.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
_ZIP64_FROM = 2**31


@dataclass(slots=True)
class ArchiveWriter:
    """An archive that is being written; `add` takes one file after the other."""

    _zip: ZipFile
    files: list[PackedFile] = field(default_factory=list)

    def add(self, prefix: str, path: str, source: BinaryIO, size: int) -> PackedFile:
        """Packs the first `size` bytes of a source; raises `StoreError` where it has fewer."""
        digest, left = new_digest(), size
        with self._zip.open(_member(prefix + path), "w", force_zip64=size >= _ZIP64_FROM) as target:
            while left:
                piece = source.read(min(left, _PIECE))
                if not piece:
                    raise StoreError(f"{prefix}{path} changed while it was read; try again")
                digest.update(piece)
                target.write(piece)
                left -= len(piece)
        return PackedFile(path, size, digest.hexdigest())

    def add_bytes(self, name: str, data: bytes) -> None:
        """Packs some bytes under a name."""
        self._zip.writestr(_member(name), data)


def _member(name: str) -> ZipInfo:
    member = ZipInfo(name, _NO_TIME)
    member.compress_type = ZIP_DEFLATED
    member.external_attr = FILE_MODE << 16
    return member


@contextmanager
def new_archive(target: Path) -> Iterator[ArchiveWriter]:
    """A new archive, which stands under its name once it is whole and synced, or not at all.

    Raises `ArchiveError` where something has the name, `StoreError` where the disk refuses.
    """
    if os.path.lexists(target):
        raise ArchiveError(f"{target} is there already; give another name, or move it away")
    draft = temporary_for(target, HALF)
    with store_errors("write", target):
        remove(draft)
        descriptor = opened(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                with ZipFile(file, "w", ZIP_DEFLATED) as packed:
                    yield ArchiveWriter(packed)
                file.flush()
                os.fsync(file.fileno())
            put_new(draft, target)
        except FileExistsError as error:
            raise ArchiveError(f"{target} is there already; give another name") from error
        finally:
            remove(draft)
        sync_folder(target.absolute().parent)


def pack(
    workspace: WorkspaceStore,
    channels: Sequence[ChannelInfo],
    target: Path,
    now: datetime,
    version: str,
    *,
    with_shared: bool,
    packed: Callable[[int], None] = lambda _: None,
    at_rest: Callable[[OpenedChannel], None] = lambda _: None,
) -> Manifest:
    """Writes channels, and with `with_shared` what belongs to all, into a new archive.

    Each channel's files are of one moment, under its lock: then `at_rest` is called with it.
    `packed` is told how many are done.
    """
    found: list[PackedChannel] = []
    with new_archive(target) as archive:
        shared = _pack_shared(archive, workspace) if with_shared else ()
        for channel in channels:
            found.append(_pack_channel(archive, workspace, channel, now, at_rest))
            packed(len(found))
        made = now.isoformat(timespec="seconds")
        manifest = Manifest(FORMAT, version, made, tuple(found), shared)
        archive.add_bytes(NAME, written(manifest))
    return manifest


def _pack_channel(
    archive: ArchiveWriter,
    workspace: WorkspaceStore,
    channel: ChannelInfo,
    now: datetime,
    at_rest: Callable[[OpenedChannel], None],
) -> PackedChannel:
    prefix = f"{CHANNELS}{channel.folder.name}/"
    files: list[PackedFile] = []
    large: list[tuple[str, BinaryIO, int]] = []
    try:
        with (
            held_at_rest(workspace, channel.id, now) as (held, paths),
            store_errors("read", channel.folder),
        ):
            at_rest(held)
            known = held.channel_folder.identity
            for name, path in paths.items():
                if name == STATE_PATH:
                    continue
                file = reading(path)
                size = os.fstat(file.fileno()).st_size
                if size > _AT_ONCE:
                    large.append((name, file, size))
                    continue
                with file:
                    files.append(archive.add(prefix, name, file, size))
            state = workspace.database_of(held.channel_folder.own, known).contents()
            if state:
                files.append(archive.add(prefix, STATE_PATH, BytesIO(state), len(state)))
        for name, file, size in large:
            files.append(archive.add(prefix, name, file, size))
    finally:
        for _, file, _ in large:
            file.close()
    return PackedChannel(known.id, channel.folder.name, known.kind, known.title, tuple(files))


def _pack_shared(archive: ArchiveWriter, workspace: WorkspaceStore) -> tuple[PackedFile, ...]:
    found = []
    by_month: dict[str, list[bytes]] = {}
    with store_errors("read", workspace.root):
        for path in shared_files(workspace.root):
            name = path.relative_to(workspace.root).as_posix()
            with reading(resolved(path, workspace.root)) as file:
                size = os.fstat(file.fileno()).st_size
                found.append(archive.add(SHARED, name, file, size))
    for call in workspace.usages():
        by_month.setdefault(call.time[:7], []).append(json_lines.line(encoded(call)))
    for month, lines in sorted(by_month.items()):
        data = b"".join(lines)
        name = f".pipimem/usage-{month}.jsonl"
        found.append(archive.add(SHARED, name, BytesIO(data), len(data)))
    return tuple(found)


def shared_files(root: Path) -> list[Path]:
    """The files of a workspace that belong to no channel and are taken along."""
    found: list[Path] = []
    for below in (root, root / "prompts"):
        paths = sorted(below.iterdir()) if presence.is_folder(below) else []
        named = (one for one in paths if is_of_the_workspace(one.relative_to(root).as_posix()))
        found += filter(Path.is_file, named)
    return found
