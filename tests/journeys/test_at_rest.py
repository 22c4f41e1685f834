"""What lies on the disk is its owner's alone, and nothing beside the files tells what was said."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from pipimem import Channel, Message, Pipimem, Text
from pipimem.errors import AnswerRefused
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.recall_service import RecallService
from pipimem.sidecar.scripted import Scripted
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.building import Hands, opened, say, settings, workspace

pytestmark = pytest.mark.anyio
PASSWORD = "hunter2Xy9Qw"
SAID = f"my salary is quetzal, the password is {PASSWORD} <private>I am a platypus</private>"
TOLD = ("quetzal", PASSWORD, "platypus")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """The files that are made while nothing is masked, with the modes they are made with."""
    found: list[tuple[str, int]] = []
    really_open, before = os.open, os.umask(0)

    def noted(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT:
            found.append((os.fsdecode(path), mode))
        return really_open(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", noted)
    yield found
    os.umask(before)


async def live(channel: Channel) -> None:
    """Turns, talk, a gate, idle work, a search index, undo and forget."""
    for number in range(12):
        await say(channel, f"We decided that gate {number} opens at 8, remember that")
    turn = await channel.before_turn("off", record=False)
    await channel.after_turn(turn, [Message.user("off")])
    await channel.talk.append([Message.user(f"talk {number}") for number in range(600)])
    await channel.compacted(await channel.before_compaction())
    await upkeep_of(channel).maintain(forced=True)
    await upkeep_of(channel).keep_search()
    await channel.history.undo()
    await channel.notes.forget(Text("gate 7"))


async def test_files_are_their_owners_alone(tmp_path: Path, made: list[tuple[str, int]]) -> None:
    """0600 and 0700 whatever the process masks, also of files that stand for a moment."""
    root = tmp_path / "workspace"
    WorkspaceStore.init(root)
    async with opened(root) as channel:
        await live(channel)
    ours = [(path, mode) for path, mode in made if path.startswith(str(root))]
    assert len(ours) > 30
    assert [(path, oct(mode)) for path, mode in ours if mode & 0o077] == []
    for path in (root, *root.rglob("*")):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


async def test_logs_do_not_tell_what_was_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the lowest level: a model that quotes the prompt, and a bug that quotes the message."""
    caplog.set_level(logging.DEBUG)
    model = Scripted([AnswerRefused(f"not JSON: the password is {PASSWORD}")] * 9, paid=True)

    def broken(*_args: object, **_options: object) -> None:
        raise ValueError(f"cannot read {SAID!r}")

    async with opened(workspace(tmp_path), model) as channel:
        await say(channel, SAID)
        await channel.before_compaction()
        await upkeep_of(channel).maintain(forced=True)
        monkeypatch.setattr(RecallService, "recalled", broken)
        turn = await channel.before_turn(SAID)
        assert turn.problem
        monkeypatch.undo()
    logging.getLogger("pipimem").warning("the turn was %r", turn)
    told = caplog.text + turn.problem
    assert "ValueError" in told
    assert "in broken" in told
    assert [word for word in TOLD if word in told] == []


async def test_no_repr_tells_a_message_or_a_key(tmp_path: Path) -> None:
    """What a debugger or a log line prints of a host's own values."""
    async with Pipimem(
        workspace(tmp_path), "offline", settings=settings(), clock=Hands().clock()
    ) as pipimem:
        channel = await pipimem.channel("room")
        turn = await channel.before_turn(SAID, speaker="Dana")
        message = Message.user(SAID, speaker="Dana")
        await channel.after_turn(turn, [message])
        room = upkeep_of(channel)
        notes = await room.notes()
        values = (pipimem, channel, turn, message, room.store, notes, room.store.channel_folder)
        shown = " ".join(map(repr, values))
        keys = (room.store.key, room.store.key.hex().encode())
    assert "Dana" in shown
    assert [word for word in TOLD if word in shown] == []
    assert not any(repr(key)[2:-1] in shown for key in keys)
