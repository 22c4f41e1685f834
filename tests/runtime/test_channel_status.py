"""How a channel stands, with its jobs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pipimem.errors import ModelUnavailable
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.channel_status import channel_statuses
from pipimem.sidecar.scripted import Scripted
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.building import Hands, opened, say, workspace

pytestmark = pytest.mark.anyio


async def test_a_job_that_waits_after_a_failure_says_until_when(tmp_path: Path) -> None:
    """And how often it failed; once it may run again it is due, and still told."""
    root, hands = workspace(tmp_path), Hands()
    down = Scripted({name: [ModelUnavailable("down")] for name in ("refresh", "consolidate")})
    async with opened(root, down, hands=hands) as channel:
        await say(channel, "hello")
        await say(channel, "we never deploy on Fridays")
        await upkeep_of(channel).maintain()
        (waits,) = channel_statuses(WorkspaceStore.open(root), hands.now)
        later = hands.now + timedelta(hours=2)
        (due,) = channel_statuses(WorkspaceStore.open(root), later)
        channel._log.has_new_messages = False
    assert waits.failing == due.failing == ("consolidate", "refresh")
    assert waits.jobs["refresh"] == "waiting after a failure, until 2026-03-02 09:01; failed once"
    assert due.jobs["refresh"] == "due; failed once"
