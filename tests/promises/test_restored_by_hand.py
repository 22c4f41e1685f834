"""A person restores an older file by hand: the restore wins and is not merged back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
import pytest

from tests.promises import front_door
from tests.promises.front_door import Channel, Message, Turn
from tests.promises.processes import command

ROOM = "room"
BEFORE = ("tea is at four", "the cellar key is red")
SINCE = ("the roof was mended", "coffee is at five")
Moment = Literal["right after a commit", "after a turn", "without a bot"]


def checked_out(path: Path, old: Path) -> None:
    """As `git checkout` does: a new file takes the name."""
    fresh = path.with_name(".checkout")
    fresh.write_bytes(old.read_bytes())
    fresh.replace(path)


def moved_in(path: Path, old: Path) -> None:
    """As `mv backup MEMORY.md` does: the new file has the old time."""
    fresh = path.with_name(".moved")
    shutil.copy2(old, fresh)
    fresh.replace(path)


def copied_over(path: Path, old: Path) -> None:
    """As `cp` does: written in place."""
    shutil.copyfile(old, path)


def copied_with_time(path: Path, old: Path) -> None:
    """As `cp -p` does: written in place, with the old time."""
    shutil.copy2(old, path)


def linked_in(path: Path, old: Path) -> None:
    """As tools of snapshots do: the old file gets the name, and keeps its own."""
    path.unlink()
    os.link(old, path)


MOMENTS: tuple[Moment, ...] = ("right after a commit", "after a turn", "without a bot")
WAYS = (checked_out, moved_in, copied_over, copied_with_time, linked_in)


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a note aside, and what it holds."""

    path: Path
    copy: Path

    @property
    def text(self) -> str:
        """What was saved."""
        return self.copy.read_text("utf-8")


async def speak(channel: Channel, text: str) -> Turn:
    """One whole turn."""
    turn = await front_door.before_turn(channel, text, speaker="alice")
    await front_door.after_turn(channel, turn, [Message.user(text, speaker="alice")])
    return turn


async def backed_up(channel: Channel, root: Path, aside: Path, name: str) -> Backup:
    """Let a note grow, copy it, and let it grow on."""
    for text in BEFORE:
        await front_door.remember(channel, text)
    await speak(channel, "We decided to paint the shed green.")
    await front_door.compacted(channel, await front_door.before_compaction(channel))
    path = front_door.folder_of(root, ROOM) / name
    path.write_text(path.read_text("utf-8") + "- typed by a person\n", "utf-8")
    await speak(channel, "Hello?")
    await front_door.remember(channel, "milk is white")
    shutil.copy2(path, aside)
    for text in SINCE:
        await front_door.remember(channel, text)
        await speak(channel, f"We decided that {text}.")
    await front_door.compacted(channel, await front_door.before_compaction(channel))
    assert path.read_text("utf-8") != aside.read_text("utf-8")
    return Backup(path, aside)


async def stays(channel: Channel, backup: Backup) -> None:
    """The restored text stands through turns, and what is remembered only adds to it."""
    turn = await speak(channel, "When is tea?")
    assert not turn.problem
    assert backup.path.read_text("utf-8") == backup.text
    if backup.path.name == "MEMORY.md":
        assert BEFORE[0] in turn.context
        assert SINCE[1] not in recalled_notes(turn)
    await front_door.remember(channel, "the bell is new")
    expected = backup.text.splitlines()
    if backup.path.name == "MEMORY.md":
        expected.append("- the bell is new")
    assert sorted(backup.path.read_text("utf-8").splitlines()) == sorted(expected)


def recalled_notes(turn: Turn) -> str:
    """The context without excerpts of the talk."""
    parts = turn.context.split("\n[")
    return "\n[".join(part for part in parts if part.startswith("MEMORY"))


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_restored_note_wins(
    workspace: Path,
    tmp_path: Path,
    way: Callable[[Path, Path], None],
    moment: Moment,
    is_long: bool,
    count_trials: Callable[..., None],
) -> None:
    """Whatever came since is gone from the file, also after the next commit and a restart."""
    if not is_long and WAYS.index(way) % 3 != MOMENTS.index(moment):
        pytest.skip("the long form has every way at every moment, and every note")
    names = ("MEMORY.md", "SESSION.md", "HISTORY.md") if is_long else ("MEMORY.md",)
    for name in names:
        root = workspace.with_name(name)
        (root / "channels").mkdir(parents=True)

        async def live(root: Path = root, name: str = name) -> Backup:
            async with front_door.quiet(root) as pipimem:
                channel = await pipimem.channel(ROOM, kind="group")
                backup = await backed_up(channel, root, tmp_path / f"{name}.backup", name)
                if moment == "without a bot":
                    return backup
                if moment == "after a turn":
                    await speak(channel, "Hello again?")
                else:
                    await front_door.remember(channel, "the last fact")
                way(backup.path, backup.copy)
                await stays(channel, backup)
                return backup

        async def start_again(backup: Backup, root: Path = root) -> None:
            async with front_door.quiet(root) as pipimem:
                channel = await pipimem.channel(ROOM, kind="group")
                await stays(channel, backup)

        backup = anyio.run(live)
        if moment == "without a bot":
            way(backup.path, backup.copy)
            anyio.run(start_again, backup)
        assert command(root, "doctor").code == 0
        assert backup.text.count("typed by a person") == 1
        count_trials()


def test_a_restored_note_is_in_the_log_and_can_be_undone(workspace: Path, tmp_path: Path) -> None:
    """A restore by mistake is no loss: `undo` brings back what stood before."""

    async def live() -> None:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            backup = await backed_up(channel, workspace, tmp_path / "backup", "MEMORY.md")
            newest = backup.path.read_text("utf-8")
            checked_out(backup.path, backup.copy)
            await speak(channel, "Hello?")
            change = (await front_door.log(channel))[0]
            assert change.author == "editor"
            await front_door.undo(channel, change.number)
            assert backup.path.read_text("utf-8") == newest

    anyio.run(live)


def test_a_note_may_be_restored_forth_and_back(workspace: Path, tmp_path: Path) -> None:
    """Each restore wins over the one before it."""

    async def live() -> None:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            backup = await backed_up(channel, workspace, tmp_path / "backup", "MEMORY.md")
            newest = tmp_path / "newest"
            shutil.copy2(backup.path, newest)
            for copy in (backup.copy, newest, backup.copy):
                checked_out(backup.path, copy)
                await speak(channel, "Hello?")
                assert backup.path.read_bytes() == copy.read_bytes()

    anyio.run(live)
