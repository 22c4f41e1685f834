"""The names of the public API that the tests of promises use.

When a public name changes, edit this file and leave the tests alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from pipimem import (
    Bullet,
    Channel,
    ChannelHistory,
    Consolidate,
    Consolidated,
    EntryPlace,
    File,
    Fold,
    Folded,
    Kind,
    Learned,
    MaintenanceSettings,
    Merge,
    Message,
    NoteFiles,
    Over,
    Pipimem,
    RecallSettings,
    Refresh,
    Refreshed,
    Reword,
    SecretSettings,
    Settings,
    Tidied,
    Tidy,
    TranscriptPages,
    Trust,
    Turn,
)
from pipimem.cli.commands import pipimem as commands
from pipimem.errors import (
    AnswerRefused,
    ArgumentError,
    CannotTakeBack,
    ModelUnavailable,
    NothingFound,
    PipimemError,
    StoreError,
)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


__all__ = [
    "AnswerRefused",
    "ArgumentError",
    "Bullet",
    "CannotTakeBack",
    "Channel",
    "ChannelHistory",
    "Consolidate",
    "Consolidated",
    "EntryPlace",
    "File",
    "Fold",
    "Folded",
    "Kind",
    "Learned",
    "MaintenanceSettings",
    "Merge",
    "Message",
    "ModelUnavailable",
    "NoteFiles",
    "NothingFound",
    "Over",
    "Pipimem",
    "PipimemError",
    "Ran",
    "RecallSettings",
    "Refresh",
    "Refreshed",
    "Reword",
    "SecretSettings",
    "Settings",
    "StoreError",
    "Tidied",
    "Tidy",
    "TranscriptPages",
    "Trust",
    "Turn",
    "before_turn",
    "call_tool",
    "command_line",
    "command_process",
    "detail",
    "diff",
    "entries",
    "folder_of",
    "folders_by_channel",
    "forget",
    "log",
    "maintain",
    "note",
    "remember",
    "restore",
    "retract",
    "save_file",
    "search",
    "take_in",
    "take_out",
    "texts",
    "timeline",
    "undo",
    "update",
    "view_file",
]


def folder_of(workspace: Path, channel: str) -> Path:
    """Return the folder of a channel whose id is plain."""
    return workspace / "channels" / channel


def folders_by_channel(workspace: Path) -> dict[str, str]:
    """Return the ids of the channels on disk by the names of their folders."""
    listed = command_line(workspace, "channels", "--json")
    lines = [json.loads(line) for line in listed.stdout.splitlines()]
    return {Path(line["folder"]).name: line["id"] for line in lines}


def note(workspace: Path, channel: str, name: str = "MEMORY.md") -> str:
    """Return the text of a note as it is on disk, `""` if there is none."""
    path = folder_of(workspace, channel) / name
    return path.read_bytes().decode() if path.exists() else ""


async def before_turn(
    channel: Channel, text: str, *, speaker: str = "", sees_nothing: bool = False, **options: Any
) -> Turn:
    """Ask for a turn's context; `sees_nothing` if the model sees no message of this session."""
    if sees_nothing:
        return await channel.before_turn(text, speaker=speaker, sees_from=None, **options)
    return await channel.before_turn(text, speaker=speaker, **options)


async def take_in(channel: Channel, messages: Iterable[Message]) -> tuple[Message, ...]:
    """Append messages to the transcript; returns those that were new."""
    return await channel.take_in(messages)


async def retract(channel: Channel, message: str) -> bool:
    """Take a message back that its sender deleted on the platform."""
    return await channel.retract(message)


async def search(channel: Channel, query: str, **options: Any) -> tuple[Any, ...]:
    """Search notes and transcript; each hit has `.item` with `id` and `content`."""
    return await channel.search(query, **options)


async def timeline(channel: Channel, message: str) -> tuple[Any, ...]:
    """Return the messages around one message."""
    return await channel.timeline(message)


async def detail(channel: Channel, *messages: str) -> tuple[Any, ...]:
    """Return whole messages by their ids."""
    return await channel.detail(*messages)


async def entries(channel: Channel) -> tuple[Any, ...]:
    """Return the entries of MEMORY.md."""
    return await channel.entries()


async def remember(
    channel: Channel,
    text: str,
    *,
    kind: Kind = Kind.FACT,
    speaker: str = "",
    until: date | None = None,
    supersedes: Sequence[str] = (),
) -> Any:
    """Add an entry word for word."""
    return await channel.remember(
        text, kind=kind, speaker=speaker, until=until, supersedes=supersedes
    )


async def update(channel: Channel, entry: str, text: str) -> Any:
    """Replace the text of an entry."""
    return await channel.update(entry, text)


async def take_out(channel: Channel, *ids: str) -> Any:
    """Remove entries so that an undo brings them back."""
    return await channel.take_out(*ids)


async def forget(
    channel: Channel,
    text: str | Sequence[str] = (),
    *,
    speaker: str = "",
    message: str = "",
    keep_transcript: bool = False,
) -> dict[str, int]:
    """Remove a text, entries by id, all words of a speaker, or a message, for good."""
    return await channel.forget(
        text, speaker=speaker, message=message, keep_transcript=keep_transcript
    )


async def log(channel: Channel, count: int = 20) -> tuple[Any, ...]:
    """Return the newest changes; each has a `number`."""
    return await channel.history.log(count)


async def diff(channel: Channel, since: int) -> Any:
    """Return what changed since a change."""
    return await channel.history.diff(since)


async def undo(channel: Channel, number: int | None = None) -> Any:
    """Take a change back, by default the newest."""
    return await channel.history.undo(number)


async def restore(channel: Channel, number: int) -> Any:
    """Bring the notes back as they were after a change."""
    return await channel.history.restore(number)


async def view_file(channel: Channel, file: File) -> Any:
    """Return a whole note as the web view shows it; has `.text` and `.etag`."""
    return await channel.files.view(file)


async def save_file(channel: Channel, file: File, draft: str, base: Any) -> Any:
    """Save a whole note as the web view does; `base` is what `view_file` returned."""
    return await channel.files.save(file, draft, base=base.text, etag=base.etag)


async def texts(channel: Channel) -> dict[File, str]:
    """Return the three notes as they are now."""
    return await channel.history.texts()


async def call_tool(channel: Channel, name: str, **arguments: Any) -> str:
    """Carry out a call of a tool as the bot's model makes it; returns the text of the result."""
    return (await channel.call_tool(name, arguments)).text


async def maintain(channel: Any) -> list[Any]:
    """Do the idle jobs now, as `pipimem maintain` does; each job has `.task`, `.ran`, `.reason`."""
    return list(await channel.maintain(forced=True))


def command_line(workspace: Path, *arguments: str, **environment: str) -> Ran:
    """Run `pipimem --workspace DIR ARGUMENTS` in this process, offline by default."""
    variables = {"PIPIMEM_MODEL": "offline", **environment}
    line = ["--workspace", str(workspace), *arguments]
    with ThreadPoolExecutor(1) as thread:  # a command has an event loop of its own
        ran = thread.submit(CliRunner().invoke, commands, line, env=variables).result()
    return Ran(ran.exit_code, ran.stdout, ran.stderr)


def command_process(workspace: Path, *arguments: str, **environment: str) -> Ran:
    """Run `pipimem --workspace DIR ARGUMENTS` in a process of its own, offline by default."""
    ran = subprocess.run(
        [sys.executable, "-m", "pipimem", "--workspace", str(workspace), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PIPIMEM_MODEL": "offline", **environment},
        timeout=120,
        check=False,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)
