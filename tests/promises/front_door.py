"""The names of the public API that the tests of promises use.

When a public name changes, edit this file and leave the tests alone.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from datetime import date
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pipimem import (
    Author,
    By,
    ById,
    Channel,
    ChannelHistory,
    ChannelNotes,
    ChannelTalk,
    Clock,
    File,
    Kind,
    Message,
    Pipimem,
    Receipt,
    Settings,
    Text,
    Trust,
    Turn,
    Visible,
)
from pipimem.assistant import (
    Assistant,
    Call,
    Consolidate,
    Consolidated,
    Fold,
    Folded,
    HistoryItem,
    Learned,
    Merge,
    Outdated,
    Refresh,
    Refreshed,
    Reword,
    Tidied,
    Tidy,
)
from pipimem.errors import (
    ArgumentError,
    CannotTakeBack,
    ModelUnavailable,
    NothingFound,
    PipimemError,
    StoreError,
)
from pipimem.results import EntryPlace
from pipimem.settings import MaintenanceSettings, RecallSettings, SecretSettings
from pipimem.testing import FixedClock, ScriptedAssistant

from tests.promises.processes import Ended

__all__ = [
    "ArgumentError",
    "Assistant",
    "Author",
    "ById",
    "CannotTakeBack",
    "Channel",
    "ChannelHistory",
    "ChannelNotes",
    "ChannelTalk",
    "Clock",
    "Consolidate",
    "Consolidated",
    "EntryPlace",
    "File",
    "FixedClock",
    "Fold",
    "Folded",
    "HistoryItem",
    "Kind",
    "Learned",
    "MaintenanceSettings",
    "Merge",
    "Message",
    "ModelUnavailable",
    "NothingFound",
    "Outdated",
    "Pipimem",
    "PipimemError",
    "RecallSettings",
    "Receipt",
    "Refresh",
    "Refreshed",
    "Reword",
    "ScriptedAssistant",
    "SecretSettings",
    "Settings",
    "StoreError",
    "Text",
    "Tidied",
    "Tidy",
    "Trust",
    "Turn",
    "after_turn",
    "before_compaction",
    "before_turn",
    "busy",
    "call_tool",
    "command_line",
    "compacted",
    "detail",
    "diff",
    "entries",
    "folder_of",
    "folders_by_channel",
    "forget",
    "forget_preview",
    "log",
    "maintain",
    "model_that_answers",
    "note",
    "quiet",
    "remember",
    "restore",
    "retract",
    "run_command",
    "save_entry",
    "save_file",
    "search",
    "take_in",
    "take_out",
    "take_out_shown",
    "texts",
    "timeline",
    "transcript",
    "undo",
    "update",
    "view_file",
]


def folder_of(workspace: Path, channel: str) -> Path:
    """Return the folder of a channel whose id is plain."""
    return workspace / "channels" / channel


def note(workspace: Path, channel: str, name: str = "MEMORY.md") -> str:
    """Return the text of a note as it is on disk, `""` if there is none."""
    path = folder_of(workspace, channel) / name
    return path.read_bytes().decode(errors="replace") if path.exists() else ""


async def before_turn(
    channel: Channel, text: str, *, speaker: str = "", sees_nothing: bool = False, **options: Any
) -> Turn:
    """Ask for a turn's context; `sees_nothing` if the model sees no message of this session."""
    if sees_nothing:
        return await channel.before_turn(text, speaker=speaker, visible=Visible.NOTHING, **options)
    return await channel.before_turn(text, speaker=speaker, **options)


async def take_in(channel: Channel, messages: Iterable[Message]) -> tuple[Message, ...]:
    """Append messages to the transcript; returns those that were new."""
    return await channel.talk.append(messages)


async def retract(channel: Channel, message: str) -> bool:
    """Take a message back that its sender deleted on the platform."""
    return await channel.talk.retract(message)


async def search(channel: Channel, query: str, **options: Any) -> tuple[Any, ...]:
    """Search notes and transcript; each hit has `.item` with `id` and `text`."""
    return await channel.talk.search(query, **options)


async def timeline(channel: Channel, message: str) -> tuple[Any, ...]:
    """Return the messages around one message."""
    return await channel.talk.timeline(message)


async def detail(channel: Channel, *messages: str) -> tuple[Any, ...]:
    """Return whole messages by their ids."""
    return await channel.talk.detail(*messages)


async def entries(channel: Channel) -> tuple[Any, ...]:
    """Return the entries of MEMORY.md."""
    return await channel.notes.entries()


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
    return await channel.notes.remember(
        text, kind=kind, speaker=speaker, until=until, supersedes=supersedes
    )


async def update(channel: Channel, entry: str, text: str) -> Any:
    """Replace the text of an entry."""
    return await channel.notes.update(entry, text)


async def take_out(channel: Channel, *ids: str) -> Any:
    """Remove entries so that an undo brings them back."""
    return await channel.notes.take_out(*ids)


async def forget(
    channel: Channel,
    text: str | Sequence[str] = (),
    *,
    speaker: str = "",
    message: str = "",
    keep_transcript: bool = False,
) -> dict[str, int]:
    """Remove a text, entries by id, all words of a speaker, or a message, for good."""
    what = _what(text, speaker, message)
    return await channel.notes.forget(what, keep_transcript=keep_transcript)


def _what(text: str | Sequence[str], speaker: str = "", message: str = "") -> Any:
    """The value that names what is to be forgotten."""
    if isinstance(text, str) and text:
        return By(speaker, text) if speaker else Text(text)
    named: list[By | ById] = [ById(name) for name in text]
    if message:
        named.append(ById(f"log:{message.removeprefix('log:')}"))
    return [*named, By(speaker)] if speaker else named


