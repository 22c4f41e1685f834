"""An editor saves a buffer that it loaded before others wrote: both sides are kept."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import pytest

from tests.promises import front_door
from tests.promises.front_door import Channel, FixedClock, Message
from tests.promises.processes import command

ROOM = "room"
PLACES = (
    "in the cellar",
    "behind the shed",
    "under the roof",
    "at the gate",
    "by the well",
    "near the oak",
)
OLDER = [f"the {colour} lamp stands {place}" for colour in ("red", "green") for place in PLACES]


def in_place(path: Path, text: str) -> None:
    """Saves as nano does."""
    path.write_text(text, "utf-8")


def by_rename(path: Path, text: str) -> None:
    """Saves as vim does."""
    fresh = path.with_name("buffer~")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)


async def speak(channel: Channel, text: str) -> str:
    """One whole turn; returns its context."""
    turn = await front_door.before_turn(channel, text, speaker="alice")
    await front_door.after_turn(channel, turn, [Message.user(text, speaker="alice")])
    assert not turn.problem
    return turn.context


def memory(root: Path) -> Path:
    """The path of MEMORY.md."""
    return front_door.folder_of(root, ROOM) / "MEMORY.md"


@pytest.mark.parametrize("save", [in_place, by_rename], ids=lambda save: save.__name__)
@pytest.mark.parametrize("is_seen", [False, True])
@pytest.mark.parametrize("commits", [1, 9])
def test_a_typed_line_and_what_came_meanwhile_both_stay(
    workspace: Path, save: Callable[[Path, str], None], is_seen: bool, commits: int
) -> None:
    """However many commits ago the buffer was loaded, and whether a turn saw the save or not."""
    path = memory(workspace)

    async def live() -> None:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            for text in OLDER[:3]:
                await front_door.remember(channel, text)
            buffer = path.read_text("utf-8")
            for text in OLDER[3 : 3 + commits]:
                await front_door.remember(channel, text)
            edited = buffer.replace("\n- ", "\n- the plumber's number is 5512\n- ", 1)
            edited = edited.replace(OLDER[1], f"{OLDER[1]}, or did so in May")
            save(path, edited)
            if is_seen:
                assert "5512" in await speak(channel, "What is the plumber's number?")
            await front_door.remember(channel, "the well is deep")

    anyio.run(live)
    lines = path.read_text("utf-8").splitlines()
    assert [line for line in OLDER[3 : 3 + commits] if lines.count(f"- {line}") != 1] == []
    assert lines.count("- the plumber's number is 5512") == 1
    assert lines.count(f"- {OLDER[1]}, or did so in May") == 1
    assert lines.count("- the well is deep") == 1
    assert f"- {OLDER[1]}" not in lines


@pytest.mark.parametrize("record", [True, False])
def test_a_save_that_a_turn_has_seen_outlives_another_persons_older_buffer(
    workspace: Path, record: bool
) -> None:
    """Both lines stand in the file, and `log` knows both saves."""
    path = memory(workspace)

    async def live() -> None:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            await front_door.remember(channel, "Anna likes tea")
            older = path.read_text("utf-8")
            in_place(path, older + "- The neighbour with a key is Mr Patel\n")
            asked = "Which neighbour has a key?"
            said = [Message.user(asked, speaker="Jess"), Message.assistant("Mr Patel.")]
            for _ in range(2):
                turn = await front_door.before_turn(channel, asked, speaker="Jess", record=record)
                assert "Patel" in turn.context
                await front_door.after_turn(channel, turn, said)
                if path.read_text("utf-8").count("green") == 0:
                    in_place(path, older.replace("likes tea", "likes green tea"))
            assert "Patel" in path.read_text("utf-8")
            assert "likes green tea" in path.read_text("utf-8")
            authors = [change.author for change in await front_door.log(channel)]
            assert authors[:2] == ["editor", "editor"]

    anyio.run(live)


@pytest.mark.parametrize("save", [in_place, by_rename], ids=lambda save: save.__name__)
def test_a_buffer_from_before_a_restart_and_a_compaction_keeps_both_sides(
    workspace: Path, save: Callable[[Path, str], None]
) -> None:
    """Nobody runs while it is saved."""
    path = memory(workspace)

    async def begin() -> str:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            for text in OLDER[:3]:
                await front_door.remember(channel, text)
            await speak(channel, "We decided to paint the shed green.")
            buffer = path.read_text("utf-8")
            await front_door.compacted(channel, await front_door.before_compaction(channel))
            await front_door.remember(channel, OLDER[4])
            return buffer

    async def go_on() -> None:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            assert "5512" in await speak(channel, "What is the plumber's number?")
            await front_door.remember(channel, OLDER[5])

    buffer = anyio.run(begin)
    save(path, buffer + "- the plumber's number is 5512\n")
    anyio.run(go_on)
    text = path.read_text("utf-8")
    for kept in (*OLDER[:3], OLDER[4], OLDER[5], "5512", "We decided to paint the shed green"):
        assert text.count(kept) == 1, kept


def test_a_deletion_by_hand_holds_though_the_buffer_is_old(workspace: Path) -> None:
    """What was deleted is gone; what came meanwhile stays, also through a compaction."""
    path = memory(workspace)

    async def live() -> None:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            for text in OLDER[:4]:
                await front_door.remember(channel, text)
            buffer = path.read_text("utf-8")
            await front_door.remember(channel, OLDER[5])
            in_place(path, buffer.replace(f"- {OLDER[1]}\n", ""))
            await speak(channel, "Hello?")
            await front_door.compacted(channel, await front_door.before_compaction(channel))
            await front_door.remember(channel, OLDER[6])

    anyio.run(live)
    text = path.read_text("utf-8")
    assert OLDER[1] not in text
    assert [kept for kept in (OLDER[0], *OLDER[2:4], *OLDER[5:7]) if text.count(kept) != 1] == []


def forgetting(root: Path, *, hours: float, save: Callable[[Path, str], None]) -> None:
    """A buffer with a forgotten line is saved so many hours after the forget."""
    path = memory(root)
    clock = FixedClock(datetime.fromisoformat("2026-03-02T09:00:00+08:00"))

    async def live() -> None:
        async with front_door.quiet(root, clock=clock) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            for text in ("tea is green", "the parrot is called zebra7", "milk is white"):
                await front_door.remember(channel, text)
            await speak(channel, "Hello?")
            buffer = path.read_text("utf-8")
            clock.advance(timedelta(minutes=1))
            await front_door.forget(channel, "the parrot is called zebra7")
            clock.advance(timedelta(hours=hours))
            save(path, buffer.replace("- tea is green", "- tea is green and hot"))
            saved = time.time() + hours * 3600
            os.utime(path, (saved, saved))
            context = await speak(channel, "What is the parrot called?")
            assert ("zebra7" in context) == (hours > 24)
            await front_door.remember(channel, "the lift is red")

    anyio.run(live)


@pytest.mark.parametrize("save", [in_place, by_rename], ids=lambda save: save.__name__)
def test_a_forgotten_line_that_an_old_buffer_saves_is_removed_and_reported(
    workspace: Path, save: Callable[[Path, str], None]
) -> None:
    """The person's other edit stays."""
    forgetting(workspace, hours=0.1, save=save)
    lines = memory(workspace).read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("- ")] == [
        "- tea is green and hot",
        "- milk is white",
        "- the lift is red",
    ]
    for file in workspace.rglob("*"):
        assert not file.is_file() or b"zebra7" not in file.read_bytes(), file
    assert "forgotten" in command(workspace, "doctor").printed
    assert command(workspace, "forget", ROOM, "--verify", "zebra7").code == 0


