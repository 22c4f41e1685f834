"""Channels that were made ready beside a workspace's own, moved in whole."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from pathlib import Path

from pipimem import resources
from pipimem.errors import ArchiveError, LockTimeout, StoreError
from pipimem.state.channel_state import SCHEMA
from pipimem.state.sqlite import SqliteDatabase
from pipimem.store.disk import presence
from pipimem.store.disk.exchange import put_new
from pipimem.store.disk.folder_lock import FolderLock
from pipimem.store.disk.syscalls import make_folder, read_if_there, store_errors, sync_folder
from pipimem.store.transfer.manifest import (
    CHANNELS,
    SHARED,
    STATE_PATH,
    PackedChannel,
    PackedFile,
    new_digest,
)
from pipimem.store.transfer.unpacking import digest_of
from pipimem.store.workspace import WorkspaceStore

_INCOMING = "incoming"
_LANGUAGES = ("en", "zh")


@contextmanager
def incoming(workspace: WorkspaceStore) -> Iterator[Path]:
    """A folder on the workspace's disk in which an import is made ready; gone at the end.

    One import at a time: what a killed one left there is removed. Raises `StoreError` while
    another is under way.
    """
    own = workspace.root / ".pipimem"
    make_folder(own)
    folder = own / _INCOMING
    try:
        with FolderLock(own / "import.lock").held():
            _clear(folder)
            make_folder(folder)
            try:
                yield folder
            finally:
                _clear(folder)
    except LockTimeout as error:
        if presence.exists(folder):
            raise StoreError(
                f"{workspace.root}: another import is under way. Try again when it has ended."
            ) from error
        raise


def _clear(folder: Path) -> None:
    with store_errors("remove", folder):
        if presence.is_folder(folder) and not presence.is_link(folder):
            shutil.rmtree(folder)


def differing(workspace: WorkspaceStore, channel: PackedChannel) -> str:
    """The first file of an archive's channel that is another in the workspace; empty for none."""
    folder = workspace.channels_folder / channel.folder
    for one in channel.files:
        if one.path == STATE_PATH:
            digest = new_digest()
            digest.update(SqliteDatabase(folder / one.path, SCHEMA, channel.id).contents())
            is_same = digest.hexdigest() == one.digest
        else:
            is_same = digest_of(folder / one.path) == one.digest
        if not is_same:
            return one.path
    return ""


def is_there(workspace: WorkspaceStore, folder: str) -> bool:
    """Whether something has the name of a channel's folder."""
    return os.path.lexists(workspace.channels_folder / folder)


def move_in(workspace: WorkspaceStore, ready: Path, folders: Sequence[str]) -> None:
    """Renames channels' folders into the workspace; each is there whole, or not at all.

    Raises `ArchiveError` where somebody made one of them meanwhile.
    """
    make_folder(workspace.channels_folder)
    for name in folders:
        target = workspace.channels_folder / name
        with store_errors("create", target):
            try:
                (ready / CHANNELS / name).rename(target)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
                raise ArchiveError(
                    f"{target} was made by somebody else meanwhile; it was left as it is. The "
                    "same command again says what is still missing."
                ) from error
    sync_folder(workspace.channels_folder)


def move_in_shared(
    workspace: WorkspaceStore, ready: Path, files: Sequence[PackedFile]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Puts files that belong to no channel where there are none yet, or the untouched template.

    Returns the names of those it put, and of those it left because the workspace has its own.
    """
    templates = {one for language in _LANGUAGES for one in resources.template(language)}
    counted = _counted(workspace)
    put, left = [], []
    for one in files:
        target = workspace.root / one.path
        staged = ready / SHARED / one.path
        if not presence.is_link(target) and digest_of(target) == one.digest:
            continue
        if one.path not in counted and _may_be_put(target, templates):
            make_folder(target.parent)
            with store_errors("write", target):
                _put(staged, target)
            put.append(one.path)
        else:
            left.append(one.path)
    for folder in {(workspace.root / name).parent for name in put}:
        sync_folder(folder)
    return tuple(put), tuple(left)


def _counted(workspace: WorkspaceStore) -> set[str]:
    """Return the files of usage for whose months the workspace has calls.

    Calls are added to those that are there: what was moved in before would count twice.
    """
    return {f".pipimem/usage-{usage.time[:7]}.jsonl" for usage in workspace.usages()}


def _may_be_put(target: Path, templates: Set[tuple[str, bytes]]) -> bool:
    """Whether nothing lies there, or the template that `init` put and nobody has touched."""
    if not os.path.lexists(target):
        return True
    if presence.is_link(target) or not os.access(target, os.W_OK):
        return False
    return (target.name, read_if_there(target) or b"") in templates


def _put(staged: Path, target: Path) -> None:
    if presence.exists(target):
        staged.replace(target)
    else:
        put_new(staged, target)
