"""A sidecar of the host's own may fail in any way."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal, cast

import anyio
import pytest
from pipimem import Clock, Pipimem
from pipimem.errors import AnswerRefused, SettingsError, SidecarError
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Bullet
from pipimem.sidecar.guarded import GuardedAssistant
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import (
    Answer,
    Call,
    Consolidate,
    Consolidated,
    Fold,
    Folded,
    HistoryItem,
    Learned,
    Merge,
    Outdated,
    Refreshed,
    Rerank,
    Reranked,
    Task,
    Tidied,
    Tidy,
)

from tests.runtime.building import MORNING, opened, say, workspace

pytestmark = pytest.mark.anyio


async def test_an_odd_error_defers(tmp_path: Path) -> None:
    """A ValueError out of somebody's client is a thought that failed, not the end of the bot."""
    odd = Scripted({"consolidate": [ValueError("boom")] * 2})
    async with opened(workspace(tmp_path), odd) as channel:
        await say(channel, "hello")
        receipt = await channel.before_compaction()
    assert (receipt.may_compact, receipt.state) == (True, "deferred")
    assert receipt.steps[0] == "consolidate: the assistant failed with ValueError: boom"


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


async def test_an_error_without_words_defers(tmp_path: Path) -> None:
    """Not even its text may escape."""
    odd = Scripted({"consolidate": [Mute()] * 2})
    async with opened(workspace(tmp_path), odd) as channel:
        await say(channel, "hello")
        receipt = await channel.before_compaction()
    assert (receipt.may_compact, receipt.state) == (True, "deferred")
    [step] = receipt.steps
    assert step == "consolidate: the assistant failed with Mute: it cannot say what is wrong"


class MuteSidecarError(SidecarError):
    """One of ours, raised by a host, without words."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


async def test_a_sidecar_error_without_words_defers(tmp_path: Path) -> None:
    """The host's own error of our kind is no better than any other."""
    odd = Scripted({"consolidate": [MuteSidecarError()] * 2})
    async with opened(workspace(tmp_path), odd) as channel:
        await say(channel, "hello")
        receipt = await channel.before_compaction()
    assert (receipt.may_compact, receipt.state) == (True, "deferred")
    assert receipt.steps[0] == "consolidate: it cannot say what is wrong"


class Cancelling(Scripted):
    """Waits for what others have cancelled."""

    async def answer(self, task: Task, call: Call) -> Answer:
        raise asyncio.CancelledError


async def test_a_cancellation_that_nobody_asked_for_defers(tmp_path: Path) -> None:
    """A client whose own task was cancelled is no reason to end the host's."""
    async with opened(workspace(tmp_path), Cancelling()) as channel:
        await say(channel, "hello")
        receipt = await channel.before_compaction()
    assert (receipt.may_compact, receipt.state) == (True, "deferred")
    assert receipt.steps[0].startswith("consolidate: the assistant failed with CancelledError")


async def test_who_is_cancelled_is_cancelled(tmp_path: Path) -> None:
    """The host's own cancellation goes through the assistant."""

    class Slow(Scripted):
        async def answer(self, task: Task, call: Call) -> Answer:
            await anyio.sleep_forever()
            raise AssertionError

    async with opened(workspace(tmp_path), Slow()) as channel:
        await say(channel, "hello")
        with anyio.move_on_after(0.2) as scope:
            await channel.before_compaction(deadline=60)
        channel._log.has_new_messages = False
    assert scope.cancelled_caught


async def test_an_answer_of_another_type_is_refused(tmp_path: Path) -> None:
    """None where a decision should be changes nothing."""

    class Silent(Scripted):
        async def answer(self, task: Task, call: Call) -> Answer:
            if isinstance(task, Consolidate):
                return cast("Answer", None)
            return await Scripted.answer(self, task, call)

    async with opened(workspace(tmp_path), Silent()) as channel:
        await say(channel, "hello")
        receipt = await channel.before_compaction()
    assert receipt.reason == "the assistant answered with NoneType instead of Consolidated"


ODD: tuple[tuple[str, Answer, str], ...] = (
    ("refresh", Refreshed(cast("dict[str, tuple[str, ...]]", None)), "sections"),
    ("refresh", Refreshed({"Current State": cast("tuple[str, ...]", None)}), "sections"),
    ("refresh", Refreshed({"Current State": cast("tuple[str, ...]", "tea")}), "sections"),
    ("refresh", Refreshed({"Current State": cast("tuple[str, ...]", (1,))}), "sections"),
    ("consolidate", Consolidated(cast("tuple[Learned, ...]", None)), "learned"),
    ("consolidate", Consolidated(cast("tuple[Learned, ...]", ("tea",))), "learned"),
    ("consolidate", Consolidated(history=cast("tuple[HistoryItem, ...]", "tea")), "history"),
    ("consolidate", Consolidated(history=(HistoryItem(cast("str", None)),)), "text"),
    ("consolidate", Consolidated((Learned(Kind.FACT, cast("str", None), ()),)), "text"),
    ("consolidate", Consolidated((Learned(cast("Kind", "odd"), "tea", ()),)), "kind"),
    ("consolidate", Consolidated(title=cast("str", object())), "another type"),
    ("consolidate", Consolidated(sheet=cast("dict[str, tuple[str, ...]]", "tea")), "sheet"),
)


