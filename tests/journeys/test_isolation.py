"""No call and no command returns a word of another channel: 200 channels that talk of the same."""

from __future__ import annotations

import dataclasses
import inspect
import json
import random
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from pipimem import (
    Channel,
    ChannelHistory,
    EntryPlace,
    File,
    Kind,
    Message,
    NoteFiles,
    Pipimem,
    PipimemError,
    StoreError,
    TranscriptPages,
)
from pipimem.cli.commands import pipimem as main
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.building import Hands, settings, workspace

pytestmark = pytest.mark.anyio
CHANNELS = 60
# Each channel has one, and every text of it says it.
_TOKEN = re.compile(r"kestrel(\d{3})")
_SHAPES = (
    "room-{}",
    "ROOM-{}",
    "room/{}",
    "../room-{}",
    "room {}",
    "房间{}",
    "room-{}/MEMORY.md",
    "room\\{}",
)
IDS = [_SHAPES[number % len(_SHAPES)].format(number) for number in range(CHANNELS)]
QUESTION = "who opens the falcon gate, and what did we say of the kestrel on Thursday?"


def token(number: int) -> str:
    return f"kestrel{number:03}"


@pytest.fixture
def anyio_backend() -> str:
    """One is enough: the other would do the same for half a minute more."""
    return "asyncio"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 channels with notes and talk that differ in nothing but the token."""
    made = workspace(tmp_path_factory.mktemp("isolation"))
    store = WorkspaceStore.open(made)
    for number, name in enumerate(IDS):
        folder = ChannelStore.open(store, name, create=True, kind="group").folder
        word = token(number)
        (folder / "MEMORY.md").write_text(f"## Facts\n\n- The falcon gate opens with {word}\n")
        (folder / "SESSION.md").write_text(f"## Next Steps\n\n- oil the falcon gate of {word}\n")
        (folder / "HISTORY.md").write_text(
            f"## 2026-03-01\n\n- Dana spoke of the falcon gate and {word}\n"
        )
        (folder / "log.jsonl").write_text("".join(_lines(number, word)))
    return made


def _lines(number: int, word: str) -> Iterable[str]:
    for n in range(1, 5):
        said = {"id": f"id-{number}-{n}", "n": n, "ts": "2026-03-01T09:00:00+08:00", "role": "user"}
        yield (
            json.dumps({**said, "name": "Dana", "content": f"the falcon gate wants {word}, {n}"})
            + "\n"
        )


def texts(value: object) -> str:
    """All text in a value, whatever its repr leaves out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return " ".join(texts(getattr(value, one.name)) for one in dataclasses.fields(value))
    if isinstance(value, Mapping):
        return " ".join(texts(each) for pair in value.items() for each in pair)
    if isinstance(value, tuple | list | set | frozenset):
        return " ".join(map(texts, value))
    return str(value)


def others(text: str, number: int | None) -> set[str]:
    """The tokens of other channels in a text."""
    return {
        found[0]
        for found in _TOKEN.finditer(text)
        if found[0] != (number is not None and token(number))
    }


def place(theirs: str) -> EntryPlace:
    """An entry of another channel, as a page that was made up would name it."""
    return EntryPlace(File.MEMORY, "Facts", theirs, f"- {theirs}")


Calls = Mapping[str, Callable[[], Awaitable[object]]]


def channel_calls(channel: Channel, other: int) -> Calls:
    """Every public call of a channel, each with what is another channel's."""
    history, theirs = channel.history, f"id-{other}-1"

    async def turn() -> object:
        begun = await channel.before_turn(QUESTION, speaker="Dana", sees_from=theirs)
        await channel.after_turn(
            begun, [Message.user(QUESTION), Message.assistant("ok", id=theirs)]
        )
        return begun

    async def compact() -> object:
        receipt = await channel.before_compaction([Message.user("the falcon gate is open")])
        await channel.compacted(receipt)
        return receipt

    return {
        "session_prompt": channel.session_prompt,
        "before_turn": turn,
        "after_turn": turn,
        "recall": lambda: channel.recall(QUESTION, automatic=False),
        "search": lambda: channel.search("falcon gate kestrel Thursday", count=50),
        "timeline": lambda: channel.timeline(theirs),
        "detail": lambda: channel.detail(theirs),
        "entries": channel.entries,
        "usage": channel.usage,
        "remember": lambda: channel.remember("the falcon gate is green"),
        "update": lambda: channel.update(theirs, "the falcon gate is blue"),
        "take_out": lambda: channel.take_out(theirs),
        "rate": lambda: channel.rate(theirs, helpful=True),
        "sources": lambda: found_and_sources(channel),
        "call_tool": lambda: tool_calls(channel.call_tool, {}, theirs),
        "take_in": lambda: channel.take_in([Message.user("falcon gate", id=f"{theirs}-x")]),
        "before_compaction": compact,
        "compacted": compact,
        "history.log": lambda: history.log(100),
        "history.blame": history.blame,
        "history.change": lambda: history.change(1),
        "history.texts": history.texts,
        "history.without": lambda: history.without(1),
        "transcript.page": channel.transcript.page,
        "files.view": lambda: channel.files.view(File.MEMORY),
        "files.stamp": channel.files.stamp,
        "files.forget_preview": lambda: channel.files.forget_preview("falcon"),
        "files.save": lambda: channel.files.save(
            File.MEMORY, "- the falcon gate is open\n", base="", etag=theirs
        ),
        "files.save_entry": lambda: channel.files.save_entry(place(theirs), "- it is shut"),
        "files.pin": lambda: channel.files.pin(place(theirs), pinned=True),
        "files.move": lambda: channel.files.move(place(theirs), Kind.FACT),
        "history.diff": lambda: history.diff(0),
        "history.undo": history.undo,
        "history.restore": lambda: history.restore(1),
        "forget": lambda: channel.forget("green falcon", message=""),
        "retract": lambda: channel.retract(theirs),
        "preview": lambda: channel.preview(QUESTION, speaker="Dana"),
        "reset": channel.reset,
        "close": channel.close,
    }


