"""Takes an archive apart beside the workspace, and moves its channels in once all of it is sound.

What somebody made to look like an archive is refused before a byte is written: names that lead
elsewhere, links, files that unpack to far more than they say, missing and wrong checksums.
"""

from __future__ import annotations

import os
import shutil
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from msgspec import Struct

from pipimem.errors import ArchiveError, PipimemError
from pipimem.store import identity
from pipimem.store.disk import presence
from pipimem.store.disk.syscalls import (
    FOLDER_MODE,
    make_folder,
    opened,
    store_errors,
    write_whole,
)
from pipimem.store.transfer.manifest import (
    CHANNELS,
    NAME,
    Manifest,
    PackedChannel,
    PackedFile,
    new_digest,
    read_manifest,
)

_PIECE = 256 * 1024
# A hundred thousand channels have a manifest of 100 MB.
_LARGEST_MANIFEST = 256 * 1024 * 1024
# Our files shrink to a third or a tenth; deflate itself reaches 1,032. Below the floor nothing
# that unpacks is worth a refusal.
_MOST_SHRUNK, _FLOOR = 200, 64 * 1024 * 1024
_ENCRYPTED = 0x1
_BROKEN = (
    BadZipFile,
    EOFError,
    IndexError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)


class OpenedArchive(Struct, frozen=True):
    """An archive whose manifest was read and agrees with its table of contents."""

    path: Path
    manifest: Manifest
    _zip: ZipFile

    def unpack(self, folder: Path, unpacked: Callable[[int], None] = lambda _: None) -> None:
        """Writes all files below a folder, each checked, and waits for the disk.

        `unpacked` is told how many bytes are done. Raises `ArchiveError`, `StoreError`.
        """
        _refuse_without_room(self.path, self.manifest.size, folder)
        done = 0
        for name, one in self.manifest.members():
            self._write(folder / name, name, one)
            done += one.size
            unpacked(done)
        for channel in self.manifest.channels:
            self._check_identity(folder, channel)
        if hasattr(os, "sync"):  # Windows has none
            os.sync()  # one wait for all of them: ten thousand files would be waited for singly

    def verify(self, read: Callable[[int], None] = lambda _: None) -> None:
        """Reads all files and writes none. Raises `ArchiveError` where one is damaged."""
        done = 0
        for name, one in self.manifest.members():
            for _ in self._checked(name, one):
                pass
            done += one.size
            read(done)

    def _write(self, path: Path, name: str, one: PackedFile) -> None:
        _make_unsynced(path.parent)
        with store_errors("write", path):
            descriptor = opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                for piece in self._checked(name, one):
                    write_whole(descriptor, piece)
            finally:
                os.close(descriptor)

    def _checked(self, name: str, one: PackedFile) -> Iterator[bytes]:
        """The pieces of a file. Raises `ArchiveError` where they are not what the manifest says."""
        digest, size = new_digest(), 0
        for piece in self._pieces(name):
            size += len(piece)
            if size > one.size:
                break
            digest.update(piece)
            yield piece
        if size != one.size or digest.hexdigest() != one.digest:
            raise ArchiveError(
                f"{self.path}: {name!r} is not what its checksum says: the archive is damaged, or "
                "was changed; nothing was written. Copy it again from where it was made."
            )

    def _pieces(self, name: str) -> Iterator[bytes]:
        with _sentences(self.path), self._zip.open(name) as source:
            while piece := source.read(_PIECE):
                yield piece

    def _check_identity(self, folder: Path, channel: PackedChannel) -> None:
        known = None
        try:
            known = identity.load(folder / CHANNELS / channel.folder)
        except PipimemError as error:
            raise ArchiveError(f"{self.path}: channel {channel.id!r}: {error}") from error
        if known is None or known.id != channel.id:
            raise ArchiveError(
                f"{self.path}: the files of channel {channel.id!r} are another's; nothing was "
                "written"
            )


