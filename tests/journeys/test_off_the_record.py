"""Turns off the record inside: what counts, what is locked, and marks that cannot be written.

That they leave no trace is in tests/promises/test_never_written.py.
"""

from __future__ import annotations

import threading
from pathlib import Path

import anyio
import pytest
from pipimem import Message, StoreError
from pipimem.assistant import Learned
from pipimem.runtime.channel import upkeep_of
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Consolidated, Refreshed, Rerank

from tests.promises.rooms import traces
from tests.promises.test_never_written import UNRECORDED, WORDS, say_off_the_record
from tests.runtime.building import opened, say, workspace

pytestmark = pytest.mark.anyio


async def test_no_model_and_no_ledger_sees_it(tmp_path: Path) -> None:
    """Neither a reranking nor a consolidation; what was on the record is learnt."""
    learned = Learned("Dana likes oolong tea", ("m1",), "Dana", "preference")
    answers = [Consolidated((learned,), sheet={})] * 4
    model = Scripted({"consolidate": answers, "refresh": [Refreshed()] * 4}, paid=True)
    root = workspace(tmp_path)
    async with opened(root, model) as channel:
        await say(channel, "I like oolong tea")
        held = await say_off_the_record(channel, UNRECORDED[0], 1)
        await channel.before_compaction(held)
    assert "quetzal" not in str(model.asked).casefold()
    assert not [task for task in model.asked if isinstance(task, Rerank)]
    assert traces(root, WORDS) == {}


async def test_it_is_recalled_for_and_counts_for_nothing(tmp_path: Path) -> None:
    """The turn has its context; no entry counts as asked for, no figure moves."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.notes.remember("Zorblax has office 12")
        turn = await channel.before_turn("where sits Zorblax?", record=False)
        assert "office 12" in turn.context
        await channel.after_turn(turn, [Message.user("where sits Zorblax?")])
        ledger = (await upkeep_of(channel).notes()).ledger
    assert ledger.asked == ()
    assert not (root / "channels/room/.pipimem/recall.json").exists()


async def test_what_cannot_be_marked_is_told(tmp_path: Path) -> None:
    """Before the turn as a problem, after it as an error: the host must not hand it to a gate."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await say(channel, "hello")
        marks = root / "channels/room/.pipimem/off_the_record.json"
        marks.write_text("no marks")
        turn = await channel.before_turn(UNRECORDED[0], record=False)
        assert "off_the_record.json is damaged" in turn.problem
        with pytest.raises(StoreError, match="is damaged"):
            await channel.after_turn(turn, [Message.user(UNRECORDED[0])])
        receipt = await channel.before_compaction([Message.user(UNRECORDED[0])])
        assert (receipt.may_compact, receipt.state) == (False, "failed")
        marks.unlink()
    assert traces(root, WORDS) == {}


async def test_a_turn_off_the_record_waits_for_no_commit(tmp_path: Path) -> None:
    """A gate and a commit hold the channel for ten seconds and more."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await say(channel, "We decided that the lantern release is on Thursday")
        await channel.before_turn("hello")
        held, done = threading.Event(), threading.Event()
        store = upkeep_of(channel).store._opened

        def commit() -> None:
            with store.mutex, store.channel_folder.lock.held():
                held.set()
                done.wait(60)

        thread = threading.Thread(target=commit)
        thread.start()
        try:
            assert held.wait(60)
            async with upkeep_of(channel).access.lock:
                with anyio.fail_after(30):
                    turn = await channel.before_turn(UNRECORDED[0], record=False)
            assert turn.problem == ""
        finally:
            done.set()
            thread.join()
        await channel.before_compaction([Message.user(UNRECORDED[0])])
    assert traces(root, WORDS) == {}
