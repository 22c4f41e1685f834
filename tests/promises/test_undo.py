"""Every acknowledged change but a forget is undoable (promise 1), and odd times break nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests.promises.front_door import (
    CannotTakeBack,
    Channel,
    FixedClock,
    Kind,
    Message,
    before_turn,
    diff,
    entries,
    folder_of,
    log,
    maintain,
    note,
    remember,
    restore,
    run_command,
    take_out,
    texts,
    undo,
    update,
)
from tests.promises.rooms import (
    ASYNCIO,
    MORNING,
    opened,
    require_human_files,
    say,
    write_human_files,
)
from tests.promises.test_models import MANY

pytestmark = ASYNCIO


class Edits:
    """Random changes of a channel's notes, each by another hand; texts are all unlike."""

    def __init__(self, channel: Channel, workspace: Path, clock: FixedClock, seed: int) -> None:
        self.channel, self.workspace, self.clock = channel, workspace, clock
        self.chance = random.Random(seed)
        self.fresh = list(MANY)
        self.chance.shuffle(self.fresh)

    async def step(self) -> None:
        """One change that somebody acknowledges."""
        self.clock.advance(timedelta(minutes=7))
        kinds = [self.remember, self.compact, self.edit]
        if await entries(self.channel):
            kinds += [self.update, self.take_out, self.delete]
        await self.chance.choice(kinds)()

    async def remember(self) -> None:
        kind = self.chance.choice([Kind.FACT, Kind.CONSTRAINT, Kind.DECISION, Kind.PREFERENCE])
        await remember(self.channel, self.fresh.pop(), kind=kind)

    async def compact(self) -> None:
        await say(self.channel, f"remember that {self.fresh.pop()}")
        await self.channel.compacted(await self.channel.before_compaction())

    async def edit(self) -> None:
        path = folder_of(self.workspace, self.channel.id) / "MEMORY.md"
        text = path.read_text() if path.exists() else "# Memory\n\n## Facts\n\n"
        path.write_text(f"{text}\n* {self.fresh.pop()}\n")
        await self.look()

    async def delete(self) -> None:
        path = folder_of(self.workspace, self.channel.id) / "MEMORY.md"
        lines = path.read_text().splitlines(keepends=True)
        bullets = [n for n, line in enumerate(lines) if line[:2] in ("- ", "* ")]
        if len(bullets) > 2:
            del lines[self.chance.choice(bullets)]
            path.write_text("".join(lines))
        await self.look()

    async def look(self) -> None:
        """Have a file that was edited by hand read: only then is the edit a change in the log."""
        await before_turn(self.channel, "hello")
        await self.channel.after_turn(None, [Message.user("hello", speaker="Tom")])

    async def update(self) -> None:
        mine = [entry for entry in await entries(self.channel) if str(entry.trust) != "human"]
        if mine:
            await update(self.channel, self.chance.choice(mine).id, self.fresh.pop())

    async def take_out(self) -> None:
        mine = [entry for entry in await entries(self.channel) if str(entry.trust) != "human"]
        if mine:
            await take_out(self.channel, self.chance.choice(mine).id)


async def notes_text(channel: Channel) -> dict[str, str]:
    return {str(file): text for file, text in (await texts(channel)).items()}


