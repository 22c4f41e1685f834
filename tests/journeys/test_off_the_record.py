"""What is off the record leaves no trace: whatever is done, no byte of the workspace has it."""

from __future__ import annotations

import threading
import warnings
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from pipimem import Channel, Learned, Message, StoreError
from pipimem.runtime.open_channel import opened as as_open
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Consolidated, Refreshed, Rerank

from tests.runtime.building import Hands, opened, read, say, workspace

pytestmark = pytest.mark.anyio
SECRETS = (
    "my quetzal contract with Zorblax ends in May",
    "remember that the quetzal costs a platypus",
    "我要从翡翠鸟巢公司辞职",
)
# No digits: keys and hashes are full of them.
TRACES = ("quetzal", "zorblax", "翡翠", "鸟巢", "xochitl", "platypus")


def traces(root: Path) -> dict[str, list[str]]:
    """What of the words stands in a file of the workspace, or in a file's name."""
    found = {}
    for path in root.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        text = (data.decode("utf-8", "replace") + str(path.relative_to(root))).casefold()
        with warnings.catch_warnings():  # settings hold patterns, whose escapes are not Python's
            warnings.simplefilter("ignore", DeprecationWarning)
            text += data.decode("unicode_escape", "replace").casefold()
        words = [word for word in TRACES if word in text]
        if words:
            found[str(path)] = words
    return found


async def say_off_the_record(channel: Channel, text: str, number: int) -> list[Message]:
    """A turn off the record; gives the messages as the host holds them."""
    turn = await channel.before_turn(text, speaker="Xochitl", record=False)
    assert turn.problem == ""
    said = [
        Message.user(text, speaker="Xochitl", id=f"in-{number}" if number % 2 else ""),
        Message.assistant(
            f"I keep it for myself: {text}", id=f"out-{number}" if number % 2 else ""
        ),
        Message.tool(f"looked up {text}"),
    ]
    await channel.after_turn(turn, said)
    with_context = (
        replace(said[0], content=f"{turn.context}\n\n{text}") if turn.context else said[0]
    )
    return [with_context, *said[1:]]


async def test_no_journey_leaves_a_trace(tmp_path: Path) -> None:
    """Turns, gates with all that the host holds, a restart, maintenance, searches, undo, forget."""
    root, hands = workspace(tmp_path), Hands()
    held: list[Message] = []
    for session in range(2):
        async with opened(root, hands=hands) as channel:
            for number, text in enumerate(SECRETS):
                await say(channel, "We decided that the lantern release is on Thursday")
                held += await say_off_the_record(channel, text, number)
                await say(channel, "I prefer oolong tea, remember that")
                hands.pass_by(minutes=5)
            assert (await channel.before_compaction(held)).may_compact
            for text in SECRETS:
                await channel.recall(text)
                await channel.search(text)
            await as_open(channel).maintain(forced=True)
            await channel.history.undo()
            await channel.compacted(await channel.before_compaction(held))
            # The host kept its messages over the compaction.
            await channel.before_compaction(held)
            await channel.forget("oolong")
            await as_open(channel).flush()
        assert traces(root) == {}
        async with opened(root, hands=hands) as channel:
            await channel.before_compaction([Message.user(f"Xochitl: {text}") for text in SECRETS])
            await channel.reset()
        hands.pass_by(days=1)
        assert traces(root) == {}, session
    assert read(root, "log.jsonl").count("lantern") >= 6


async def test_no_model_and_no_ledger_sees_it(tmp_path: Path) -> None:
    """Neither a reranking nor a consolidation; what was on the record is learnt."""
    learned = Learned("Dana likes oolong tea", ("m1",), "Dana", "preference")
    answers = [Consolidated((learned,), sheet={})] * 4
    model = Scripted({"consolidate": answers, "refresh": [Refreshed()] * 4}, paid=True)
    root = workspace(tmp_path)
    async with opened(root, model) as channel:
        await say(channel, "I like oolong tea")
        held = await say_off_the_record(channel, SECRETS[0], 1)
        await channel.before_compaction(held)
    assert "quetzal" not in str(model.asked).casefold()
    assert not [task for task in model.asked if isinstance(task, Rerank)]
    assert traces(root) == {}


