"""A sidecar of the host's own may fail in any way."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from pipimem import Clock, Pipimem, SettingsError
from pipimem.sidecar.contracts import Answer, Call, Consolidate, Task
from pipimem.sidecar.scripted import Scripted

from tests.runtime.building import MORNING, opened, say, workspace

pytestmark = pytest.mark.anyio


async def test_an_odd_error_defers(tmp_path: Path) -> None:
    """A ValueError out of somebody's client is a thought that failed, not the end of the bot."""
    odd = Scripted({"refresh": [ValueError("boom")] * 2, "consolidate": [KeyError("x")] * 2})
    async with opened(workspace(tmp_path), odd) as channel:
        await say(channel, "hello")
        receipt = await channel.before_compaction()
    assert (receipt.may_compact, receipt.state) == (True, "deferred")
    assert receipt.steps[0] == "refresh: the assistant failed with ValueError: boom"


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


def test_a_clock_without_an_offset_is_refused_at_once(tmp_path: Path) -> None:
    """Not hours later, in the middle of a night's maintenance."""
    naive = Clock(now=lambda: MORNING.replace(tzinfo=None))
    with pytest.raises(SettingsError, match="need an offset"):
        Pipimem(workspace(tmp_path), clock=naive)
