"""Work waits for its place, and a while for acknowledgements."""

from __future__ import annotations

import asyncio

import pytest
from pipimem.bots.dingtalk import bot_context as module
from pipimem.bots.dingtalk.bot_context import Slots

pytestmark = pytest.mark.anyio


async def entered(slots: Slots, order: list[str], name: str) -> None:
    async with slots:
        order.append(name)


async def test_work_waits_while_an_acknowledgement_does() -> None:
    """It begins as soon as none does."""
    free, order = asyncio.Event(), list[str]()
    slots = Slots(asyncio.Semaphore(2), free)
    working = asyncio.ensure_future(entered(slots, order, "work"))
    await asyncio.sleep(0.01)
    order.append("acknowledged")
    free.set()
    await working
    assert order == ["acknowledged", "work"]


async def test_work_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may always be another message, and the disk may hang."""
    monkeypatch.setattr(module, "_LONGEST_SECONDS", 0.01)
    order: list[str] = []
    slots = Slots(asyncio.Semaphore(1), asyncio.Event())
    await asyncio.gather(*(entered(slots, order, str(number)) for number in range(3)))
    assert order == ["0", "1", "2"]


async def test_who_is_cancelled_while_it_waits_leaves_its_place() -> None:
    """Else the bot would stand still after a few."""
    free, order = asyncio.Event(), list[str]()
    slots = Slots(asyncio.Semaphore(1), free)
    working = asyncio.ensure_future(entered(slots, order, "cut off"))
    await asyncio.sleep(0.01)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    free.set()
    async with asyncio.timeout(5):
        await entered(slots, order, "next")
    assert order == ["next"]
