"""The public calls that are timed, and what lies there before each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from pipimem import Channel, Message
from pipimem.notes.files import File

from benchmarks.commands import ran
from benchmarks.faults.journeys import CHANNEL, runtime

_QUESTION = "when does the release window open? 发布窗口"


@dataclass(frozen=True, slots=True)
class Situation:
    """A workspace, an open channel in it, and the text."""

    root: Path
    channel: Channel
    text: str

    @property
    def memory(self) -> Path:
        """The file that people edit most."""
        return self.root / "channels" / CHANNEL / File.MEMORY


Step = Callable[[Situation], Awaitable[object]]


async def nothing(_: Situation) -> None:
    """Nothing has to be there."""


@dataclass(frozen=True, slots=True)
class Call:
    """`act` is timed, `before` is not; a command holds no event loop."""

    act: Step
    before: Step = nothing
    is_command: bool = False


def _command(*arguments: str) -> Step:
    async def run(situation: Situation) -> None:
        ran(situation.root, *(situation.text if each == "TEXT" else each for each in arguments))

    return run


async def _remembered(situation: Situation) -> None:
    await situation.channel.remember(situation.text)


async def _said(situation: Situation) -> None:
    await situation.channel.after_turn(None, [Message.user(situation.text, id="long")])


async def _compacted(situation: Situation) -> None:
    await situation.channel.before_compaction([Message.user(situation.text)], deadline=600)


async def _pasted(situation: Situation) -> None:
    """A bot was told a paste, and a person pastes the same kind of lines below it."""
    await _remembered(situation)
    await situation.channel.before_turn(_QUESTION)
    old = situation.memory.read_bytes()
    situation.memory.write_bytes(old + b"\n" + situation.text.encode())


async def _merged(situation: Situation) -> None:
    await situation.channel.before_turn(_QUESTION)
    await situation.channel.remember("milk is white")


def _holding(*names: str) -> Step:
    """Files of the workspace that hold the text and nothing else."""

    async def laid(situation: Situation) -> None:
        for name in names:
            (situation.root / name).write_bytes(situation.text.encode())

    return laid


async def _opened(situation: Situation) -> None:
    """A process opens the channel anew: the first turn, and the first fact."""
    async with runtime(situation.root) as pipimem:
        channel = await pipimem.channel(CHANNEL)
        turn = await channel.before_turn(_QUESTION)
        await channel.after_turn(turn, [Message.user("milk is white", id="first")])
        await channel.remember("milk is white")
        channel._has_new_messages = False  # noqa: SLF001 - what closing costs is no part of this


_FOLDER = f"channels/{CHANNEL}"
_NOTES = [f"{_FOLDER}/{file}" for file in (File.MEMORY, File.SESSION, File.HISTORY)]
_LOG = f"{_FOLDER}/log.jsonl"
CALLS: dict[str, Call] = {
    "before_turn": Call(lambda at: at.channel.before_turn(at.text)),
    "after_turn": Call(_said),
    "remember": Call(_remembered),
    "before_compaction": Call(_compacted),
    "forget": Call(lambda at: at.channel.forget(at.text), _remembered),
    "recall of such a text": Call(lambda at: at.channel.recall(_QUESTION), _remembered),
    "recall by such a text": Call(lambda at: at.channel.recall(at.text)),
    "merge of a paste": Call(_merged, _pasted),
    "undo": Call(_command("undo", CHANNEL), _remembered, is_command=True),
    "log": Call(_command("log", CHANNEL), _remembered, is_command=True),
    "search in such a log": Call(_command("search", CHANNEL, "window"), _said, is_command=True),
    "search: log.jsonl": Call(_command("search", CHANNEL, "tea"), _holding(_LOG), is_command=True),
    "doctor": Call(_command("doctor"), _holding(*_NOTES, _LOG), is_command=True),
    "search for such a text": Call(_command("search", CHANNEL, "--", "TEXT"), is_command=True),
    "open: words.txt": Call(_opened, _holding("words.txt")),
    "open: log.jsonl": Call(_opened, _holding(_LOG)),
    "open: MEMORY.md": Call(_opened, _holding(_NOTES[0])),
    "open: SESSION.md": Call(_opened, _holding(_NOTES[1])),
    "open: HISTORY.md": Call(_opened, _holding(_NOTES[2])),
}
