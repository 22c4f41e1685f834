"""The root folder of one bot: its channels, what all of them share, and what models cost it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pipimem import assets
from pipimem.errors import ChannelError, StoreError, WorkspaceError
from pipimem.notes.usage import Usage
from pipimem.store import identity
from pipimem.store.books.books import Books
from pipimem.store.books.usage_ledger import UsageLedger
from pipimem.store.caches import stamped
from pipimem.store.disk.calls import make_folder, sync_folder, told
from pipimem.store.disk.exchanging import put_new
from pipimem.store.disk.files import prepare, read_text, remove, temporary_for
from pipimem.store.names import folder_name, is_plain
from pipimem.store.problems import Problem, Problems

_SIGNS = ("pipimem.toml", "channels", ".pipimem")
WORDS = "words.txt"
PEOPLES = ("SOUL.md", "AGENTS.md", "MEMORY.md", WORDS, "recall.must")
"""Files at the root that only people write."""


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """A channel as listings show it; the id is the true one."""

    id: str
    folder: Path
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class WorkspaceStore:
    """A workspace. SOUL, AGENTS and MEMORY at its root are people's.

    Nothing here writes them after `init`.
    """

    root: Path

    @classmethod
    def open(cls, root: Path) -> WorkspaceStore:
        """The workspace in a folder. Raises `WorkspaceError` where there is none."""
        with told("open", root):
            is_there, is_one = root.is_dir(), any((root / sign).exists() for sign in _SIGNS)
        if not is_there:
            raise WorkspaceError(
                f"{root} is not there. Create a workspace with `pipimem init {root}`."
            )
        if not is_one:
            raise WorkspaceError(
                f"{root} is not a workspace: it has neither pipimem.toml nor channels/. "
                f"Make it one with `pipimem init {root}`, or name another with --workspace."
            )
        return cls(root)

    @classmethod
    def init(cls, root: Path) -> tuple[Path, ...]:
        """Fills a folder from the template; what is there already stays. The answer is what was created."""
        with told("open", root):
            is_taken = root.exists() and not root.is_dir()
        if is_taken:
            raise WorkspaceError(f"{root} is a file. Name a folder for the workspace.")
        created = []
        make_folder(root)
        for name, content in assets.template():
            path = root / name
            make_folder(path.parent)
            if _written_new(path, content):
                created.append(path)
        for folder in (root / "channels", root / ".pipimem"):
            make_folder(folder)
        for folder in {path.parent for path in created}:
            sync_folder(folder)
        return tuple(created)

    def folder_of(self, channel_id: str) -> Path:
        """Where the folder of a channel is, or would be."""
        return self.channels_folder / folder_name(channel_id)

    def channels(self) -> tuple[ChannelInfo, ...]:
        """The channels, by id; a plain folder that people made counts, one whose `channel.json` is damaged
        does not."""
        top = self.channels_folder
        with told("read", top):
            folders = [path for path in top.iterdir() if path.is_dir()] if top.is_dir() else []
        return tuple(
            sorted((found for path in folders if (found := _info(path))), key=lambda info: info.id)
        )

    def channel_in(self, folder: str) -> ChannelInfo | None:
        """The channel in a folder below `channels/`, `None` for one that is none or whose `channel.json` is damaged."""
        path = self.channels_folder / folder
        with told("read", path):
            return _info(path) if path.is_dir() else None

    @property
    def channels_folder(self) -> Path:
        """Where the folders of the channels lie."""
        return self.root / "channels"

    def human_text(self, name: str) -> str:
        """A file of people's at the root, such as `pipimem.toml` or `words.txt`; empty where there is none."""
        return read_text(self.root / name, self.root) or ""

    @property
    def books(self) -> Books:
        """What models used, and what they are using now."""
        return Books(self._own)

    @property
    def problems(self) -> Problems:
        """What fails in the background, in whichever process."""
        return Problems(self._own / "problems")

    def failing(self) -> tuple[Problem, ...]:
        """The background jobs that fail, the newest first, with true ids of channels; those of gone channels left out.

        Raises `StoreError`.
        """
        found = []
        for problem in self.problems.all():
            info = self.channel_in(problem.channel) if problem.channel else None
            if info is not None:
                found.append(replace(problem, channel=info.id))
            elif not problem.channel or (self.channels_folder / problem.channel).is_dir():
                found.append(problem)
        return tuple(found)

    def kept_vectors(self, embedder: str) -> bytes:
        """What `keep_vectors` was given under the same embedder, empty where that is gone."""
        return stamped.load(self._own / stamped.VECTORS, stamped.stamp_of(embedder))

    def keep_vectors(self, embedder: str, vectors: bytes) -> None:
        """Keeps the vectors of what belongs to no channel; they may be lost at any time."""
        make_folder(self._own)
        stamped.save(self._own / stamped.VECTORS, stamped.stamp_of(embedder), vectors)

    def usages(self, since: datetime | None = None) -> Iterator[Usage]:
        """The calls of models since a time, oldest first; a line that is none is passed over."""
        return (usage for usage in self.usage_lines(since) if usage is not None)

    def usage_lines(self, since: datetime | None = None) -> Iterator[Usage | None]:
        """The same, with `None` for each damaged line of these months."""
        return UsageLedger(self._own).lines(since)

    @property
    def _own(self) -> Path:
        return self.root / ".pipimem"


def _written_new(path: Path, content: bytes) -> bool:
    """Writes a file that must not be there yet, whole or not at all; whether it was written."""
    with told("write", path):
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


def _info(folder: Path) -> ChannelInfo | None:
    try:
        known = identity.load(folder / ".pipimem" / "channel.json")
    except (ChannelError, StoreError):  # opening it tells what is wrong; a listing goes on
        return None
    if known is not None:
        return ChannelInfo(known.id, folder, known.kind, known.title)
    return ChannelInfo(folder.name, folder, "dm", "") if is_plain(folder.name) else None