def test_a_forgotten_line_that_is_typed_a_day_later_is_the_persons(workspace: Path) -> None:
    """Nobody's buffer is that old."""
    forgetting(workspace, hours=25, save=in_place)
    text = memory(workspace).read_text("utf-8")
    assert text.count("- the parrot is called zebra7\n") == 1
    assert text.count("- tea is green and hot\n") == 1


ALIKE_LINES = (
    ("Tom is on leave on Monday", "Tim is on leave on Tuesday"),
    ("buy 3 litres of milk", "buy 2 litres of oil"),
    ("human hh69 line", "human hh70 line"),
    ("周一林晓请假", "周二林晨请假"),
    ("Bob owes Ann 30 euros", "Bob owes Eva 40 euros"),
)
ALIKE_ENTRIES = (
    ("Tom is on leave on Monday", "Tim is on leave on Tuesday"),
    ("the red key opens the front door", "the blue key opens the back door"),
    ("Bob owes Ann 30 euros", "Bob owes Eva 40 euros"),
    ("数据库每周一备份", "代码库每周二备份"),
    ("invoice 1041 was paid on Monday", "invoice 1042 was not paid on Monday"),
    ("Eva is allergic to peanuts", "Ivo is allergic to walnuts"),
)


def alike(root: Path, first: str, second: str, *, is_typed: bool) -> list[str]:
    """What is lost of two lines, the second saved from a buffer without the first."""
    path = memory(root)

    async def live() -> None:
        async with front_door.quiet(root) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            for number in range(6):
                await front_door.remember(channel, f"older fact {number * 7} of {number * 3}")
            buffer = path.read_text("utf-8")
            if is_typed:
                by_rename(path, f"{buffer}- {first}\n")
                await speak(channel, "Hello?")
            else:
                await front_door.remember(channel, first)
            by_rename(path, f"{buffer}- {second}\n")
            await speak(channel, "Hello?")
            await front_door.remember(channel, "an unrelated thing of tea")

    anyio.run(live)
    lines = path.read_text("utf-8").splitlines()
    return [each for each in (first, second) if lines.count(f"- {each}") != 1]


@pytest.mark.parametrize(
    ("cases", "is_typed"),
    [(ALIKE_LINES, True), (ALIKE_ENTRIES, False)],
    ids=["typed lines", "entries"],
)
def test_lines_that_are_alike_both_stay(
    tmp_path: Path, cases: tuple[tuple[str, str], ...], is_typed: bool
) -> None:
    """Likeness of letters never decides that a text may go."""
    lost = []
    for number, (first, second) in enumerate(cases):
        root = tmp_path / str(number)
        (root / "channels").mkdir(parents=True)
        lost += alike(root, first, second, is_typed=is_typed)
    assert lost == []


def test_lines_that_are_not_alike_both_stay(tmp_path: Path) -> None:
    """The same journey, with lines that resemble nothing."""
    lost = []
    for is_typed in (False, True):
        root = tmp_path / str(is_typed)
        (root / "channels").mkdir(parents=True)
        lost += alike(root, "Tom is on leave", "the boiler needs oil", is_typed=is_typed)
    assert lost == []


def test_a_turn_without_an_edit_adds_nothing_to_the_log(workspace: Path) -> None:
    """Changes are noted where somebody changed something."""

    async def live() -> None:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            await front_door.remember(channel, "Anna likes tea")
            before = await front_door.log(channel)
            await speak(channel, "What does Anna like?")
            assert await front_door.log(channel) == before

    anyio.run(live)
