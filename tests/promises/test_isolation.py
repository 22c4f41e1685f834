"""Nothing of a channel shows up in another one (promise 4): hostile ids, each with its own words.

MCP over HTTP is asked in tests/interfaces/promises/.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import random
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from tests.promises.front_door import (
    Author,
    ById,
    Channel,
    ChannelHistory,
    ChannelNotes,
    ChannelTalk,
    EntryPlace,
    File,
    Kind,
    Message,
    NothingFound,
    Pipimem,
    PipimemError,
    StoreError,
    Text,
    before_turn,
    call_tool,
    detail,
    diff,
    entries,
    folders_by_channel,
    log,
    remember,
    run_command,
    search,
    take_in,
    timeline,
    undo,
    view_file,
)
from tests.promises.rooms import ASYNCIO, opened, quiet_settings, say

pytestmark = ASYNCIO
SHAPES = (
    "room-{}",
    "ROOM-{}",
    "Room-{}",
    "room/{}",
    "../room-{}",
    "../../room-{}",
    "..",
    ".",
    "",
    "room {}",
    "room-{}/MEMORY.md",
    "room\\{}",
    "cid{}KeBBLoveM/AZ==",
    "房间{}",
    "房間{}",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467{}",
    "e\u0301{}",
    "é{}",
    "con{}",
    "a" * 1_000 + "{}",
    "a" * 1_000 + "{}b",
    "~{}",
    "-{}",
    "room-{}.",
    " room-{}",
    "room-{} ",
    "room-{}\n",
    "room%2F{}",
    ".pipimem/{}",
    "room-{}~0123456789abcdef",
)
# Each channel has one, and every text of it has it.
WORD = re.compile(r"kestrel[a-z]{4}")
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
QUESTION = "who opens the falcon gate, and what did we say of it on Thursday?"


def hostile_ids(count: int) -> list[str]:
    """Return ids that a careless folder name would confuse, all different."""
    ids = (shape.format(number) for number in range(count) for shape in SHAPES)
    return list(dict.fromkeys(filter(None, ids)))[:count]


def word_of(number: int) -> str:
    """Return the word of a channel, no part of another's."""
    return "kestrel" + "".join(chr(ord("a") + number // 26**place % 26) for place in range(4))


def foreign(text: str, number: int | None) -> set[str]:
    """Return the words of other channels in a text."""
    own = {word_of(number)} if number is not None else set()
    return set(WORD.findall(text)) - own


def strings(value: object) -> str:
    """Return all text in a value, whatever its repr leaves out."""
    if isinstance(value, msgspec.Struct):
        return strings(structs.asdict(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return " ".join(strings(getattr(value, each.name)) for each in dataclasses.fields(value))
    if isinstance(value, Mapping):
        return " ".join(strings(each) for pair in value.items() for each in pair)
    if isinstance(value, tuple | list | set | frozenset):
        return " ".join(map(strings, value))
    return str(value)


async def fill(channel: Channel, number: int) -> None:
    """Talk, an entry and a compaction, which differ between channels in nothing but the word."""
    word = word_of(number)
    await remember(channel, f"the falcon gate opens with {word}")
    await say(channel, f"We decided that {word} oils the falcon gate on Thursday", f"ok {word}")
    said = Message.user(f"the falcon gate wants {word}", id=f"id-{number}", speaker="Dana")
    await take_in(channel, [said])
    await channel.compacted(await channel.before_compaction())


async def outcome(call: Callable[[], Awaitable[object]]) -> str:
    """Return all text that a call gives or raises."""
    try:
        return strings(await call())
    except PipimemError as error:
        return str(error)


def calls(channel: Channel, other: int) -> Mapping[str, Callable[[], Awaitable[object]]]:
    """Each way to read a channel, by ids of another one where it takes ids."""
    theirs = f"id-{other}"
    place = EntryPlace(File.MEMORY, "Facts", theirs, f"- {theirs}")
    return {
        "session_prompt": channel.session_prompt,
        "before_turn": lambda: before_turn(channel, QUESTION, speaker="Dana", sees_nothing=True),
        "turn that names theirs": lambda: channel.before_turn(QUESTION, visible=theirs),
        "recall": lambda: channel.recall(QUESTION, automatic=False),
        "preview_turn": lambda: channel.preview_turn(QUESTION, speaker="Dana"),
        "talk.search": lambda: search(channel, "falcon gate Thursday", count=50),
        "talk.timeline": lambda: timeline(channel, theirs),
        "talk.detail": lambda: detail(channel, theirs),
        "notes.entries": lambda: entries(channel),
        "history.log": lambda: log(channel, 100),
        "history.diff": lambda: diff(channel, 1),
        "history.blame": channel.history.blame,
        "notes.view": lambda: view_file(channel, File.MEMORY),
        "session": lambda: view_file(channel, File.SESSION),
        "history": lambda: view_file(channel, File.HISTORY),
        "notes.text": lambda: channel.notes.text(File.MEMORY),
        "talk.page": channel.talk.page,
        "talk.messages": channel.talk.messages,
        "talk.answer": lambda: channel.talk.answer("falcon gate Thursday", count=50),
        "talk.ranked": lambda: channel.talk.ranked("falcon gate Thursday", count=50),
        "talk.extent": channel.talk.extent,
        "history.compare": lambda: channel.history.compare(1),
        "history.changes_by": lambda: channel.history.changes_by(Author.MODEL, LONG_AGO),
        "history.forgotten": channel.history.forgotten,
        "history.record_edits": channel.history.record_edits,
        "history.unexpected_undo": channel.history.unexpected_undo,
        "history.preview_restore": lambda: channel.history.preview_restore(1),
        "history.change": lambda: channel.history.change(1),
        "history.texts": channel.history.texts,
        "history.without": lambda: channel.history.without(1),
        "usage": channel.usage,
        "maintain": channel.maintain,
        "talk.sources": lambda: sources(channel),
        "tool: search": lambda: call_tool(channel, "memory_search", query="falcon gate", count=50),
        "tool: around": lambda: call_tool(channel, "memory_search", around=theirs),
        "tool: ids": lambda: call_tool(channel, "memory_search", ids=[theirs, f"log:{theirs}"]),
        "tool: update": lambda: call_tool(channel, "memory_update", id=theirs, text="blue gate"),
        "tool: forget": lambda: call_tool(channel, "memory_forget", ids=[theirs]),
        "tool: feedback": lambda: call_tool(channel, "memory_feedback", id=theirs, helpful=True),
        "talk.append": lambda: take_in(channel, [Message.user("falcon gate", id=f"{theirs}-x")]),
        "before_compaction": lambda: channel.before_compaction([Message.user("the gate is open")]),
        "notes.update": lambda: channel.notes.update(theirs, "the gate is blue"),
        "notes.take_out": lambda: channel.notes.take_out(theirs),
        "notes.rate": lambda: channel.notes.rate(theirs, helpful=True),
        "notes.left_out": channel.notes.left_out,
        "notes.take_in": lambda: channel.notes.take_in(1),
        "notes.conflicts": channel.notes.conflicts,
        "notes.settle": lambda: channel.notes.settle(theirs, theirs),
        "notes.agenda": channel.notes.agenda,
        "notes.forget": lambda: channel.notes.forget(ById(theirs)),
        "talk.retract": lambda: channel.talk.retract(theirs),
        "notes.stamp": channel.notes.stamp,
        "notes.preview_forget": lambda: channel.notes.preview_forget(Text("falcon")),
        "notes.save": lambda: channel.notes.save(File.MEMORY, "- open\n", base="", etag=theirs),
        "notes.save_entry": lambda: channel.notes.save_entry(place, "- it is shut"),
        "notes.remove_entry": lambda: channel.notes.remove_entry(place),
        "notes.pin": lambda: channel.notes.pin(place, pinned=True),
        "notes.move": lambda: channel.notes.move(place, Kind.FACT),
        "history.undo": lambda: undo(channel),
        "history.restore": lambda: channel.history.restore(1),
        "reset": channel.reset,
        "close": channel.close,
    }


async def sources(channel: Channel) -> object:
    """Return what was found, with the messages that it rests on."""
    hits = await search(channel, "falcon gate", count=50)
    return hits, await channel.talk.sources(*(hit.item for hit in hits))


async def test_each_public_call_is_tried(workspace: Path) -> None:
    """A new method that returns something comes with its line above."""

    def public(kind: type, prefix: str = "") -> set[str]:
        found = inspect.getmembers(kind, inspect.iscoroutinefunction)
        return {prefix + name for name, _ in found if not name.startswith("_")}

    wanted = public(Channel) | public(ChannelNotes, "notes.") | public(ChannelHistory, "history.")
    wanted |= public(ChannelTalk, "talk.")
    # `fill` calls them.
    wanted -= {"after_turn", "compacted", "notes.remember", "call_tool"}
    async with opened(workspace) as channel:
        assert wanted - set(calls(channel, 0)) == set()


async def test_no_call_and_no_file_has_a_word_of_another_channel(
    workspace: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """Every way to read, in channels of both kinds whose ids look alike; then every file."""
    ids = hostile_ids(200 if is_long else len(SHAPES))
    leaks, told = [], 0
    chance = random.Random(7)
    async with Pipimem(workspace, "offline", settings=quiet_settings()) as pipimem:
        channels = [
            await pipimem.channel(name, kind="dm" if number % 3 else "group")
            for number, name in enumerate(ids)
        ]
        for number, channel in enumerate(channels):
            await fill(channel, number)
        for number, channel in enumerate(channels):
            assert channel.id == ids[number]
            other = chance.choice([each for each in range(len(ids)) if each != number])
            tried = calls(channel, other)
            if number % 3:
                tried = {name: tried[name] for name in ("before_turn", "recall", "talk.search")}
            for name, call in tried.items():
                text = await outcome(call)
                told += word_of(number) in text
                count_trials()
                leaks += [(ids[number], name, word) for word in foreign(text, number)]
        assert leaks == []
        # The check sees something: most ways tell a channel's own word.
        assert told > 5 * len(ids)
        told_by_workspace = strings(
            [
                await pipimem.channels(),
                await pipimem.usage("channel"),
                await outcome(lambda: pipimem.remove("not-there")),
                await pipimem.call_tool("memory_search", {"channel": "not-there", "query": "gate"}),
            ]
        )
        assert foreign(told_by_workspace, None) == set()
        known = {info.id for info in await pipimem.channels()}
    assert known == set(ids)
    folders = folders_by_channel(workspace)
    assert set(folders.values()) == set(ids)
    for path in workspace.rglob("*"):
        if path.is_file():
            parts = path.relative_to(workspace).parts
            own = ids.index(folders[parts[1]]) if parts[0] == "channels" else None
            assert foreign(path.read_bytes().decode(errors="replace"), own) == set(), path
    # Nothing was written beside the workspace.
    assert [path.name for path in workspace.parent.iterdir()] == [workspace.name]


# Each command, with @ in the place of the channel's id and & of a message of another channel.
COMMANDS: Mapping[str, str] = {
    "init": "init",
    "chat": "chat @",
    "replay": "replay @ {talk}",
    "recall": "recall @ {question} --raw --explain",
    "search": "search @ gate -k 50",
    "timeline": "timeline @ &",
    "detail": "detail @ &",
    "show": "show @ ../room-0/MEMORY.md",
    "list": "list @",
    "conflicts": "conflicts @",
    "agenda": "agenda @",
    "edit": "edit @",
    "remember": "remember @ red",
    "forget": "forget @ --message & --yes",
    "log": "log @",
    "blame": "blame @",
    "diff": "diff @",
    "undo": "undo @ --yes",
    "restore": "restore @ 1 --yes",
    "consolidate": "consolidate @",
    "maintain": "maintain @ --dry-run",
    "watch": "watch --help",
    "fleet": "fleet init --print",
    "ui": "ui --help",
    "mcp": "mcp --help",
    "dingtalk": "dingtalk --help",
    "channels": "channels --json",
    "remove": "remove not-there --yes",
    "import": "import {talk} --channel @ --dry-run",
    "export": "export @ {archive}",
    "status": "status --json",
    "usage": "usage --by channel",
    "doctor": "doctor --json",
}


async def test_no_command_prints_a_word_of_another_channel(workspace: Path, tmp_path: Path) -> None:
    """What is about one channel prints its own, what is about the workspace nobody's."""
    ids = ["room-0", "ROOM-0", "../room-0"]
    async with Pipimem(workspace, "offline", settings=quiet_settings()) as pipimem:
        for number, name in enumerate(ids):
            await fill(await pipimem.channel(name, kind="group"), number)
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": QUESTION}) + "\n")
    words = {"{talk}": str(talk), "{archive}": str(tmp_path / "a.tar.gz"), "{question}": QUESTION}
    words |= {"@": ids[1], "&": "id-0"}
    listed = re.findall(r"^  ([a-z]+) {2,}", run_command(workspace, "--help").output, re.MULTILINE)
    assert set(listed) == set(COMMANDS)
    told = 0
    for line in COMMANDS.values():
        ran = run_command(
            workspace, *(words.get(word, word) for word in line.split()), EDITOR="true"
        )
        own = 1 if "@" in line else None
        assert foreign(ran.printed, own) == set(), line
        told += word_of(1) in ran.output
    assert told >= 6


async def test_an_id_is_its_own_channel(workspace: Path) -> None:
    """A channel of a hostile id is found again by that id and no other, by a process of its own."""
    ids = [
        "a/b",
        "A/B",
        "a\\b",
        "../a",
        "a b",
        "\U0001f469\u200d\U0001f467",
        "x" * 1_000,
        "x" * 999,
    ]
    for number, name in enumerate(ids):
        async with opened(workspace, name) as channel:
            await remember(channel, f"the word is {word_of(number)}")
    for number, name in enumerate(ids):
        async with opened(workspace, name) as channel:
            assert [entry.text for entry in await entries(channel)] == [
                f"the word is {word_of(number)}"
            ]
    assert sorted(folders_by_channel(workspace).values()) == sorted(ids)
    shown = run_command(workspace, "list", ids[3]).output
    assert set(WORD.findall(shown)) == {word_of(3)}


async def test_ids_are_injective(
    workspace: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """No two ids share a folder, also where the file system folds case or the Unicode form."""
    ids = hostile_ids(20_000 if is_long else 300)
    async with Pipimem(workspace, "offline", settings=quiet_settings()) as pipimem:
        names = [folder_name(await pipimem.channel(name)) for name in ids]
    count_trials(len(ids))
    assert len({folded(name) for name in names}) == len(ids)
    assert all(len(name.encode()) <= 255 for name in names)


def folder_name(channel: Channel) -> str:
    """Return the name of a channel's folder, which its repr ends with."""
    found = re.search(r"'([^']*)'\)$", repr(channel))
    assert found is not None
    return Path(found[1]).name


def folded(name: str) -> str:
    """A name as a file system that folds case and form compares it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


async def test_a_link_into_another_channels_folder_is_refused(workspace: Path) -> None:
    """Whether the folder is a link or a file in it: nothing is read, nothing is written."""
    async with Pipimem(workspace, "offline", settings=quiet_settings()) as pipimem:
        await fill(await pipimem.channel("theirs", kind="group"), 0)
        await pipimem.channel("mine", kind="group")
    theirs, mine = workspace / "channels" / "theirs", workspace / "channels" / "mine"
    before = {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    (workspace / "channels" / "linked").symlink_to(theirs)
    async with Pipimem(workspace, "offline", settings=quiet_settings()) as pipimem:
        with pytest.raises(StoreError):
            await pipimem.channel("linked")
        channel = await pipimem.channel("mine", kind="group")
        for name in ("MEMORY.md", "SESSION.md", "HISTORY.archive.md"):
            (mine / name).unlink(missing_ok=True)
            (mine / name).symlink_to(theirs / name)
        for call in calls(channel, 0).values():
            assert foreign(await outcome(call), None) == set()
        for name in ("MEMORY.md", "SESSION.md", "HISTORY.archive.md"):
            (mine / name).unlink()
    assert before == {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}


async def test_a_removed_channel_leaves_nothing(workspace: Path) -> None:
    """Its folder is gone; the same id begins anew and knows nothing."""
    async with Pipimem(workspace, "offline", settings=quiet_settings()) as pipimem:
        await fill(await pipimem.channel("room/1", kind="group"), 0)
        await fill(await pipimem.channel("room/2", kind="group"), 1)
        await pipimem.remove("room/1")
        held = [p for p in workspace.rglob("*") if p.is_file() and word_of(0) in _text(p)]
        assert held == []
        again = await pipimem.channel("room/1", kind="group")
        assert await entries(again) == ()
        with pytest.raises(NothingFound):
            await detail(again, "id-0")


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")