async def forget_preview(channel: Channel, text: str | Sequence[str]) -> Any:
    """Return what a forget of a text would remove."""
    return await channel.notes.preview_forget(_what(text))


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
    return await channel.notes.view(file)


async def save_file(channel: Channel, file: File, draft: str, base: Any) -> Any:
    """Save a whole note as the web view does; `base` is what `view_file` returned."""
    return await channel.notes.save(file, draft, base=base.text, etag=base.etag)


async def save_entry(channel: Channel, file: File, block: Any, words: str) -> Any:
    """Give an entry other words as the web view does; `block` is one of `view_file(...).blocks`."""
    return await channel.notes.save_entry(_place(file, block), words)


async def take_out_shown(channel: Channel, file: File, block: Any) -> Any:
    """Remove an entry of any note as the web view does."""
    return await channel.notes.remove_entry(_place(file, block))


async def pin(channel: Channel, file: File, block: Any, *, pinned: bool) -> Any:
    """Pin an entry of a note as the web view does, or take its pin away."""
    return await channel.notes.pin(_place(file, block), pinned=pinned)


def _place(file: File, block: Any) -> EntryPlace:
    return EntryPlace(file, block.section, block.entry.id, block.source)


class _ModelThatAnswers:
    """An assistant whose answer says the same text in each of its fields."""

    name = "test"
    paid = True

    def __init__(self, text: str, sources: tuple[str, ...]) -> None:
        self.text = text
        self.sources = sources

    async def answer(self, task: Any, call: Call) -> Any:
        """Answer a consolidation; other tasks have no answer."""
        if not isinstance(task, Consolidate):
            raise PipimemError(f"no answer for {call.channel}")
        learned = Learned(Kind.FACT, self.text, self.sources, speaker="Ann")
        bullet = HistoryItem(self.text, self.sources)
        return Consolidated(
            (learned,), title=self.text, history=(bullet,), sheet={"Current State": (self.text,)}
        )


def model_that_answers(text: str, sources: tuple[str, ...]) -> Assistant:
    """Return a model that learns a text from these messages, and tells it in the history."""
    return _ModelThatAnswers(text, sources)


async def after_turn(channel: Channel, turn: Turn | None, messages: Sequence[Message]) -> None:
    """Store the messages of a turn."""
    await channel.after_turn(turn, messages)


async def before_compaction(
    channel: Channel, messages: Sequence[Message] = (), *, deadline: float | None = None
) -> Receipt:
    """Store and consolidate everything before the host drops messages; has `.may_compact`."""
    return await channel.before_compaction(messages, deadline=deadline)


async def compacted(channel: Channel, receipt: Receipt) -> None:
    """Begin a new epoch."""
    await channel.compacted(receipt)


def busy(root: Path, *, idle_seconds: float, model: str = "offline") -> Pipimem:
    """Return a workspace whose idle work begins after some seconds."""
    return Pipimem(
        root, model, settings=Settings(maintenance=MaintenanceSettings(idle_seconds=idle_seconds))
    )


def quiet(root: Path, model: str = "offline", **options: Any) -> Pipimem:
    """Return a workspace that is opened without idle work."""
    settings = Settings(maintenance=MaintenanceSettings(enabled=False))
    return Pipimem(root, model, settings=settings, **options)


async def texts(channel: Channel, number: int | None = None) -> dict[str, str]:
    """Return the notes by file name: as they are, or as they were right after a change."""
    return {str(file): text for file, text in (await channel.history.texts(number)).items()}


async def transcript(channel: Channel) -> tuple[Message, ...]:
    """Return all messages of a transcript of less than 10,000."""
    return (await channel.talk.page(count=10_000)).messages


def command_line(*arguments: str | Path) -> tuple[int, str, str]:
    """Run the installed command `pipimem` in this process; returns its code, output and errors.

    It runs an event loop of its own: in an async function call it in a thread.
    """
    (command,) = entry_points(group="console_scripts", name="pipimem")
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    code: object = 0
    with (
        patch.object(sys, "argv", ["pipimem", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            command.load()()
        except SystemExit as ended:
            code = ended.code
    for stream in (out, err):
        stream.seek(0)
    return code if isinstance(code, int) else int(code is not None), out.read(), err.read()


def folders_by_channel(workspace: Path) -> dict[str, str]:
    """Return the ids of the channels on disk by the names of their folders."""
    listed = run_command(workspace, "channels", "--json")
    lines = [json.loads(line) for line in listed.output.splitlines()]
    return {Path(line["folder"]).name: line["id"] for line in lines}


async def call_tool(channel: Channel, name: str, **arguments: Any) -> str:
    """Carry out a call of a tool as the bot's model makes it; returns the text of the result."""
    return (await channel.call_tool(name, arguments)).text


async def maintain(channel: Any) -> list[Any]:
    """Do the idle jobs now, as `pipimem maintain` does; each job has `.task`, `.ran`, `.reason`."""
    return list(await channel.maintain(forced=True))


def run_command(workspace: Path, *arguments: str, **environment: str) -> Ended:
    """Run `pipimem --workspace DIR ARGUMENTS` in this process, offline by default.

    It runs in a thread, so that an async test may call it. `processes.command` is slower and runs
    the command in a process of its own.
    """
    variables = {"PIPIMEM_MODEL": "offline", **environment}
    with patch.dict(os.environ, variables), ThreadPoolExecutor(1) as thread:
        return Ended(*thread.submit(command_line, "--workspace", workspace, *arguments).result())
