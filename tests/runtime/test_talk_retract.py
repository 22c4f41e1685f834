"""A message is taken back while a job is at work on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem import Message, Pipimem
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs

from tests.runtime.building import Hands, settings, workspace

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("step", ["window", "committed"])
async def test_a_job_that_read_a_message_before_it_was_taken_back_learns_nothing_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Taken back while the job decides, or right before it commits. What it has learnt from the
    others it learns anew, and undo goes on as before.
    """
    root = workspace(tmp_path)
    real, taken_back = getattr(ChannelJobs, step), []

    async def taken_back_meanwhile(self: ChannelJobs, *args: object, **options: object) -> object:
        read = await real(self, *args, **options) if step == "window" else None
        if not taken_back:
            taken_back.append(await channel.talk.retract("d1"))
        return read if step == "window" else await real(self, *args, **options)

    async with Pipimem(root, "offline", settings=settings(), clock=Hands().clock()) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        await channel.notes.remember("tea at four")
        said = ("we decided: releases are never on Fridays", "remember that the kiln is blue")
        await channel.after_turn(
            None, [Message.user(text, id=f"d{n}", speaker="Dana") for n, text in enumerate(said, 1)]
        )
        monkeypatch.setattr(ChannelJobs, step, taken_back_meanwhile)
        await channel.before_compaction()
        assert taken_back == [False]
        assert "Fridays" not in "".join(
            path.read_text("utf-8", "replace")
            for path in (root / "channels").rglob("*")
            if path.is_file()
        )
        texts = [entry.text for entry in await channel.notes.entries()]
        assert [text for text in texts if "kiln is blue" in text]
        await channel.history.undo(1)
