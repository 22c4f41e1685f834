"""The root folder of one bot: its channels, what all of them share, and what models cost it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from pathlib import Path

from pipimem import assets
from pipimem.errors import ChannelError, StoreError, WorkspaceError
from pipimem.notes.usage import Usage
from pipimem.store import identity, jsonlines
from pipimem.store.disk import BINARY, CLOSE_ON_EXEC, FILE_MODE, NO_FOLLOW, make_folder, told, write_whole
from pipimem.store.files import read_text
from pipimem.store.names import folder_name, is_plain

_SIGNS = ("pipimem.toml", "channels", ".pipimem")
_USAGE = "usage-*.jsonl"


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
        if not root.is_dir():
            raise WorkspaceError(f"{root} is not there. Create a workspace with `pipimem init {root}`.")
        if not any((root / sign).exists() for sign in _SIGNS):
            raise WorkspaceError(
                f"{root} is not a workspace: it has neither pipimem.toml nor channels/. "
                f"Make it one with `pipimem init {root}`, or name another with --workspace."
            )
        return cls(root)

    @classmethod
    def init(cls, root: Path) -> tuple[Path, ...]:
        """Fills a folder from the template; what is there already stays. The answer is what was created."""
        if root.exists() and not root.is_dir():
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
        return tuple(sorted((found for path in folders if (found := _info(path))), key=lambda info: info.id))

    def channel_in(self, folder: str) -> ChannelInfo | None:
        """The channel in a folder below `channels/`, `None` for one that is none or whose `channel.json` is damaged."""
        path = self.channels_folder / folder
        return _info(path) if path.is_dir() else None

    @property
    def channels_folder(self) -> Path:
        """Where the folders of the channels lie."""
        return self.root / "channels"

    def settings_text(self) -> str:
        """`pipimem.toml`, empty where there is none."""
        return self.human_text("pipimem.toml")

    def human_text(self, name: str) -> str:
        """A file of people's at the root, such as `SOUL.md` or `words.txt`; empty where there is none."""
        return read_text(self.root / name, self.root) or ""

    def append_usage(self, usage: Usage) -> None:
        """Adds one call of a model to its month: one write, whole also beside other processes'.

        Not synced.
        """
        path = self._own / f"usage-{usage.time[:7] or 'unknown'}.jsonl"
        make_folder(self._own)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_FOLLOW | CLOSE_ON_EXEC | BINARY
        with told("write", path):
            descriptor = os.open(path, flags, FILE_MODE)
            try:
                write_whole(descriptor, jsonlines.line(asdict(usage)))
            finally:
                os.close(descriptor)

    def usages(self, since: datetime | None = None) -> Iterator[Usage]:
        """The calls of models since a time, oldest first; a line that is none is passed over."""
        for path in sorted(self._own.glob(_USAGE)):
            # Months are named in the local time of the call: a day of grace for those east and west of here.
            if since is None or path.stem[len("usage-") :] >= f"{since - timedelta(days=1):%Y-%m}":
                for data in jsonlines.lines(path):
                    usage = _usage(jsonlines.value(data))
                    if usage is not None and (since is None or _at_or_after(usage.time, since)):
                        yield usage

    @property
    def _own(self) -> Path:
        return self.root / ".pipimem"


def _written_new(path: Path, content: bytes) -> bool:
    """Writes a file that must not be there yet; whether it was."""
    with told("write", path):
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | BINARY, FILE_MODE)
        except FileExistsError:
            return False
        try:
            write_whole(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return True


def _info(folder: Path) -> ChannelInfo | None:
    try:
        known = identity.load(folder / ".pipimem" / "channel.json")
    except (ChannelError, StoreError):  # opening it tells what is wrong; a listing goes on
        return None
    if known is not None:
        return ChannelInfo(known.id, folder, known.kind, known.title)
    return ChannelInfo(folder.name, folder, "dm", "") if is_plain(folder.name) else None


def _usage(value: dict[str, object] | None) -> Usage | None:
    if value is None:
        return None
    try:
        usage = Usage(**{field.name: value[field.name] for field in fields(Usage) if field.name in value})  # type: ignore[arg-type]
    except TypeError:
        return None
    numbers = (usage.tokens_in, usage.tokens_out, usage.tokens_cached, usage.latency)
    fits = isinstance(usage.time, str) and all(isinstance(number, int | float) for number in numbers)
    return usage if fits and isinstance(usage.cost, int | float | None) else None


def _at_or_after(time: str, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(time).astimezone() >= since.astimezone()
    except ValueError:
        return False
