"""The newcomers of a channel, read from its transcript."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pipimem import Message, Pipimem, Settings, Text
from pipimem.runtime.job_runner import Members
from pipimem.settings import MaintenanceSettings
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore
from pipimem.testing import FixedClock

NOON = datetime.fromisoformat("2026-11-12T12:00:00+08:00")


def said(speaker: str, days_ago: int, text: str = "hello") -> Message:
    """What somebody said some days before noon."""
    time = NOON - timedelta(days=days_ago)
    return Message.user(text, id=f"{speaker}{days_ago}", speaker=speaker, time=time)


def test_it_reads_what_was_added_and_talk_that_was_imported_later(tmp_path: Path) -> None:
    """Older days of a speaker that come in later count as days on which they spoke."""
    WorkspaceStore.init(tmp_path / "bot")
    transcript = ChannelStore.open(WorkspaceStore(tmp_path / "bot"), "team", create=True).transcript
    members, now = Members(), said("Tom", 0)
    assert members.newcomers(transcript, [now]) == frozenset()
    transcript.append([said("Ann", 40), now])
    assert members.newcomers(transcript, [now]) == {"Tom0"}
    transcript.append([said("Tom", days) for days in (12, 11, 10)])
    assert members.newcomers(transcript, [now]) == frozenset()


@pytest.mark.anyio
async def test_after_a_forgetting_it_reads_anew(tmp_path: Path) -> None:
    """Whose talk is forgotten was never there."""
    WorkspaceStore.init(tmp_path / "bot")
    settings = Settings(maintenance=MaintenanceSettings(enabled=False))
    members, now = Members(), replace(said("Tom", 0), id="now")
    async with Pipimem(tmp_path / "bot", settings=settings, clock=FixedClock(NOON)) as pipimem:
        channel = await pipimem.channel("team", kind="group")
        secret = [said("Tom", days, "the zebra is mine") for days in (9, 8, 7)]
        await channel.after_turn(None, [said("Ann", 40), *secret, now])
        transcript = ChannelStore.open(
            WorkspaceStore(tmp_path / "bot"), "team", create=True
        ).transcript
        assert members.newcomers(transcript, [now]) == frozenset()
        await channel.notes.forget(Text("zebra"))
        assert members.newcomers(transcript, [now]) == {"now"}
