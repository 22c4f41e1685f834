"""A window that fails is narrowed, set aside and reported; nothing else waits behind it for
ever.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from pipimem import Channel, Message, Text
from pipimem.errors import AnswerRefused, BudgetSpent, ModelTimeout, ModelUnavailable, SidecarError
from pipimem.llm.request import ContextOverflow
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Hole, Narrowed
from pipimem.runtime.channel import upkeep_of
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import (
    Answer,
    Call,
    Consolidate,
    Consolidated,
    HistoryItem,
    Learned,
    Refresh,
    Refreshed,
    Task,
)

from tests.runtime.building import Hands, opened, read, workspace

pytestmark = pytest.mark.anyio

POISON = "the one that no model digests"


class Choking(Scripted):
    """Learns a fact of every message it can read; a window with the poison in it fails."""

    def __init__(
        self,
        error: Callable[[], SidecarError] = lambda: AnswerRefused("no JSON"),
        most: int = 10**9,
    ) -> None:
        super().__init__()
        self.error, self.most, self.poison = error, most, POISON
        self.windows: list[list[str]] = []

    async def answer(self, task: Task, call: Call) -> Answer:
        assert isinstance(task, Consolidate)
        self.windows.append([message.content for message in task.window])
        if sum(len(message.content) for message in task.window) > self.most:
            raise ContextOverflow("too long")
        if any(self.poison in message.content for message in task.window):
            raise self.error()
        learned = tuple(
            Learned(Kind.FACT, f"known: {m.content}", (m.id,))
            for m in task.window
            if m.role == "user"
        )
        told = (HistoryItem(f"told: {task.window[0].content}", (task.window[0].id,)),)
        return Consolidated(learned, history=told, sheet={})


async def talk(channel: Channel, *said: str) -> None:
    await channel.after_turn(None, [Message.user(text) for text in said])


async def idle(channel: Channel, hands: Hands, times: int) -> None:
    """Idle work, with an hour between for the waits after a failure."""
    for _ in range(times):
        hands.pass_by(hours=1.1)
        await upkeep_of(channel).maintain()


def facts(root: Path) -> list[str]:
    return [
        line.removeprefix("- known: ") for line in read(root).splitlines() if line.startswith("- ")
    ]


async def test_the_rest_of_a_failing_window_is_consolidated_and_the_message_set_aside(
    tmp_path: Path,
) -> None:
    """Halved and halved: everything around the poison is learnt, the poison is a hole in the
    ledger.
    """
    root, hands = workspace(tmp_path), Hands()
    said = [f"the shelf number {n} holds tea" for n in range(8)]
    async with opened(root, Choking(), hands=hands) as channel:
        await talk(channel, *said[:5], POISON, *said[5:])
        await idle(channel, hands, 12)
        ledger = (await upkeep_of(channel).notes()).ledger
    assert facts(root) == said
    assert (ledger.cursor, ledger.holes) == (9, (Hole(6, 6, "the answer was refused"),))
    assert ledger.narrowed == Narrowed()


async def test_a_window_fails_twice_before_it_is_halved_and_a_restart_counts_on(
    tmp_path: Path,
) -> None:
    """The state is in the ledger: a bot that restarts after every failure comes as far as one
    that does not.
    """
    root, hands = workspace(tmp_path), Hands()
    script = Choking()
    for _ in range(8):
        async with opened(root, script, hands=hands) as channel:
            if not script.windows:
                await talk(channel, "one", POISON)
                channel._log.has_new_messages = (
                    False  # leaving consolidates what was said; here only idle work shall
                )
            await idle(channel, hands, 1)
            last = (await upkeep_of(channel).notes()).ledger
    assert script.windows == [["one", POISON], ["one", POISON], ["one"], [POISON], [POISON]]
    assert (last.cursor, last.holes) == (2, (Hole(2, 2, "the answer was refused"),))


async def test_a_failing_window_keeps_its_end_while_talk_goes_on(tmp_path: Path) -> None:
    """It is the same window that is tried again; what came after it waits for its turn."""
    root, hands = workspace(tmp_path), Hands()
    async with opened(root, script := Choking(), hands=hands) as channel:
        await talk(channel, POISON)
        await idle(channel, hands, 1)
        await talk(channel, "two")
        await idle(channel, hands, 1)
        assert script.windows == [[POISON], [POISON], ["two"]]
        assert (await upkeep_of(channel).notes()).ledger.holes == (
            Hole(1, 1, "the answer was refused"),
        )


@pytest.mark.parametrize(
    "error", [ModelUnavailable("no route"), BudgetSpent("tomorrow"), SidecarError("a bug")]
)
async def test_what_is_not_the_windows_fault_waits(tmp_path: Path, error: SidecarError) -> None:
    """An unreachable provider or a spent budget narrows nothing and sets nothing aside."""
    root, hands = workspace(tmp_path), Hands()
    async with opened(root, script := Choking(lambda: error), hands=hands) as channel:
        await talk(channel, "one", POISON)
        await idle(channel, hands, 6)
        ledger = (await upkeep_of(channel).notes()).ledger
    assert script.windows == [["one", POISON]] * 6 + [
        ["one", POISON]
    ]  # the last is the gate of leaving
    assert (ledger.cursor, ledger.holes, ledger.narrowed) == (0, (), Narrowed())


async def test_a_window_that_is_too_long_shrinks_in_the_same_run(tmp_path: Path) -> None:
    """No failure, no wait: half the characters until it fits, and on to the end."""
    root = workspace(tmp_path)
    said = [f"{n}: " + "tea " * 24 for n in range(8)]
    async with opened(root, script := Choking(most=200)) as channel:
        await talk(channel, *said)
        [ran, *_] = await upkeep_of(channel).maintain(forced=True)
        ledger = (await upkeep_of(channel).notes()).ledger
    assert ran.ran
    assert (ledger.cursor, ledger.holes, ledger.jobs["consolidate"].failures) == (8, (), 0)
    assert max(len(window) for window in script.windows[2:]) == 4
    assert [text for window in script.windows if len(window) == 2 for text in window] == [
        t.strip() for t in said
    ]


async def test_a_message_that_no_context_holds_is_set_aside_at_the_second_run(
    tmp_path: Path,
) -> None:
    """A model with too small a context does not eat the whole backlog in one run."""
    root, hands = workspace(tmp_path), Hands()
    async with opened(root, Choking(most=2), hands=hands) as channel:
        await talk(channel, "too long", "as well")
        await idle(channel, hands, 1)
        assert (await upkeep_of(channel).notes()).ledger.holes == ()
        await idle(channel, hands, 1)
        assert (await upkeep_of(channel).notes()).ledger.holes == (
            Hole(1, 1, "longer than the model can read"),
        )


async def test_a_gate_narrows_too_and_its_receipt_tells_what_was_set_aside(tmp_path: Path) -> None:
    """Four gates at most until a host with `block` may compact again."""
    root = workspace(tmp_path)
    async with opened(root, Choking(), policy="block") as channel:
        await talk(channel, "one", POISON)
        states = [(await channel.before_compaction()).state for _ in range(3)]
        receipt = await channel.before_compaction()
        assert states == ["blocked"] * 3
        assert (receipt.state, receipt.cursor) == ("consolidated", 2)
        assert receipt.steps[-1] == "set aside: messages 2–2 (the answer was refused)"
    assert "- told: one" in read(root, "HISTORY.md")


async def test_a_gate_in_a_hurry_blames_no_window(tmp_path: Path) -> None:
    """No answer within a second says something about the second."""
    root = workspace(tmp_path)
    async with opened(root, Choking(lambda: ModelTimeout("late"))) as channel:
        await talk(channel, POISON)
        for _ in range(4):
            await channel.before_compaction(deadline=1)
        assert (await upkeep_of(channel).notes()).ledger.holes == ()
        for _ in range(2):
            await channel.before_compaction(deadline=60)
        assert (await upkeep_of(channel).notes()).ledger.holes == (Hole(1, 1, "no answer in time"),)


async def test_what_is_set_aside_is_recalled_as_it_was_said(tmp_path: Path) -> None:
    """From the next epoch on, also after a restart; forgetting takes it out of recall at once."""
    root = workspace(tmp_path)
    secret = f"{POISON}: the vault code word is heliotrope"
    question = "what was the vault code word?"
    async with opened(root, Choking()) as channel:
        await talk(channel, secret, "and nothing else")
        for _ in range(6):
            receipt = await channel.before_compaction()
        await channel.compacted(receipt)
        assert (await upkeep_of(channel).notes()).ledger.cursor == 2
        assert [one.item.id for one in (await channel.recall(question)).candidates] == ["log:m1"]
    async with opened(root, Choking()) as channel:
        assert [one.item.id for one in (await channel.recall(question)).candidates] == ["log:m1"]
        await channel.notes.forget(Text("heliotrope"))
        assert (await channel.recall(question)).candidates == ()


async def test_a_hole_is_closed_by_hand_once_the_model_can(tmp_path: Path) -> None:
    """Its facts are learnt, its block of history has its own time, and it is a hole no more."""
    root, script = workspace(tmp_path), Choking()
    async with opened(root, script) as channel:
        await talk(channel, POISON, "two")
        for _ in range(6):
            receipt = await channel.before_compaction()
        await channel.compacted(receipt)
        [hole] = (await upkeep_of(channel).notes()).ledger.holes
        assert await upkeep_of(channel).fill_holes() == {hole: "no JSON"}
        script.poison = "nothing is too much now"
        assert await upkeep_of(channel).fill_holes() == {hole: ""}
        ledger = (await upkeep_of(channel).notes()).ledger
    assert (ledger.holes, ledger.cursor, ledger.boundary) == ((), 2, 2)
    assert facts(root) == ["two", POISON]
    assert read(root, "HISTORY.md").count("- told: ") == 2


async def test_a_hole_turns_nothing_newer_back(tmp_path: Path) -> None:
    """The old release day was set aside, the new one stands: trying again does not bring the old
    one back.
    """
    root, hands, script = workspace(tmp_path), Hands(), Choking()
    async with opened(root, script, hands=hands) as channel:
        await talk(channel, f"{POISON}, the release is on Thursday")
        for _ in range(2):
            await channel.before_compaction()
        hands.pass_by(days=1)
        await talk(channel, "the release is on Monday")
        await channel.before_compaction()
        [newer] = (await upkeep_of(channel).notes()).memory.entries
        old = Learned(Kind.DECISION, "the release is on Thursday", ("m1",), replaces=(newer.id,))
        script.answer = _always(
            Consolidated((old,), history=(HistoryItem("release day", ("m1",)),))
        )  # type: ignore[method-assign]
        assert set((await upkeep_of(channel).fill_holes()).values()) == {""}
    assert facts(root) == ["the release is on Monday"]


def _always(answer: Consolidated) -> Callable[[Task, Call], Awaitable[Answer]]:
    async def answered(task: Task, call: Call) -> Answer:
        return Refreshed() if isinstance(task, Refresh) else answer

    return answered
