"""A turn whose local order is unsure asks a model, waits seconds, and goes on without it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from pipimem import Channel, Pipimem
from pipimem.errors import ModelTimeout
from pipimem.runtime.channel import upkeep_of
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Answer, Call, Rerank, Reranked, Task

from tests.runtime.building import Hands, say, settings, workspace, write

pytestmark = pytest.mark.anyio
# Twelve entries that share the same words with the question: which eight are shown is chance.
DUTIES = (
    "sorts mail",
    "bakes images",
    "prunes logs",
    "signs bills",
    "warms caches",
    "scans uploads",
    "counts visits",
    "ships books",
    "paints doors",
    "folds maps",
    "tunes fans",
    "rents bikes",
)
ALIKE = "## Facts\n" + "".join(f"- The staging cluster {leader_lock}\n" for leader_lock in DUTIES)
QUESTION = "what is on the staging cluster?"


@asynccontextmanager
async def asked(
    tmp_path: Path, assistant: Scripted, rerank: str = "auto", seconds: float = 3
) -> AsyncIterator[Channel]:
    """A channel with twelve entries alike, past its first turn."""
    root, plain = workspace(tmp_path), settings()
    write(root, "MEMORY.md", ALIKE)
    wanted = replace(
        plain,
        recall=replace(plain.recall, rerank=rerank),  # type: ignore[arg-type]
        model=replace(plain.model, rerank_timeout=seconds),
    )
    async with Pipimem(
        root, assistant=assistant, settings=wanted, clock=Hands().clock()
    ) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        await say(channel, "你好")
        yield channel


def injected(turn_context: str) -> list[str]:
    """What the injected entries say the cluster does."""
    return [
        leader_lock
        for line in turn_context.splitlines()
        for leader_lock in DUTIES
        if leader_lock in line
    ]


async def test_an_unsure_order_is_put_right_by_the_model(tmp_path: Path) -> None:
    """The model sees the question and the candidates, and what it names is injected in its
    order.
    """
    model = Scripted({"rerank": [Reranked((7, 2))]}, paid=True)
    async with asked(tmp_path, model) as channel:
        local = [
            one.item.text.removeprefix("The staging cluster ")
            for one in (await channel.recall(QUESTION)).candidates
        ]
        turn = await channel.before_turn(QUESTION)
        assert injected(turn.context) == [local[6], local[1]]
    task = model.asked[0]
    assert isinstance(task, Rerank)
    assert (task.query, len(task.candidates)) == (QUESTION, 12)


async def test_a_model_that_fails_leaves_the_order(tmp_path: Path) -> None:
    """An error is no turn without memory."""
    async with asked(tmp_path, Scripted({"rerank": [ModelTimeout("late")]}, paid=True)) as channel:
        turn = await channel.before_turn(QUESTION)
    assert len(injected(turn.context)) == 8


async def test_a_slow_model_is_not_waited_for(tmp_path: Path) -> None:
    """After its seconds the local order is taken."""

    class Slow(Scripted):
        async def answer(self, task: Task, call: Call) -> Answer:
            if isinstance(task, Rerank):
                await anyio.sleep_forever()
            return await super().answer(task, call)

    async with asked(tmp_path, Slow(paid=True), seconds=0.05) as channel:
        turn = await channel.before_turn(QUESTION)
    assert len(injected(turn.context)) == 8


@pytest.mark.parametrize(("rerank", "paid"), [("never", True), ("auto", False), ("always", False)])
async def test_who_may_not_rerank_is_not_asked(rerank: str, paid: bool, tmp_path: Path) -> None:
    """Switched off, or rules that know no better than recall itself."""
    rules = Scripted(paid=paid)
    async with asked(tmp_path, rules, rerank) as channel:
        await channel.before_turn(QUESTION)
    assert not [task for task in rules.asked if isinstance(task, Rerank)]


async def test_always_asks_where_the_order_is_sure(tmp_path: Path) -> None:
    """Three entries fit anyway; with `always` the model may still leave one out."""
    model = Scripted({"rerank": [Reranked((2,))]}, paid=True)
    async with asked(tmp_path, model, "always") as channel:
        write(
            upkeep_of(channel).store.folder.parent.parent,
            "MEMORY.md",
            "\n".join(ALIKE.splitlines()[:4]) + "\n",
        )
        turn = await channel.before_turn(QUESTION)
    assert len(injected(turn.context)) == 1


async def test_the_model_sees_nothing_private_of_the_question(tmp_path: Path) -> None:
    """A prompt is written to somebody else's disk."""
    model = Scripted({"rerank": [Reranked((7, 2))]}, paid=True)
    async with asked(tmp_path, model) as channel:
        await channel.before_turn(f"{QUESTION} <private>my salary is 5000</private>")
    (task,) = [task for task in model.asked if isinstance(task, Rerank)]
    assert QUESTION in task.query
    assert "5000" not in task.query