async def test_a_host_that_breaks_off_leaves_no_trace(tmp_path: Path) -> None:
    """The model failed, `after_turn` was never called, and the context is compacted."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.before_turn(SECRETS[0], speaker="Xochitl", record=False)
        await channel.before_compaction(
            [Message.user(SECRETS[0], id="1"), Message.user("hello", id="2")]
        )
    assert traces(root) == {}
    assert "hello" in read(root, "log.jsonl")


@pytest.mark.parametrize("is_stopped", [False, True])
async def test_a_gate_before_the_turn_is_over(tmp_path: Path, is_stopped: bool) -> None:
    """The context is full in the middle of it, or the process stopped: its answer goes too."""
    root = workspace(tmp_path)
    held = [
        Message.user(SECRETS[0], speaker="Xochitl"),
        Message.assistant("So the quetzal contract ends in May"),
        Message.tool("crm: Zorblax"),
    ]
    async with opened(root) as channel:
        turn = await channel.before_turn(SECRETS[0], speaker="Xochitl", record=False)
        if not is_stopped:
            await channel.before_compaction(held)
            await channel.after_turn(turn, held)
    async with opened(root) as channel:
        await channel.before_compaction([*held, Message.user("hello"), Message.assistant("hi")])
    assert traces(root) == {}
    assert "hello" in read(root, "log.jsonl")
    assert '"hi"' in read(root, "log.jsonl")


async def test_a_host_that_keeps_its_messages(tmp_path: Path) -> None:
    """Over many compactions, each of them told twice."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        held = await say_off_the_record(channel, SECRETS[0], 0)
        for number in range(4):
            await say(channel, f"hello {number}")
            receipt = await channel.before_compaction(held)
            await channel.compacted(receipt)
            await channel.compacted(receipt)
    assert traces(root) == {}


async def test_an_epoch_told_twice_counts_once(tmp_path: Path) -> None:
    """The host of a gate without messages still holds them."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        held = await say_off_the_record(channel, SECRETS[0], 0)
        receipt = await channel.before_compaction()
        await channel.compacted(receipt)
        await channel.compacted(receipt)
        await channel.before_compaction(held)
    assert traces(root) == {}


async def test_it_is_recalled_for_and_counts_for_nothing(tmp_path: Path) -> None:
    """The turn has its context; no entry counts as asked for, no figure moves."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.remember("Zorblax has office 12")
        turn = await channel.before_turn("where sits Zorblax?", record=False)
        assert "office 12" in turn.context
        await channel.after_turn(turn, [Message.user("where sits Zorblax?")])
        ledger = (await as_open(channel).notes()).ledger
    assert ledger.asked == ()
    assert not (root / "channels/room/.pipimem/recall.json").exists()


async def test_the_same_words_on_the_record_are_stored(tmp_path: Path) -> None:
    """Turn by turn; a mark only keeps gates from storing what they were not told of."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        turn = await channel.before_turn("yes", record=False)
        await channel.after_turn(turn, [Message.user("yes"), Message.assistant("ok")])
        await say(channel, "yes")
        await channel.before_compaction([Message.user("yes"), Message.user("yes")])
    assert read(root, "log.jsonl").count('"yes"') == 1


async def test_the_same_words_under_other_ids_are_stored_by_a_gate(tmp_path: Path) -> None:
    """It is the first to see them."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        turn = await channel.before_turn("yes", record=False)
        held = [Message.user("yes", id="o1"), Message.assistant("ok", id="o2")]
        await channel.after_turn(turn, held)
        said = [Message.user("yes", id="m5", speaker="Tom"), Message.assistant("ok", id="m8")]
        receipt = await channel.before_compaction([*held, *said])
    assert receipt.covered == 2
    assert '"m5"' in read(root, "log.jsonl")
    assert '"o1"' not in read(root, "log.jsonl")


async def test_what_cannot_be_marked_is_told(tmp_path: Path) -> None:
    """Before the turn as a problem, after it as an error: the host must not hand it to a gate."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await say(channel, "hello")
        marks = root / "channels/room/.pipimem/off_the_record.json"
        marks.write_text("no marks")
        turn = await channel.before_turn(SECRETS[0], record=False)
        assert "off_the_record.json is damaged" in turn.problem
        with pytest.raises(StoreError, match="is damaged"):
            await channel.after_turn(turn, [Message.user(SECRETS[0])])
        receipt = await channel.before_compaction([Message.user(SECRETS[0])])
        assert (receipt.may_compact, receipt.state) == (False, "failed")
        marks.unlink()
    assert traces(root) == {}


async def test_a_turn_off_the_record_waits_for_no_commit(tmp_path: Path) -> None:
    """A gate and a commit hold the channel for ten seconds and more."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await say(channel, "We decided that the lantern release is on Thursday")
        await channel.before_turn("hello")
        held, done = threading.Event(), threading.Event()
        store = as_open(channel)._store._opened

        def commit() -> None:
            with store.mutex, store.channel_folder.lock.held():
                held.set()
                done.wait(60)

        thread = threading.Thread(target=commit)
        thread.start()
        try:
            assert held.wait(60)
            async with as_open(channel)._lock:
                with anyio.fail_after(30):
                    turn = await channel.before_turn(SECRETS[0], record=False)
            assert turn.problem == ""
        finally:
            done.set()
            thread.join()
        await channel.before_compaction([Message.user(SECRETS[0])])
    assert traces(root) == {}