def _make_unsynced(folder: Path) -> None:
    """Creates a folder, and those above it; the one wait at the end is for them, too."""
    if not presence.is_folder(folder):
        _make_unsynced(folder.parent)
        with store_errors("create", folder):
            folder.mkdir(mode=FOLDER_MODE)


@contextmanager
def opened_archive(path: Path) -> Iterator[OpenedArchive]:
    """The archive at a path. Raises `ArchiveError` for what is none of ours, or is unsound."""
    with _sentences(path):
        archive = ZipFile(path)
    with archive:
        with _sentences(path):
            manifest = _checked_manifest(archive, path.stat().st_size)
        yield OpenedArchive(path, manifest, archive)


def _checked_manifest(archive: ZipFile, packed: int) -> Manifest:
    members = {member.filename: member for member in archive.infolist()}
    if NAME not in members:
        raise ArchiveError(f"it has no {NAME}, so it is no whole `pipimem export`")
    for member in archive.infolist():
        _refuse_strange_member(member)
    if len(members) != len(archive.infolist()):
        raise ArchiveError("two of its files have the same name")
    if members[NAME].file_size > _LARGEST_MANIFEST:
        raise ArchiveError(f"its {NAME} is too large")
    manifest = read_manifest(archive.read(NAME))
    _refuse_other_contents(manifest, members)
    _refuse_bomb(manifest, packed)
    return manifest


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Makes one sentence of each way in which an archive can be broken."""
    try:
        yield
    except ArchiveError as error:
        raise ArchiveError(f"{path} cannot be taken in: {error}; nothing was written") from error
    except _BROKEN as error:
        raise ArchiveError(
            f"{path} is damaged or cut short ({error}); nothing was written. Copy it again from "
            "where it was made."
        ) from error
    except OSError as error:
        reason = error.strerror or error
        raise ArchiveError(f"{path} cannot be read: {reason}") from error


def _refuse_strange_member(member: ZipInfo) -> None:
    mode = member.external_attr >> 16
    if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
        raise ArchiveError(f"{member.filename!r} is a link or a folder, not a file")
    if member.flag_bits & _ENCRYPTED:
        raise ArchiveError(f"{member.filename!r} is encrypted")


def _refuse_other_contents(manifest: Manifest, members: dict[str, ZipInfo]) -> None:
    """Raises `ArchiveError` unless it holds what the manifest says, neither more nor less."""
    said = dict(manifest.members())
    missing = sorted(said.keys() - members.keys())
    more = sorted(members.keys() - said.keys() - {NAME})
    if missing:
        raise ArchiveError(f"{missing[0]!r} is missing")
    if more:
        raise ArchiveError(f"it holds {more[0]!r}, of which its {NAME} says nothing")
    for name, one in said.items():
        if members[name].file_size != one.size:
            raise ArchiveError(f"{name!r} has not the size that its {NAME} says")


def _refuse_bomb(manifest: Manifest, packed: int) -> None:
    if manifest.size > max(_FLOOR, packed * _MOST_SHRUNK):
        times = manifest.size // max(1, packed)
        raise ArchiveError(
            f"it would unpack to {times:,} times its size, as no export of ours does"
        )


def _refuse_without_room(path: Path, size: int, folder: Path) -> None:
    make_folder(folder)
    with store_errors("use", folder):
        free = shutil.disk_usage(folder).free
    if size > free:
        raise ArchiveError(
            f"{path} needs {size / 1e6:,.0f} MB and {free / 1e6:,.0f} MB are free; nothing was "
            "written"
        )


def digest_of(path: Path) -> str:
    """The checksum of a file as a manifest has it; empty where there is none."""
    digest = new_digest()
    with store_errors("read", path):
        try:
            descriptor = opened(path)
        except FileNotFoundError:
            return ""
        with os.fdopen(descriptor, "rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    return digest.hexdigest()
