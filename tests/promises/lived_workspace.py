"""A workspace that has lived: each file that pipimem keeps, and what must stay of it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.promises import front_door
from tests.promises.front_door import Channel, Message
from tests.promises.processes import command

ROOM = "team"
BESIDE = "garden"
# The only word of the workspace that was forgotten, and the only word of the other channel.
FORGOTTEN = "zebra7"
FOREIGN = "roses"
TYPED = {
    "MEMORY.md": "- typed: the cellar floods in March",
    "SESSION.md": "- typed: waiting for the plumber",
    "HISTORY.md": "- typed: the roof was mended in May",
}
REMEMBERED = ("the spare key hangs behind the door", "the lift is green")
SAID = tuple(f"m{number}" for number in range(1, 9))
QUESTION = "Where does the spare key hang?"


async def live(root: Path) -> None:
    """Let a workspace live: turns, entries, hands, a compaction, a forget, an undo, idle work.

    A copy of it as it was right before the forget is beside it, as `earlier`.
    """
    assert command(root, "init").code == 0
    async with front_door.quiet(root) as pipimem:
        beside = await pipimem.channel(BESIDE, kind="group")
        await front_door.remember(beside, f"the {FOREIGN} are red")
        await _turn(beside, f"the {FOREIGN} need water", "g1", "g2")
        room = await pipimem.channel(ROOM, kind="group")
        await _turn(room, "We decided to plant an oak behind the shed.", "m1", "m2")
        await _turn(room, "The plumber comes on Thursday.", "m3", "m4")
        await front_door.remember(room, REMEMBERED[0], speaker="bob")
        await front_door.remember(room, f"the parrot is called {FORGOTTEN}")
        _type(root, "MEMORY.md")
        await _turn(room, QUESTION, "m5", "m6")
        receipt = await front_door.before_compaction(room)
        await front_door.compacted(room, receipt)
        shutil.copytree(root, root.with_name("earlier"), symlinks=True)
        await front_door.forget(room, f"the parrot is called {FORGOTTEN}")
        await front_door.remember(room, "a mistake that is taken back")
        await front_door.undo(room)
        _type(root, "SESSION.md")
        _type(root, "HISTORY.md")
        await _turn(room, "The gate squeaks.", "m7", "m8")
        await front_door.remember(room, REMEMBERED[1])
    assert command(root, "maintain", ROOM).code == 0
    assert missing(root) == []


async def _turn(channel: Channel, text: str, *ids: str) -> None:
    turn = await front_door.before_turn(channel, text, speaker="alice")
    said = [
        Message.user(text, id=ids[0], speaker="alice"),
        Message.assistant("noted", id=ids[1]),
    ]
    await front_door.after_turn(channel, turn, said)


def _type(root: Path, name: str) -> None:
    path = front_door.folder_of(root, ROOM) / name
    text = path.read_text("utf-8") if path.exists() else ""
    path.write_text(f"{text.rstrip()}\n{TYPED[name]}\n", "utf-8")


def copied(lived: Path, root: Path) -> Path:
    """Copy a workspace that has lived to where it may be damaged."""
    shutil.copytree(lived, root, symlinks=True)
    return root


def messages(root: Path, channel: str = ROOM) -> Counter[str]:
    """Count the ids of the messages in the transcript of a channel."""
    found: Counter[str] = Counter()
    for path in sorted(front_door.folder_of(root, channel).glob("log*.jsonl")):
        for line in path.read_bytes().splitlines():
            try:
                found[json.loads(line)["id"]] += 1
            except (ValueError, KeyError, TypeError):
                continue
    return found


def missing(root: Path, *but: str) -> list[str]:
    """Return the typed lines, the entries and the messages that are missing or doubled.

    The files `but` are not checked.
    """
    return list(_missing(root, but))


def _missing(root: Path, but: tuple[str, ...]) -> Iterator[str]:
    for name, line in TYPED.items():
        if name not in but and line not in front_door.note(root, ROOM, name).splitlines():
            yield f"{name}: {line}"
    if "MEMORY.md" not in but:
        texts = front_door.note(root, ROOM)
        yield from (f"MEMORY.md: {text}" for text in REMEMBERED if texts.count(text) != 1)
    if "log.jsonl" not in but:
        found = messages(root)
        yield from (
            f"log.jsonl: {name} is there {found[name]} times" for name in SAID if found[name] != 1
        )


def intruders(root: Path) -> list[str]:
    """Return the notes that hold what was forgotten, or a word of the other channel."""
    return [
        f"{name}: {word}"
        for name in TYPED
        for word in (FORGOTTEN, FOREIGN)
        if word in front_door.note(root, ROOM, name)
    ]


def own_files(root: Path) -> list[str]:
    """Return the files and folders of ours: those of `.pipimem/` of the workspace and the channel.

    A folder precedes its content. The lists name no file, so that they hold for any state on disk.
    """
    found = []
    for folder in (root / ".pipimem", front_door.folder_of(root, ROOM) / ".pipimem"):
        paths = [folder, *sorted(folder.rglob("*"))] if folder.exists() else []
        found += [path.relative_to(root).as_posix() for path in paths]
    return found


def delete(path: Path) -> None:
    """Delete a file, or a folder with all that is in it, as a person does."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
