"""The root folder of one bot: its channels, the files that all of them share, and its usage."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pipimem import resources
from pipimem.errors import ChannelError, StoreError, UnreadableNote, WorkspaceError
from pipimem.notes.usage import Usage
from pipimem.settings import FleetSettings, Settings, settings_from
from pipimem.state.channel_state import SCHEMA
from pipimem.state.rows import StoredDatabase
from pipimem.state.schedule import Problem
from pipimem.state.sqlite import SqliteDatabase
from pipimem.store import identity
from pipimem.store.caches import stamped
from pipimem.store.disk import presence
from pipimem.store.disk.appended_files import append_synced
from pipimem.store.disk.exchange import put_new
from pipimem.store.disk.files import (
    leads_to_another_channel,
    prepare,
    read_text,
    real_path,
    remove,
    resolved,
    temporary_for,
)
from pipimem.store.disk.folder_lock import FolderLock, MakeLock
from pipimem.store.disk.folder_names import folder_name, is_plain
from pipimem.store.disk.syscalls import make_folder, store_errors, sync_folder
from pipimem.store.identity import Identity
from pipimem.store.job_failures import Problems
from pipimem.store.transcript.log import LOCK
from pipimem.store.usage_ledger import UsageStore
from pipimem.store.workspace_state import WorkspaceState

if TYPE_CHECKING:
    from pipimem.state.postgres import PostgresDatabase
    from pipimem.store.fleet.fleet_lock import Fleet
    from pipimem.store.transcript.spool import TalkSpool

_SIGNS = ("pipimem.toml", "channels", ".pipimem")
WORDS = "words.txt"
REQUIRED = "recall.must"
USER_FILES = ("SOUL.md", "AGENTS.md", "MEMORY.md", WORDS, REQUIRED)
"""Files at the root that only people write."""
# Channels that are being deleted.
_DOOMED = "removed"


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """A channel as listings show it; the id is the true one."""

    id: str
    folder: Path
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class WorkspaceStore:
    """A workspace; SOUL, AGENTS and MEMORY at its root are written by people, and `init`."""

    root: Path
    # The hosts that share it; `None` on one host.
    fleet: Fleet | None = field(default=None, compare=False, repr=False)

    @classmethod
    def open(cls, root: Path, settings: Settings | None = None) -> WorkspaceStore:
        """The workspace in a folder, among the hosts that its `pipimem.toml`, or `settings`, says.

        Raises `WorkspaceError` where there is none.
        """
        with store_errors("open", root):
            is_there = presence.is_folder(root)
            is_one = any(presence.exists(root / sign) for sign in _SIGNS)
        if not is_there:
            raise WorkspaceError(
                f"{root} is not there. Create a workspace with `pipimem init {root}`."
            )
        if not is_one:
            raise WorkspaceError(
                f"{root} is not a workspace: it has neither pipimem.toml nor channels/. "
                f"Make it one with `pipimem init {root}`, or name another with --workspace."
            )
        fleet = settings.fleet if settings else _fleet_of(root)
        return cls(root, _joined(root, fleet) if fleet.database else None)

    @classmethod
    def init(cls, root: Path, language: str = "en") -> tuple[Path, ...]:
        """Fills a folder from the template of a language, `en` or `zh`; what is there stays.

        Returns what was created.
        """
        with store_errors("open", root):
            is_taken = presence.exists(root) and not presence.is_folder(root)
        if is_taken:
            raise WorkspaceError(f"{root} is a file. Name a folder for the workspace.")
        created = []
        make_folder(root)
        for name, content in resources.template(language):
            path = root / name
            make_folder(path.parent)
            if _written_new(path, content):
                created.append(path)
        for folder in (root / "channels", root / ".pipimem"):
            make_folder(folder)
        for folder in {path.parent for path in created}:
            sync_folder(folder)
        return tuple(created)

    @property
    def make_lock(self) -> MakeLock:
        """Makes the locks of this workspace: those of files, or between hosts."""
        return self.fleet.lock if self.fleet else FolderLock

    def spool_in(self, folder: Path) -> TalkSpool | None:
        """Where talk waits while a channel cannot be written to; `None` on one host."""
        return self.fleet.spool_in(folder) if self.fleet else None

    def database_of(self, own: Path, channel: Identity) -> StoredDatabase:
        """The database of the state of a channel whose `.pipimem/` is `own`."""
        if self.fleet is not None:
            return self.fleet.database_of(own, channel.id, channel.key)
        return SqliteDatabase(own / "state.db", SCHEMA, channel.id)

    @property
    def revalidate(self) -> Callable[[Path], None] | None:
        """Has the file system look anew at what other hosts wrote in a folder; `None` on one."""
        return self.fleet.revalidate if self.fleet else None

    def folder_of(self, channel_id: str) -> Path:
        """Where the folder of a channel is, or would be."""
        return self.channels_folder / folder_name(channel_id)

    def channels(self) -> tuple[ChannelInfo, ...]:
        """The channels, by id.

        A plain folder that people made counts, one with a damaged `channel.json` does not.
        """
        top = self.channels_folder
        with store_errors("read", top):
            folders = list(top.iterdir()) if presence.is_folder(top) else []
            found = [self._info(path) for path in folders if presence.is_folder(path)]
        return tuple(sorted(filter(None, found), key=lambda info: info.id))

    def channel_in(self, folder: str) -> ChannelInfo | None:
        """The channel in a folder below `channels/`; `None` for none, or a damaged one."""
        path = self.channels_folder / folder
        with store_errors("read", path):
            return self._info(path) if presence.is_folder(path) else None

    def remove(self, channel: ChannelInfo) -> None:
        """Deletes a channel with all that is kept of it; the ledger of costs keeps its lines.

        It is gone at once or not at all: `finish_removals` deletes what a crash left of it.
        Raises `StoreError`.
        """
        folder, doomed = self.channels_folder / channel.folder.name, self._own / _DOOMED
        if presence.is_link(folder):
            raise StoreError(f"{folder} is a link: take it away by hand, and what it leads to.")
        make_folder(doomed)
        with store_errors("remove", folder):
            own = folder / ".pipimem"
            lock = self.make_lock(own / "lock")
            with ExitStack() as held:
                if presence.is_folder(own):
                    held.enter_context(lock.held())
                    if self.fleet is None:
                        held.enter_context(self.make_lock(own / LOCK).held())
                lock.check()
                self._drop_rows(own)
                folder.rename(doomed / f"{folder.name}-{time.time_ns()}")
            sync_folder(folder.parent)
        self.finish_removals()
        for problem in self.problems.all():
            if problem.channel == folder.name:
                self.problems.remove(problem.job, problem.channel)

    def _drop_rows(self, own: Path) -> None:
        """Remove what the database of a fleet has of a channel, whose lock is held."""
        if self.fleet is None:
            return
        known = identity.load(own.parent)
        if known is not None:
            self.fleet.database_of(own, known.id, known.key).remove_rows()

    def leave_fleet(self) -> int:
        """Write what the database of a fleet has of each channel into a `state.db` beside it.

        The rows are removed then. Returns how many channels there were. No other host may be
        running. Raises `StoreError`.
        """
        fleet, count = self.fleet, 0
        if fleet is None:
            return count
        for info in self.channels():
            own, known = info.folder / ".pipimem", identity.load(info.folder)
            if known is None:
                continue
            with self.make_lock(own / "lock").held(), store_errors("write", own):
                _move_rows(fleet.database_of(own, known.id, known.key), own)
            count += 1
        with store_errors("write", self._own):
            _move_rows(fleet.workspace_database(), self._own)
        return count

    def removed(self) -> tuple[Path, ...]:
        """What is left of channels whose removal a crash cut off. Raises `StoreError`."""
        doomed = self._own / _DOOMED
        with store_errors("read", doomed):
            return tuple(sorted(doomed.iterdir())) if presence.is_folder(doomed) else ()

    def is_half_removed(self, channel_id: str) -> bool:
        """Whether anything is left of a channel of this id. Raises `StoreError`."""
        name = folder_name(channel_id)
        return any(path.name.rpartition("-")[0] == name for path in self.removed())

    def finish_removals(self) -> None:
        """Deletes what is left of channels that were removed. Raises `StoreError`."""
        doomed = self._own / _DOOMED
        with store_errors("remove", doomed):
            if presence.is_folder(doomed):
                shutil.rmtree(doomed)
                sync_folder(self._own)  # else a power cut brings back what was removed

    def _info(self, folder: Path) -> ChannelInfo | None:
        try:
            # Through a link to another channel's folder that channel would be listed twice. Only of
            # links are the real paths looked up: for 20,000 folders that takes a second.
            is_link = presence.is_link(folder)
            if is_link and leads_to_another_channel(folder, real_path(folder), self.root):
                return None
            known = identity.load(folder)
        except (ChannelError, StoreError, UnreadableNote):
            return None  # opening it tells what is wrong; a listing goes on
        if known is not None:
            return ChannelInfo(known.id, folder, known.kind or "group", known.title)
        if is_plain(folder.name):
            return ChannelInfo(folder.name, folder, "group", "")
        return None

    @property
    def channels_folder(self) -> Path:
        """Where the folders of the channels lie."""
        return self.root / "channels"

    def human_text(self, name: str) -> str:
        """The text of `pipimem.toml`, `words.txt` or another file at the root; empty for none."""
        return read_text(self.root / name, self.root) or ""

    def add_required_question(self, line: str) -> bool:
        """Add a line to `recall.must` for a person, unless it stands there. Raises `StoreError`."""
        text = self.human_text(REQUIRED)
        if line in (each.strip() for each in text.splitlines()):
            return False
        path = resolved(self.root / REQUIRED, self.root)
        begin = "" if not text or text.endswith("\n") else "\n"
        append_synced(path, f"{begin}{line}\n".encode())
        return True

    @property
    def state(self) -> WorkspaceState:
        """The database of the workspace."""
        if self.fleet is not None:
            return WorkspaceState(self._own, self.fleet.host, self.fleet.workspace_database())
        return WorkspaceState(self._own)

    @property
    def usage_store(self) -> UsageStore:
        """The usage ledger and the reservations."""
        return UsageStore(self.state)

    @property
    def problems(self) -> Problems:
        """The background jobs that fail, in any process."""
        return Problems(self.state)

    def failing(self) -> list[tuple[str, Problem]]:
        """The background jobs that fail, the newest first, each with its channel's id.

        Those of channels that are gone are left out. Raises `StoreError`.
        """
        found = []
        for problem in self.problems.all():
            if not problem.channel:
                found.append(("", problem))
            elif presence.is_folder(self.channels_folder / problem.channel):
                info = self.channel_in(problem.channel)
                found.append((info.id if info else problem.channel, problem))
        return found

    def kept_vectors(self, embedder: str) -> bytes:
        """The bytes that `keep_vectors` was given under the same embedder; empty if gone."""
        return stamped.load(self._own / stamped.VECTORS, embedder)

    def keep_vectors(self, embedder: str, vectors: bytes) -> None:
        """Writes the vectors of what belongs to no channel; they may be lost at any time."""
        make_folder(self._own)
        stamped.save(self._own / stamped.VECTORS, embedder, vectors)

    def usages(self, since: datetime | None = None, channel: str | None = None) -> list[Usage]:
        """Return the calls since a time, of all channels or of one, in the order they ended."""
        return self.usage_store.usages(since, channel)

    @property
    def _own(self) -> Path:
        return self.root / ".pipimem"


def _move_rows(database: PostgresDatabase, own: Path) -> None:
    """Write a database into a `state.db`, then remove its rows."""
    draft = own / "state.db.new"
    draft.unlink(missing_ok=True)
    database.copy_to(draft)
    if presence.exists(draft):
        draft.replace(own / "state.db")
        sync_folder(own)
    database.remove_rows()


def _fleet_of(root: Path) -> FleetSettings:
    text = read_text(root / "pipimem.toml", root) or ""
    # Parsed only where it may say something: most workspaces have one host, and no time to lose.
    is_named = re.search(r"^[^\S\n]*+database\s*=", text, re.MULTILINE)
    return settings_from(text).fleet if is_named else FleetSettings()


def _joined(root: Path, settings: FleetSettings) -> Fleet:
    from pipimem.store.fleet.fleet_lock import joined  # nothing of it is loaded on one host

    return joined(root, settings)


def _written_new(path: Path, content: bytes) -> bool:
    """Writes a file that must not be there yet, whole or not at all; whether it did."""
    with store_errors("write", path):
        if os.path.lexists(path):
            return False
        ready = temporary_for(path, "new")
        prepare(ready, path, content.decode())
        try:
            put_new(ready, path)
        except FileExistsError:  # somebody was faster
            remove(ready)
            return False
    return True
