"""A thought is one host's at a time, and a frozen thinker's decision is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.faults.journeys import adding
from benchmarks.faults.journeys import runtime as opened_runtime
from pipimem import Pipimem
from pipimem.errors import LockLost, LockTimeout
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.job_runner import JobRunner
from pipimem.state.postgres import FleetDatabase

pytestmark = pytest.mark.anyio


async def jobs_of(pipimem: Pipimem) -> JobRunner:
    return upkeep_of(await pipimem.channel("team")).jobs


async def test_one_host_thinks_about_a_channel_at_a_time(root: Path) -> None:
    """The other is told at once, and writes meanwhile what needs no thought."""
    async with opened_runtime(root) as one, opened_runtime(root) as two:
        first, second = await jobs_of(one), await jobs_of(two)
        async with first.exclusive():
            with pytest.raises(LockTimeout):
                async with second.exclusive():
                    raise AssertionError
            await second.commit(adding("what people typed"))
        async with second.exclusive():
            pass


async def test_what_a_frozen_thinker_decides_is_refused(
    root: Path, database: FleetDatabase
) -> None:
    """Another host thought about the same meanwhile: the older thought leaves no trace."""
    async with opened_runtime(root) as one, opened_runtime(root) as two:
        slow, fast = await jobs_of(one), await jobs_of(two)
        async with slow.exclusive():
            database.rows(
                "update pipimem.lease set until = clock_timestamp() - interval '1 second'"
            )
            async with fast.exclusive():
                await fast.commit(adding("what the fast one found"))
            with pytest.raises(LockLost):
                await slow.commit(adding("what the slow one found"))
        notes = await slow.notes()
    assert "what the fast one found" in notes.memory.text
    assert "what the slow one found" not in notes.memory.text