def workspace_calls(pipimem: Pipimem, number: int) -> Calls:
    """Every public call of a workspace that returns something."""
    return {
        "channels": pipimem.channels,
        "channel": lambda: pipimem.channel(IDS[number]),
        "usage": lambda: pipimem.usage("channel"),
        "reply": lambda: pipimem.reply([Message.user(QUESTION)], channel=IDS[number], timeout=1),
        "remove": lambda: pipimem.remove(f"{IDS[number]}-not-there"),
        "call_tool": lambda: tool_calls(
            pipimem.call_tool, {"channel": IDS[number]}, f"id-{number + 1}-1"
        ),
    }


async def found_and_sources(channel: Channel) -> object:
    hits = await channel.search("falcon gate kestrel Thursday", count=50)
    return hits, await channel.sources(*(hit.item for hit in hits))


async def tool_calls(
    call: Callable[[str, Mapping[str, Any]], Awaitable[object]],
    where: Mapping[str, Any],
    theirs: str,
) -> object:
    """Each tool, with an id of another channel's."""
    return [
        await call(name, {**where, **arguments})
        for name, arguments in (
            ("memory_search", {"query": "falcon gate kestrel Thursday", "count": 50}),
            ("memory_search", {"around": theirs}),
            ("memory_search", {"ids": [theirs, f"log:{theirs}", f"memory:{theirs}"]}),
            ("memory_save", {"text": "the falcon gate is shut"}),
            ("memory_update", {"id": theirs, "text": "the falcon gate is ajar"}),
            ("memory_forget", {"query": "falcon gate"}),
            ("memory_forget", {"ids": [theirs]}),
            ("memory_feedback", {"id": theirs, "helpful": True}),
        )
    ]


async def outcome(call: Callable[[], Awaitable[object]]) -> str:
    """What a call gives or says."""
    try:
        return texts(await call())
    except PipimemError as error:
        return str(error)


def public(kind: type) -> set[str]:
    found = inspect.getmembers(kind, inspect.iscoroutinefunction)
    return {name for name, _ in found if not name.startswith("_")}


async def test_no_call_returns_another_channels_text(root: Path) -> None:
    """Every public call on every tenth channel, with ids of others; turns and searches on all."""
    chance = random.Random(7)
    done: set[str] = set()
    leaks = []
    told = 0
    async with Pipimem(root, "offline", settings=settings(), clock=Hands().clock()) as pipimem:
        for number, name in enumerate(IDS):
            channel, other = await pipimem.channel(name), chance.choice(range(CHANNELS))
            calls = dict(channel_calls(channel, other if other != number else other - 1))
            if number % 10 == 0:
                calls |= {
                    f"pipimem.{key}": call for key, call in workspace_calls(pipimem, number).items()
                }
            else:
                calls = {key: calls[key] for key in ("before_turn", "recall", "search")}
            for key, call in calls.items():
                text = await outcome(call)
                done.add(key)
                told += token(number) in text
                leaks += [(name, key, one) for one in others(text, number)]
    assert leaks == []
    # The check sees something: nearly every turn, recall and search tells the channel's own.
    assert told > 2.5 * CHANNELS
    missing = public(Channel) | {f"history.{name}" for name in public(ChannelHistory)}
    missing |= {f"files.{name}" for name in public(NoteFiles)}
    missing |= {f"transcript.{name}" for name in public(TranscriptPages)}
    missing |= {f"pipimem.{name}" for name in public(Pipimem) - {"start", "aclose", "watch"}}
    assert missing - done == set()


async def test_no_file_holds_another_channels_text(root: Path) -> None:
    """After all those calls; what belongs to no channel holds nobody's."""
    store = WorkspaceStore.open(root)
    folders = {store.folder_of(name).name: number for number, name in enumerate(IDS)}
    for path in root.rglob("*"):
        if path.is_file():
            parts = path.relative_to(root).parts
            owner = folders.get(parts[1]) if parts[0] == "channels" else None
            found = others(path.read_bytes().decode("utf-8", "replace"), owner)
            assert found == set(), path


