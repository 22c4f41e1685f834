"""Files of ours, or whole folders, deleted under a running bot."""

from __future__ import annotations

import logging
import shutil
import time
from pathlib import Path

import anyio
import pytest
from pipimem import Message, Pipimem

from tests.runtime.building import opened, read, say, settings, workspace, write
from tests.runtime.maintenance.test_scheduler import until
from tests.runtime.maintenance.test_worker import QUICK, script, talk, watched

pytestmark = pytest.mark.anyio

OWN = (
    "",
    "channel.json",
    "lock",
    "journal.jsonl",
    "ledger.json",
    "versions",
    "words.idx",
    "search.idx",
    "recall.json",
)


def delete(path: Path) -> None:
    """Remove what stands there; a folder again and again while somebody writes into it."""
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for _ in range(100):
        try:
            shutil.rmtree(path)
        except OSError:
            time.sleep(0.01)
        else:
            return
    shutil.rmtree(path)


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("call", ["turn", "remember", "gate", "maintain", "forget"])
async def test_whatever_is_deleted_the_next_call_goes_on(
    tmp_path: Path, name: str, call: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No call raises, the notes stay, every message is stored once, and the log says it at most
    once.
    """
    root = workspace(tmp_path)
    caplog.set_level(logging.WARNING, "pipimem")
    async with opened(root) as channel:
        await say(channel, "We drink tea at four.")
        await channel.remember("Tea is at four")
        await channel.flush()
        for _ in range(2):
            delete(root / "channels" / "room" / ".pipimem" / name)
            caplog.clear()
            turn = await channel.before_turn("When is tea?")
            assert not turn.problem
            match call:
                case "turn":
                    await channel.after_turn(turn, [Message.user("When is tea?", id="again")])
                case "remember":
                    await channel.remember("Tea is at four")
                case "gate":
                    receipt = await channel.before_compaction(
                        [Message.user("When is tea?", id="again")]
                    )
                    assert receipt.may_compact
                    await channel.compacted(receipt)
                case "maintain":
                    await channel.maintain(forced=True)
                case _:
                    await channel.forget("nothing that stands here")
            assert len(caplog.messages) <= 1
        ids = [message.id for message in channel.store.transcript.messages()]
    assert len(ids) == len(set(ids))
    assert read(root).count("Tea is at four") == 1


@pytest.mark.parametrize("folder", ["channels/room", "channels", ".pipimem"])
async def test_a_whole_folder_is_deleted(tmp_path: Path, folder: str) -> None:
    """Nothing of the old notes comes back; what is told from then on stays."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await say(channel, "We drink tea at four.")
        await channel.remember("Tea is at four")
        delete(root / folder)
        turn = await channel.before_turn("When is tea?")
        assert not turn.problem
        assert ("Tea" in turn.context) == (folder == ".pipimem")
        await channel.after_turn(turn, [Message.user("Coffee is at five.")])
        await channel.remember("Coffee is at five")
        assert (await channel.before_compaction()).may_compact
    assert "Coffee is at five" in read(root)
    assert ("Tea is at four" in read(root)) == (folder == ".pipimem")


async def test_a_removed_channel_stays_away(tmp_path: Path) -> None:
    """Closing writes nothing where nothing is left."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.remember("Tea is at four")
        delete(root / "channels" / "room")
    assert not (root / "channels" / "room").exists()


async def test_idle_work_goes_on_without_the_workspaces_state(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The leader lock is taken anew, told once, so that no second process takes it too."""
    root = workspace(tmp_path)
    caplog.set_level(logging.WARNING, "pipimem")
    async with watched(root, script()) as (_, visits):
        await talk(root, "room")
        await until(lambda: len(visits) >= 1)
        delete(root / ".pipimem")
        seen = len(visits)
        await talk(root, "hall")
        await until(lambda: len(visits) > seen)
        async with Pipimem(root, assistant=script(), settings=QUICK) as second:
            assert not await second._idle.take_leadership()
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("pipimem")]
    assert len(ours) == 1
    assert "idle.lock" in ours[0]


async def test_visits_that_find_the_leader_lock_deleted_at_once_take_it_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Two channels are due: one takes it anew and tells it, the other waits for that."""
    root = workspace(tmp_path)
    caplog.set_level(logging.WARNING, "pipimem")
    async with Pipimem(root, assistant=script(), settings=QUICK) as pipimem:
        assert await pipimem._idle.take_leadership()
        delete(root / ".pipimem" / "idle.lock")
        async with anyio.create_task_group() as visits:
            visits.start_soon(pipimem._idle._retake_lock)
            visits.start_soon(pipimem._idle._retake_lock)
    ours = [record for record in caplog.records if record.name.startswith("pipimem")]
    assert [record.getMessage().count("was taken anew") for record in ours] == [1]


async def test_idle_work_goes_on_without_a_channels_state(tmp_path: Path) -> None:
    """A channel that the host uses, deleted while nobody speaks, is looked at like any other."""
    root = workspace(tmp_path)
    async with Pipimem(root, assistant=script(), settings=settings()) as pipimem:
        channel = await pipimem.channel("room")
        await say(channel, "hello")
        delete(root / "channels" / "room")
        await channel.flush()
        await channel.maintain()
        await channel.unload()
        await anyio.sleep(0)
        write(root, "MEMORY.md", "- typed anew\n")
        assert "typed anew" in (await channel.before_turn("What was typed anew?")).context