@pytest.mark.parametrize(("task", "odd", "field"), ODD)
async def test_an_answer_with_a_field_of_another_type_defers(
    tmp_path: Path, task: str, odd: Answer, field: str
) -> None:
    """The right answer with wrong contents is a failed answer, which says which field."""
    talked = Consolidated(history=(HistoryItem("They said hello.", ()),))
    answers = {"refresh": [Refreshed()], "consolidate": [talked], task: [odd]}
    async with opened(workspace(tmp_path), Scripted(answers)) as channel:
        await say(channel, "hello")
        receipt = await channel.before_compaction()
        if task == "refresh":  # all else is learnt now, and only SESSION.md is behind
            receipt = await channel.before_compaction()
        channel._log.has_new_messages = False
    assert receipt.may_compact
    assert (receipt.state == "deferred") == (task == "consolidate")
    step = next(step for step in receipt.steps if step.startswith(task))
    assert field in step


@pytest.mark.parametrize(
    ("task", "odd"),
    [
        (Tidy(MORNING, (), ()), Tidied(merge=cast("tuple[Merge, ...]", "tea"))),
        (Tidy(MORNING, (), ()), Tidied((Merge(cast("tuple[str, ...]", None), "tea"),))),
        (Tidy(MORNING, (), ()), Tidied(drop=(Outdated("a", cast("str", None)),))),
        (Fold("2026-03", ()), Folded("March", cast("tuple[HistoryItem, ...]", None))),
        (Fold("2026-03", ()), Folded(cast("str", None), ())),
        (Rerank("tea?", ("tea",)), Reranked(cast("tuple[int, ...]", "1"))),
        (Rerank("tea?", ("tea",)), Reranked((2,))),
        (Rerank("tea?", ("tea",)), Reranked((0,))),
    ],
)
async def test_every_task_refuses_fields_of_another_type(task: Task, odd: Answer) -> None:
    """Idle jobs and recall get our error, never a TypeError."""

    class Odd(Scripted):
        async def answer(self, task: Task, call: Call) -> Answer:
            return odd

    with pytest.raises(AnswerRefused):
        await GuardedAssistant(Odd()).answer(task, Call("room", "c", 1.0))


async def test_a_list_is_as_good_as_a_tuple() -> None:
    """Nobody's answer is lost for it, nor for a kind by its name."""

    class Lists(Scripted):
        async def answer(self, task: Task, call: Call) -> Answer:
            learned = Learned(cast("Kind", "fact"), "tea", cast("tuple[str, ...]", ["1"]))
            return Consolidated(cast("tuple[Learned, ...]", [learned]))

    task = Consolidate(MORNING, (), (), ())
    answer = await GuardedAssistant(Lists()).answer(task, Call("room", "c", 1.0))
    assert answer == Consolidated((Learned(Kind.FACT, "tea", ("1",)),))


async def test_a_hosts_assistant_is_not_held_to_the_bounds_of_a_model() -> None:
    """Memory cuts what is long, and a value of necessity that it does not know is low."""
    learned = Learned(Kind.FACT, "tea " * 100, (), "Dana", cast("Literal['low']", "certain"))
    answer = Consolidated((learned,), tuple(Outdated("a", "w" * 300) for _ in range(20)))
    task = Consolidate(MORNING, (), (), ())
    given = await GuardedAssistant(Scripted([answer])).answer(task, Call("room", "c", 1.0))
    assert given == answer


@pytest.mark.parametrize("sources", [("m1",), ["m1"], {"m1"}])
async def test_a_bullet_of_0_2_is_a_history_item_with_a_warning(sources: object) -> None:
    """An assistant that was written for 0.2 works until 0.4.0, also with a list."""
    old = cast("HistoryItem", Bullet("They said hello.", cast("tuple[str, ...]", sources), 2))
    answers = Scripted([Consolidated(history=(old,)), Folded("March", (old,))])
    assistant, call = GuardedAssistant(answers), Call("room", "c", 1.0)
    new = HistoryItem("They said hello.", ("m1",), 2)
    with pytest.warns(DeprecationWarning, match="HistoryItem"):
        answer = await assistant.answer(Consolidate(MORNING, (), (), ()), call)
    assert answer == Consolidated(history=(new,))
    with pytest.warns(DeprecationWarning, match="HistoryItem"):
        assert await assistant.answer(Fold("2026-03", ()), call) == Folded("March", (new,))


def test_a_clock_without_an_offset_is_refused_at_once(tmp_path: Path) -> None:
    """Not hours later, in the middle of a night's maintenance."""
    naive = Clock(now=lambda: MORNING.replace(tzinfo=None))
    with pytest.raises(SettingsError, match="need an offset"):
        Pipimem(workspace(tmp_path), clock=naive)