COMMANDS: Mapping[str, list[list[str]]] = {
    "init": [["init"]],
    "chat": [["chat", "{id}"]],
    "replay": [["replay", "{id}", "{replayed}"]],
    "recall": [["recall", "{id}", QUESTION, "--raw", "--explain"], ["recall", "{id}", QUESTION, "--turn"]],
    "search": [["search", "{id}", "falcon gate", "-k", "50"], ["search", "{id}", "kestrel", "--in", "log"]],
    "timeline": [["timeline", "{id}", "{theirs}"]],
    "detail": [["detail", "{id}", "{theirs}"]],
    "show": [["show", "{id}"], ["show", "{id}", "../{folder}/MEMORY.md"]],
    "list": [["list", "{id}"]],
    "edit": [["edit", "{id}"]],
    "remember": [["remember", "{id}", "the gate is red"]],
    "forget": [["forget", "{id}", "red gate", "--yes"], ["forget", "{id}", "--message", "{theirs}", "--yes"]],
    "log": [["log", "{id}"]],
    "blame": [["blame", "{id}"]],
    "diff": [["diff", "{id}"]],
    "undo": [["undo", "{id}", "--yes"]],
    "restore": [["restore", "{id}", "1", "--yes"]],
    "consolidate": [["consolidate", "{id}"]],
    "maintain": [["maintain", "{id}", "--dry-run"], ["maintain", "{id}"]],
    "watch": [["watch", "--help"]],
    "mcp": [["mcp", "--help"]],
    "ui": [["ui", "--help"]],
    "export": [["export", "{id}", "{archive}"]],
    "import": [["import", "{replayed}", "--channel", "{id}", "--dry-run"], ["import", "{replayed}", "--channel", "{id}"]],
    "dingtalk": [["dingtalk", "--help"]],
    "channels": [["channels"], ["channels", "--json"]],
    "remove": [["remove", "{id}-not-there", "--yes"]],
    "status": [["status"], ["status", "--json"]],
    "usage": [["usage", "--by", "channel"]],
    "doctor": [["doctor"], ["doctor", "--json"]],
    "fleet": [["fleet", "init", "--print"], ["fleet", "init"]],
}  # fmt: skip


def about_one(lines: list[list[str]]) -> list[list[str]]:
    """The lines that say something else for another channel."""
    return [line for line in lines if any("{" in word for word in line)]


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_no_command_prints_another_channels_text(
    root: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is about one channel prints its own; what is about the workspace prints nobody's."""
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.delenv("PIPIMEM_MODEL", raising=False)
    replayed = tmp_path / "talk.jsonl"
    replayed.write_text(json.dumps({"role": "user", "content": QUESTION}) + "\n")
    store = WorkspaceStore.open(root)
    for number, lines in ((3, COMMANDS[command]), (44, about_one(COMMANDS[command]))):
        other = number + 8
        values = {
            "id": IDS[number],
            "replayed": str(replayed),
            "archive": str(tmp_path / f"{number}.tar.gz"),
            "theirs": f"id-{other}-1",
            "folder": store.folder_of(IDS[other]).name,
        }
        for words in lines:
            line = [word.format(**values) for word in words]
            ran = CliRunner().invoke(
                main, ["--workspace", str(root), *line], input=f"{QUESTION}\n/memory\n"
            )
            own = number if "{id}" in words else None
            assert others(ran.stdout + ran.stderr, own) == set(), line


def test_every_command_is_tried() -> None:
    """A new one comes with its line above."""
    assert set(main.list_commands(click.Context(main))) == set(COMMANDS)


async def test_a_link_into_another_channels_folder_is_refused(root: Path) -> None:
    """Whether the folder is a link or a file in it; nothing is read and nothing is written."""
    store = WorkspaceStore.open(root)
    theirs = store.folder_of(IDS[0])
    (store.channels_folder / "linked").symlink_to(theirs)
    assert "linked" not in {info.folder.name for info in store.channels()}
    mine = ChannelStore.open(store, "mine", create=True).folder
    before = {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    async with Pipimem(root, "offline", settings=settings(), clock=Hands().clock()) as pipimem:
        with pytest.raises(StoreError, match="into the folder of another channel"):
            await pipimem.channel("linked")
        (mine / "log.jsonl").symlink_to(theirs / "log.jsonl")
        with pytest.raises(StoreError, match="is a link"):
            await pipimem.channel("mine")
        (mine / "log.jsonl").unlink()
        channel = await pipimem.channel("mine")
        for name in ("MEMORY.md", "SESSION.md", "HISTORY.archive.md"):
            (mine / name).symlink_to(theirs / name)
        turn = await channel.before_turn(QUESTION)
        assert "into the folder of another channel" in turn.problem
        for call in channel_calls(channel, 0).values():
            assert others(await outcome(call), None) == set()
        for name in ("MEMORY.md", "SESSION.md", "HISTORY.archive.md"):
            (mine / name).unlink()
    assert before == {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    (store.channels_folder / "linked").unlink()