async def test_random_changes_are_undone_one_by_one(
    workspace: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """Newest first, and after each the three files are as they were before that change."""
    write_human_files(workspace)
    for seed in range(30 if is_long else 2):
        clock = FixedClock(MORNING)
        name = f"room{seed}"
        async with opened(workspace, name, clock=clock) as channel:
            edits = Edits(channel, workspace, clock, seed)
            await edits.remember()
            begun = (await log(channel))[0].number
            after: dict[int, dict[str, str]] = {begun: await notes_text(channel)}
            for _ in range(10):
                await edits.step()
                number = (await log(channel))[0].number
                after[number] = await notes_text(channel)
            newest = (await log(channel))[0].number
            for number in range(newest, begun, -1):
                if not (await channel.history.change(number)).changes:
                    continue
                clock.advance(timedelta(minutes=1))
                await undo(channel, number)
                count_trials()
                wanted = after.get(number - 1)
                if wanted is not None:
                    assert await notes_text(channel) == wanted, (seed, number)
            assert await notes_text(channel) == after[begun]
    require_human_files(workspace)


async def test_an_undo_is_undone_and_a_restore_brings_back_each_state(workspace: Path) -> None:
    """The log grows; any state of the last 30 days comes back by its number, also an undo's."""
    clock = FixedClock(MORNING)
    async with opened(workspace, clock=clock) as channel:
        edits = Edits(channel, workspace, clock, 99)
        await edits.remember()
        after = {}
        for _ in range(8):
            await edits.step()
            after[(await log(channel))[0].number] = await notes_text(channel)
        await edits.remember()
        after[(await log(channel))[0].number] = await notes_text(channel)
        newest = (await log(channel))[0].number
        await undo(channel, newest)
        undone = (await log(channel))[0].number
        await undo(channel, undone)
        assert await notes_text(channel) == after[newest]
        for number in edits.chance.sample(sorted(after), 4):
            await restore(channel, number)
            assert await notes_text(channel) == after[number]
            assert (await diff(channel, number)) == ""


async def test_an_older_change_is_undone_alone(workspace: Path) -> None:
    """Later changes stay; where they rest on it the undo is refused and nothing changes."""
    async with opened(workspace) as channel:
        await remember(channel, MANY[0])
        number = (await log(channel))[0].number
        await remember(channel, MANY[1])
        await undo(channel, number)
        assert [entry.text for entry in await entries(channel)] == [MANY[1]]
        await remember(channel, MANY[2])
        number = (await log(channel))[0].number
        [entry] = [entry for entry in await entries(channel) if entry.text == MANY[2]]
        await update(channel, entry.id, MANY[3])
        before = await notes_text(channel)
        with pytest.raises(CannotTakeBack):
            await undo(channel, number)
        assert await notes_text(channel) == before


async def test_undo_by_the_command_line(workspace: Path) -> None:
    """`log --json` has the number, `undo` takes it back, a second `undo` the one before."""
    async with opened(workspace) as channel:
        await remember(channel, MANY[0])
        before = note(workspace, "room")
        await remember(channel, MANY[1])
    newest = json.loads(run_command(workspace, "log", "room", "--json").output.splitlines()[0])
    ran = run_command(workspace, "undo", "room", str(newest["seq"]), "--yes")
    assert ran.code == 0, ran.errors
    assert note(workspace, "room") == before
    assert run_command(workspace, "undo", "room", "--yes").code == 0
    assert MANY[0] not in note(workspace, "room")


async def test_undo_reaches_back_thirty_days(workspace: Path) -> None:
    """Through restarts, maintenance and other changes of a month."""
    clock = FixedClock(MORNING)
    async with opened(workspace, clock=clock) as channel:
        await remember(channel, MANY[0])
        number = (await log(channel))[0].number
    for day in range(1, 29):
        clock.advance(timedelta(days=1))
        if day % 4 == 0:
            async with opened(workspace, clock=clock) as channel:
                await remember(channel, MANY[day])
                await maintain(channel)
    async with opened(workspace, clock=clock) as channel:
        await undo(channel, number)
        kept = [entry.text for entry in await entries(channel)]
        assert MANY[0] not in kept
        assert len(kept) == 7


# ── clocks


async def test_what_holds_for_ever_breaks_nothing(workspace: Path) -> None:
    """`--until 9999-12-31`: status, maintain, doctor and a bot with idle work go on."""
    ran = run_command(
        workspace, "remember", "room", "the office is in Main Street", "--until", "9999-12-31"
    )
    assert ran.code == 0, ran.errors
    for line in (("status",), ("maintain",)):
        ran = run_command(workspace, *line)
        assert "Traceback" not in ran.errors, line
        assert ran.code == 0, ran.errors
    async with opened(workspace) as channel:
        assert "Main Street" in await say(channel, "where is the office?")
        assert (await channel.before_compaction()).state == "consolidated"


@pytest.mark.parametrize(
    "moment",
    [
        datetime(100, 1, 2, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
        datetime(9898, 12, 30, tzinfo=UTC),
    ],
    ids=lambda moment: str(moment.year),
)
async def test_odd_clocks_break_nothing(workspace: Path, moment: datetime) -> None:
    """A whole life of a channel at the ends of the calendar; nothing is lost."""
    clock = FixedClock(moment)
    async with opened(workspace, clock=clock) as channel:
        for until in (date(9999, 12, 31), moment.date()):
            await remember(channel, f"a thing until {until}", until=until)
        await remember(channel, MANY[0])
        turn = await before_turn(channel, MANY[0])
        assert turn.problem == ""
        await channel.after_turn(turn, [Message.user("hello"), Message.assistant("hi")])
        assert (await channel.before_compaction()).may_compact
        await maintain(channel)
        await undo(channel)
        assert MANY[0] in [entry.text for entry in await entries(channel)]


async def test_a_clock_that_runs_backwards_loses_nothing(workspace: Path) -> None:
    """The machine's time is set back by a day between two starts, and forward by a year."""
    for number, moment in enumerate(
        (MORNING, MORNING - timedelta(days=1), MORNING + timedelta(days=366))
    ):
        async with opened(workspace, clock=FixedClock(moment)) as channel:
            await remember(channel, MANY[number])
            await say(channel, f"remember that {MANY[10 + number]}")
            assert (await channel.before_compaction()).state == "consolidated"
            await maintain(channel)
    async with opened(workspace, clock=FixedClock(MORNING)) as channel:
        kept = note(workspace, "room")
        assert [text for text in (*MANY[:3], *MANY[10:13]) if text not in kept] == []
        await undo(channel)
