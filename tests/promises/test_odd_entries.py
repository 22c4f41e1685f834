"""Entries that a person may well write, and that once broke what read them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from tests.promises import front_door
from tests.promises.front_door import Kind, Message, PipimemError
from tests.promises.processes import command

ROOM = "room"


def test_an_entry_until_the_last_day_of_the_calendar_breaks_no_command(workspace: Path) -> None:
    """`--until 9999-12-31` is how people say "for ever"."""
    text = "the office is in Main Street"
    assert command(workspace, "remember", ROOM, text, "--until", "9999-12-31").code == 0
    for arguments in (
        ("status",),
        ("maintain",),
        ("list", ROOM),
        ("doctor",),
        ("consolidate", ROOM),
        ("recall", ROOM, "Where is the office?"),
    ):
        ended = command(workspace, *arguments)
        assert (ended.code, ended.has_traceback) == (0, False), (arguments, ended)

    async def live() -> str:
        async with front_door.busy(workspace, idle_seconds=0.05) as pipimem:
            channel = await pipimem.channel(ROOM)
            for number in range(3):
                turn = await front_door.before_turn(channel, "Where is the office?")
                await front_door.after_turn(channel, turn, [Message.user("Hi.", id=f"m{number}")])
                await anyio.sleep(0.1)
            return (await front_door.before_turn(channel, "Is the office in Main Street?")).problem

    assert anyio.run(live) == ""


@pytest.mark.parametrize(
    "text", ["```python", "~~~", "<!-- a comment", "<details>", "---", "# One"]
)
def test_an_entry_that_looks_like_markup_stays_one_entry_of_its_section(
    workspace: Path, text: str
) -> None:
    """What comes after it is no code block, comment or heading of its."""

    async def live() -> list[tuple[str, str]]:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM)
            await front_door.remember(channel, "tea is green")
            await front_door.remember(channel, text, kind=Kind.OPEN_LOOP)
            await front_door.remember(channel, "milk is white", kind=Kind.LESSON)
            await front_door.remember(channel, "coffee is black")
            return [(each.section, each.text) for each in await front_door.entries(channel)]

    found = anyio.run(live)
    sections = {entry: section for section, entry in found}
    assert sections["tea is green"] == sections["coffee is black"] != sections["milk is white"]
    assert len(found) == 4
    known = ("tea is green", "coffee is black", "milk is white")
    [odd] = [section for section, entry in found if entry not in known]
    assert odd not in (sections["tea is green"], sections["milk is white"])


def test_a_note_that_could_not_be_read_again_is_refused_before_it_is_written(
    workspace: Path,
) -> None:
    """`remember` may raise; the next turn still has memory, and the workspace closes."""

    async def live() -> str:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM)
            await front_door.remember(channel, "tea is green")
            for number in range(6):
                with suppress(PipimemError):
                    await front_door.remember(channel, f"note {number} " + "tea word " * 400_000)
            return (await front_door.before_turn(channel, "Is tea green?")).problem

    assert anyio.run(live) == ""
