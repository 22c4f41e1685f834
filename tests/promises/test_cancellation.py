"""A call is cancelled at each await: nothing acknowledged is lost, and the next call works."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.promises import front_door
from tests.promises.front_door import (
    Channel,
    Consolidated,
    HistoryItem,
    Kind,
    Learned,
    Message,
    Pipimem,
)
from tests.promises.lived_workspace import messages
from tests.promises.processes import command

ROOM = "room"
# More awaits than any call has, so that a loop ends.
_MOST = 400
# The short form takes every so many awaits.
_STEPS = {"by_scope": 5, "by_task": 7, "by_deadline": 9}
Work = Callable[[], Coroutine[Any, Any, object]]


@types.coroutine
def stopped_at(
    work: Coroutine[Any, Any, object], number: int, stop: Callable[[], object]
) -> Generator[Any, Any, int]:
    """Await a coroutine, and call `stop` when it is suspended for the `number`-th time.

    Returns how often it was suspended; what it raises goes on.
    """
    suspended, answer, error = 0, None, None
    while True:
        try:
            waited_for = work.send(answer) if error is None else work.throw(error)
        except StopIteration:
            return suspended
        suspended += 1
        if suspended == number:
            stop()
        answer, error = None, None
        try:
            answer = yield waited_for
        except BaseException as raised:  # noqa: BLE001 - handed on to the coroutine
            error = raised


async def by_scope(work: Work, number: int) -> bool:
    """Cancel the scope around a call at its `number`-th await; False if it has fewer."""
    with anyio.CancelScope() as scope:
        return await stopped_at(work(), number, scope.cancel) >= number
    return True


async def by_deadline(work: Work, number: int) -> bool:
    """Let the deadline of the scope pass at the `number`-th await."""

    def pass_by() -> None:
        scope.deadline = anyio.current_time()

    with anyio.CancelScope() as scope:
        return await stopped_at(work(), number, pass_by) >= number
    return True


async def by_task(work: Work, number: int) -> bool:
    """Cancel the task itself, as asyncio does without scopes: no shield holds that off."""

    async def run() -> bool:
        task = asyncio.current_task()
        assert task is not None
        return await stopped_at(work(), number, task.cancel) >= number

    try:
        return await asyncio.ensure_future(run())
    except asyncio.CancelledError:
        return True


@dataclass(slots=True)
class Model:
    """An assistant that takes some awaits to answer, and learns one fact of each window."""

    name: str = "model"
    paid: bool = False

    async def answer(self, task: Any, call: object) -> Any:
        """Answers `Consolidate`."""
        for _ in range(3):
            await anyio.sleep(0)
        said = [message for message in task.window if message.role == "user"][-1]
        return Consolidated(
            learned=(Learned(Kind.FACT, said.content, (said.id,), speaker=said.speaker),),
            history=(HistoryItem(f"{said.speaker} spoke.", (said.id,)),),
        )


@dataclass(slots=True)
class Bot:
    """A bot whose calls are cancelled, and what was acknowledged to it."""

    root: Path
    pipimem: Pipimem
    channel: Channel
    number: int = 0
    messages: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    # Acknowledged to be gone.
    gone: set[str] = field(default_factory=set)

    async def turn(self) -> None:
        """A whole turn."""
        name = self._next()
        turn = await front_door.before_turn(self.channel, f"What of {name}?", speaker="alice")
        assert not turn.problem
        said = [
            Message.user(f"What of {name}?", id=f"u{name}"),
            Message.assistant("?", id=f"a{name}"),
        ]
        await front_door.after_turn(self.channel, turn, said)
        self.messages |= {message.id for message in said}

    async def take_in(self) -> None:
        """Messages that come without a turn."""
        name = self._next()
        await front_door.take_in(self.channel, [Message.user("and then?", id=f"t{name}")])
        self.messages.add(f"t{name}")

    async def remember(self) -> None:
        """An entry."""
        text = f"gate {self._next()} is open"
        await front_door.remember(self.channel, text)
        self.texts.add(text)

    async def update(self) -> None:
        """An entry that is reworded."""
        entry = (await front_door.entries(self.channel))[0]
        text = f"lamp {self._next()} is lit"
        self.texts.discard(entry.text)
        await front_door.update(self.channel, entry.id, text)
        self.gone.add(entry.text)
        self.texts.add(text)

    async def take_out(self) -> None:
        """An entry that goes."""
        entry = (await front_door.entries(self.channel))[0]
        self.texts.discard(entry.text)
        await front_door.take_out(self.channel, entry.id)
        self.gone.add(entry.text)

    async def forget(self) -> None:
        """A text that is forgotten."""
        entry = (await front_door.entries(self.channel))[0]
        self.texts.discard(entry.text)
        await front_door.forget(self.channel, entry.text)
        self.gone.add(entry.text)

    async def compaction(self) -> None:
        """The gate with a message that the transcript lacks, and the new epoch."""
        name = self._next()
        said = Message.user(f"We decided to paint wall {name}.", id=f"c{name}", speaker="bob")
        receipt = await front_door.before_compaction(self.channel, [said], deadline=30)
        if receipt.may_compact:
            self.messages.add(said.id)
            await front_door.compacted(self.channel, receipt)

    async def search(self) -> None:
        """Notes and talk are searched."""
        await front_door.search(self.channel, f"wall {self._next()}")

    async def undo(self) -> None:
        """An entry, and the change taken back."""
        text = f"mistake {self._next()}"
        await front_door.remember(self.channel, text)
        await front_door.undo(self.channel)
        self.gone.add(text)

    async def life(self) -> None:
        """Another bot of the same process opens the workspace, has a turn and leaves."""
        async with front_door.quiet(self.root) as pipimem:
            other = await pipimem.channel(ROOM, kind="group")
            name = self._next()
            said = [Message.user("Hello?", id=f"l{name}")]
            await front_door.after_turn(other, None, said)
            self.messages.add(said[0].id)

    def _next(self) -> str:
        self.number += 1
        return f"{self.number:03d}x{self.number * 7919 % 1000:03d}"


CALLS = (
    "turn",
    "take_in",
    "remember",
    "update",
    "take_out",
    "forget",
    "compaction",
    "search",
    "undo",
    "life",
)


async def cancel_everywhere(
    bot: Bot, name: str, cancelled: Callable[[Work, int], Awaitable[bool]], step: int
) -> int:
    """Cancel a call at each await, one after the other; returns how often it was cancelled.

    After each the bot remembers something: no lock is left held.
    """
    work: Work = getattr(bot, name)
    number, times = 1, 0
    while number < _MOST:
        with anyio.fail_after(60):
            if not await cancelled(work, number):
                return times
            await bot.remember()
        number, times = number + step, times + 1
    raise AssertionError(f"{name} never came to its end")


def afterwards(bot: Bot) -> list[str]:
    """What is lost, doubled or back on disk."""
    text, said = front_door.note(bot.root, ROOM), messages(bot.root, ROOM)
    lines = text.splitlines()
    return [
        *(f"{each} is lost" for each in bot.texts if lines.count(f"- {each}") != 1),
        *(f"{each} is back" for each in bot.gone if f"- {each}" in lines),
        *(
            f"{each} is there twice"
            for each in set(lines)
            if each[:2] == "- " and lines.count(each) > 1
        ),
        *(f"message {each} is lost" for each in bot.messages if not said[each]),
        *(f"message {each} is there {n} times" for each, n in said.items() if n > 1),
        *(f"{path.name} is left over" for path in bot.root.rglob("*tmp*")),
    ]


@pytest.mark.parametrize(
    ("backend", "way"),
    [("asyncio", by_scope), ("trio", by_scope), ("asyncio", by_task), ("trio", by_deadline)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_cancelled_call_loses_nothing_and_leaves_no_lock(
    workspace: Path,
    backend: str,
    way: Callable[[Work, int], Awaitable[bool]],
    is_long: bool,
    count_trials: Callable[..., None],
) -> None:
    """Every call at every await; the short form takes every fifth to ninth await."""

    async def live() -> Bot:
        async with front_door.quiet(workspace) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            bot = Bot(workspace, pipimem, channel)
            for _ in range(3):
                await bot.remember()
            step = 1 if is_long else _STEPS[way.__name__]
            for name in CALLS:
                times = await cancel_everywhere(bot, name, way, step)
                assert times > 0, f"{name} was never cancelled"
                count_trials(times)
            return bot

    bot = anyio.run(live, backend=backend)
    assert afterwards(bot) == []
    ended = command(workspace, "remember", ROOM, "another process")
    assert (ended.code, ended.has_traceback) == (0, False)
    assert afterwards(bot) == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_compaction_that_is_cancelled_while_its_model_answers_loses_nothing(
    workspace: Path, backend: str, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """At each await, those of the model among them; the next gate does the work."""

    async def live() -> Bot:
        async with front_door.quiet(workspace, "", assistant=Model()) as pipimem:
            channel = await pipimem.channel(ROOM, kind="group")
            bot = Bot(workspace, pipimem, channel)
            times = await cancel_everywhere(bot, "compaction", by_scope, 1 if is_long else 3)
            assert times > 2
            count_trials(times)
            await bot.compaction()
            said = [
                f"We decided to paint wall {each[1:]}." for each in bot.messages if each[0] == "c"
            ]
            text = front_door.note(workspace, ROOM)
            assert [each for each in said if each in text] != []
            return bot

    assert afterwards(anyio.run(live, backend=backend)) == []
