"""The gate before a compaction: nothing is dropped that is not on disk."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest
from pipimem import Message
from pipimem.errors import ModelUnavailable
from pipimem.notes.kinds import Kind
from pipimem.runtime.channel import upkeep_of
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import (
    Answer,
    Call,
    Consolidate,
    Consolidated,
    HistoryItem,
    Learned,
    Refreshed,
    Task,
)

from tests.cases import table
from tests.changes import changes_of
from tests.runtime.building import opened, read, say, workspace, write

pytestmark = pytest.mark.anyio

TOLD = (HistoryItem("Dana and the bot talked about tea", ("m1",)),)


async def test_one_question_brings_sheet_memory_and_history(tmp_path: Path) -> None:
    """The talk is sent once, and all three files change in one commit with the cursor."""
    root = workspace(tmp_path)
    learned = Learned(Kind.PREFERENCE, "Dana prefers tea", ("m1",))
    sheet = {"Next Steps": ("buy tea",)}
    script = Scripted([Consolidated((learned,), title="Tea", history=TOLD, sheet=sheet)])
    async with opened(root, script) as channel:
        await say(channel, "I prefer tea")
        receipt = await channel.before_compaction()
        ledger = (await upkeep_of(channel).notes()).ledger
    assert (receipt.may_compact, receipt.state, receipt.covered, receipt.cursor) == (
        True,
        "consolidated",
        2,
        2,
    )
    assert (ledger.cursor, ledger.boundary, ledger.refreshed) == (2, 2, 2)
    changes = [change["file"] for record in changes_of(root) for change in record["changes"]]
    assert changes == ["SESSION.md", "MEMORY.md", "HISTORY.md"]
    assert [record["task"] for record in changes_of(root)] == ["consolidate"]
    assert receipt.steps == ("consolidate: done",)
    assert "- buy tea" in read(root, "SESSION.md")
    assert "- Dana prefers tea" in read(root)
    assert "· Tea\n\n- Dana and the bot talked about tea" in read(root, "HISTORY.md")


async def test_an_answer_without_a_sheet_costs_no_fact(tmp_path: Path) -> None:
    """The old sheet stands and is behind: the next idle work writes it, from the newest talk
    alone.
    """
    root = workspace(tmp_path)
    write(root, "SESSION.md", "# Session\n\n## Next Steps\n\n- call 林晓\n")
    learned = Learned(Kind.PREFERENCE, "Dana prefers tea", ("m1",))
    script = Scripted({"consolidate": [Consolidated((learned,), history=TOLD)]})
    async with opened(root, script) as channel:
        await say(channel, "I prefer tea")
        await say(channel, "and I mean it")
        receipt = await channel.before_compaction()
        old, ledger = read(root, "SESSION.md"), (await upkeep_of(channel).notes()).ledger
        script.then("refresh", Refreshed({"Next Steps": ("buy tea",)}))
        jobs = {job.task: job.ran for job in await upkeep_of(channel).maintain()}
    assert (receipt.state, ledger.cursor, ledger.refreshed) == ("consolidated", 4, 0)
    assert "- call 林晓" in old
    assert "- Dana prefers tea" in read(root)
    assert (jobs["consolidate"], jobs["refresh"]) == (False, True)
    assert "- buy tea" in read(root, "SESSION.md")


async def test_where_only_the_sheet_is_behind_only_the_sheet_is_asked_for(tmp_path: Path) -> None:
    """Idle work learnt all that was said: a gate brings SESSION.md up to date, and that may fail."""
    script = Scripted({"consolidate": [Consolidated(history=TOLD)]})
    async with opened(workspace(tmp_path), script) as channel:
        await say(channel, "I prefer tea")
        await channel.before_compaction()
        script.then("refresh", ModelUnavailable("no connection"), Refreshed())
        receipts = [await channel.before_compaction() for _ in range(3)]
    assert [receipt.steps[0] for receipt in receipts] == [
        "refresh: no connection",
        "refresh: done",
        "consolidate: nothing new",
    ]
    assert {receipt.state for receipt in receipts} == {"consolidated"}


async def test_defer_lets_the_host_go_on_and_the_talk_is_recallable(tmp_path: Path) -> None:
    """The model is down: the talk is on disk, the cursor stays, and the next epoch finds it word
    for word.
    """
    root = workspace(tmp_path)
    down = Scripted({"consolidate": [ModelUnavailable("down")]})
    async with opened(root, down) as channel:
        await say(channel, "the vault code word is heliotrope")
        receipt = await channel.before_compaction()
        assert (receipt.may_compact, receipt.state, receipt.cursor) == (True, "deferred", 0)
        await channel.compacted(receipt)
        context = await say(channel, "what was the vault code word?")
    assert "heliotrope" in context
    assert read(root) == ""


async def test_block_makes_the_host_wait(tmp_path: Path) -> None:
    """With the other policy nothing may be dropped before it is consolidated."""
    root = workspace(tmp_path)
    down = Scripted({"consolidate": [ModelUnavailable("down")] * 2})
    async with opened(root, down, policy="block") as channel:
        await say(channel, "hello")
        receipt = await channel.before_compaction()
    assert (receipt.may_compact, receipt.state) == (False, "blocked")
    assert "down" in receipt.reason


async def test_messages_the_host_never_told_are_taken_in(tmp_path: Path) -> None:
    """The gate gets the host's whole context; what the transcript lacks is written, what it has
    is not doubled.
    """
    root = workspace(tmp_path)
    async with opened(root, Scripted({"consolidate": [Consolidated(history=TOLD)]})) as channel:
        await say(channel, "one", "two")
        await channel.before_compaction(
            [
                Message.user("one"),
                Message.assistant("two"),
                Message.user("three"),
                Message.assistant("two"),
            ]
        )
    texts = [json.loads(line)["content"] for line in read(root, "log.jsonl").splitlines()]
    assert texts == ["one", "two", "three", "two"]


async def test_gates_at_once_take_messages_without_ids_in_once(tmp_path: Path) -> None:
    """The same holds beside the turn that stores them."""
    root = workspace(tmp_path)
    heard = [Message.user(f"say {number}", speaker="Dana") for number in range(20)]
    told = [Message.user(f"tell {number}", speaker="Dana") for number in range(20)]
    async with opened(root) as channel:
        async with anyio.create_task_group() as gates:
            for _ in range(4):
                gates.start_soon(channel.before_compaction, heard)
        assert len(read(root, "log.jsonl").splitlines()) == 20
        async with anyio.create_task_group() as both:
            both.start_soon(channel.after_turn, None, told)
            await anyio.lowlevel.checkpoint()
            both.start_soon(channel.before_compaction, told)
        assert len(read(root, "log.jsonl").splitlines()) == 40


async def test_the_second_of_two_windows_supersedes_the_firsts_value(tmp_path: Path) -> None:
    """The release moves: one entry, the new value, the old one in the changes."""
    root = workspace(tmp_path)
    first = Consolidated(
        (Learned(Kind.DECISION, "the release is on Thursday", ("m1",)),), history=TOLD
    )
    script = Scripted({"consolidate": [first]})
    async with opened(root, script) as channel:
        await say(channel, "the release is on Thursday")
        await channel.reset()
        old = (await upkeep_of(channel).notes()).memory.entries[0].id
        newer = Learned(Kind.DECISION, "the release is on Monday", ("m3",), replaces=(old,))
        script.then(
            "consolidate",
            Consolidated((newer,), history=(HistoryItem("the release moved", ("m3",)),)),
        )
        await say(channel, "no, the release is on Monday")
        await channel.reset()
    assert read(root).count("the release is on") == 1
    assert "- the release is on Monday" in read(root)
    assert any("the release is on Thursday" in json.dumps(record) for record in changes_of(root))


async def test_an_exchange_without_history_is_refused(tmp_path: Path) -> None:
    """A window with a real exchange leaves at least a bullet, or the cursor stays."""
    root = workspace(tmp_path)
    script = Scripted([Consolidated(), Consolidated()])
    async with opened(root, script) as channel:
        await say(channel, "I prefer tea")
        receipt = await channel.before_compaction()
    assert receipt.state == "deferred"
    assert "history" in receipt.reason


@pytest.mark.parametrize(
    "said",
    [
        "remember: the gate code is 4711",
        "the gate code is 4711",
        "先别记，我怀孕了",
        "Where is the key to room 4?",
        "机房的钥匙在哪？",
    ],
)
async def test_an_exchange_of_nothing_that_may_be_noted_is_consolidated(
    tmp_path: Path, said: str
) -> None:
    """Without an entry and a line of history, which no question makes; what was asked to be
    remembered is told.
    """
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await say(channel, said)
        receipt = await channel.before_compaction()
        told = [line for one in await channel.history.log() for line in one.refused]
    assert (receipt.state, receipt.cursor) == ("consolidated", 2)
    assert "4711" not in read(root) + json.dumps(told)
    assert "-" not in read(root, "HISTORY.md")
    assert any("a password or code" in line for line in told) == said.startswith("remember")


async def test_a_window_is_thought_about_once(tmp_path: Path) -> None:
    """A second gate without new talk asks nothing and writes nothing."""
    root = workspace(tmp_path)
    script = Scripted([Consolidated(history=TOLD, sheet={})])
    async with opened(root, script) as channel:
        await say(channel, "I prefer tea")
        await channel.before_compaction()
        before = read(root, "HISTORY.md"), len(changes_of(root))
        receipt = await channel.before_compaction()
    assert receipt.state == "consolidated"
    assert (read(root, "HISTORY.md"), len(changes_of(root))) == before
    assert len([task for task in script.asked if isinstance(task, Consolidate)]) == 1


async def test_shared_files_are_byte_identical_after_every_journey(tmp_path: Path) -> None:
    """The workspace's SOUL, AGENTS and MEMORY are people's alone."""
    root = workspace(tmp_path)
    shared = ("SOUL.md", "AGENTS.md", "MEMORY.md")
    before = {name: (root / name).read_bytes() for name in shared}
    async with opened(root) as channel:
        await say(channel, "记住：以后都用中文回答")
        await channel.reset()
        await channel.notes.remember("the port is 8080")
        await upkeep_of(channel).maintain(forced=True)
    assert {name: (root / name).read_bytes() for name in shared} == before


async def test_what_a_person_deletes_is_not_learnt_again_from_the_same_talk(tmp_path: Path) -> None:
    """The entry goes by hand; consolidating goes on, and it stays away."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", "")
    tea = Learned(Kind.PREFERENCE, "Dana prefers tea", ("m1",))
    script = Scripted({"consolidate": [Consolidated((tea,), history=TOLD)]})
    async with opened(root, script) as channel:
        await say(channel, "I prefer tea")
        await channel.before_compaction()
        write(
            root,
            "MEMORY.md",
            read(root).replace("- Dana prefers tea\n", "- our own line, long enough to stay\n"),
        )
        script.then(
            "consolidate", Consolidated((tea,), history=(HistoryItem("more talk", ("m3",)),))
        )
        await say(channel, "what else?")
        await channel.before_compaction()
    assert "Dana prefers tea" not in read(root)


async def test_what_is_no_longer_so_is_not_recalled_from_session_or_history(tmp_path: Path) -> None:
    """A superseded value stays in HISTORY.md for people, but a turn is not told the old one."""
    root = workspace(tmp_path)
    old = "the release is on Thursday at noon"
    first = Consolidated(
        (Learned(Kind.DECISION, old, ("m1",)),),
        history=(HistoryItem(old, ("m1",)),),
        sheet={"Decisions": (old,)},
    )
    script = Scripted({"consolidate": [first]})
    async with opened(root, script) as channel:
        await say(channel, old)
        await channel.reset()
        name = (await upkeep_of(channel).notes()).memory.entries[0].id
        newer = Learned(Kind.DECISION, "the release is on Monday at ten", ("m3",), replaces=(name,))
        script.then(
            "consolidate",
            Consolidated((newer,), history=(HistoryItem("the release moved", ("m3",)),)),
        )
        await say(channel, "no, the release is on Monday at ten")
        await channel.reset()
        found = (await channel.recall("when is the release?")).candidates
    assert "Thursday" in read(root, "HISTORY.md")
    assert any("Monday" in candidate.item.text for candidate in found)
    assert not any("Thursday" in candidate.item.text for candidate in found)


async def test_what_a_person_rewords_is_told_as_it_stands_now_and_as_nobody_elses_word(
    tmp_path: Path,
) -> None:
    """The same line in SESSION.md and HISTORY.md is not recalled either, and who said the old
    words is not named.
    """
    root = workspace(tmp_path)
    old, new = "the main database is PostgreSQL 15", "the main database is PostgreSQL 16"
    told = Consolidated(
        (Learned(Kind.FACT, old, ("m1",)),),
        history=(HistoryItem(old, ("m1",)),),
        sheet={"Current State": (old,)},
    )
    script = Scripted([told])
    async with opened(root, script) as channel:
        await say(channel, old, speaker="Alice")
        await channel.reset()
        write(root, "MEMORY.md", read(root).replace("15", "16"))
        turn = await channel.before_turn("which PostgreSQL is the main database?")
    assert "PostgreSQL 15" in read(root, "HISTORY.md")
    assert new in turn.context
    assert "PostgreSQL 15" not in turn.context
    assert "Alice" not in turn.context


async def test_what_a_person_deletes_is_gone_from_every_turn(tmp_path: Path) -> None:
    """One deletion in MEMORY.md is enough: the same words in SESSION.md and HISTORY.md are not
    recalled either.
    """
    root = workspace(tmp_path)
    rule = "we never deploy on Fridays"
    told = Consolidated(
        (Learned(Kind.CONSTRAINT, rule, ("m1",)),),
        history=(HistoryItem(rule, ("m1",)),),
        sheet={"Constraints": (rule,)},
    )
    async with opened(root, Scripted([told])) as channel:
        await say(channel, rule)
        await channel.before_compaction()
        assert (await channel.recall("can we deploy on Fridays?")).candidates
        write(
            root,
            "MEMORY.md",
            read(root).replace(f"- {rule}\n", "- our own line, long enough to stay\n"),
        )
        assert (await channel.recall("can we deploy on Fridays?")).candidates == ()


async def test_history_is_never_a_transcript(tmp_path: Path) -> None:
    """A bullet that a model copied out of a message is cut to its beginning."""
    root = workspace(tmp_path)
    said = "I went to the support group yesterday and it was so powerful that I want to tell all of you about every word of it"
    script = Scripted([Consolidated(history=(HistoryItem(said, ("m1",)),))])
    async with opened(root, script) as channel:
        await say(channel, said)
        await channel.before_compaction()
    assert said not in read(root, "HISTORY.md")
    assert "- I went to the support group yesterday" in read(root, "HISTORY.md")


async def test_talk_that_idle_work_consolidated_first_still_gets_its_block(tmp_path: Path) -> None:
    """While the gate thinks, idle work commits the same window: the gate closes the block all
    the same.
    """
    root, thinking = workspace(tmp_path), anyio.Event()

    class Slow(Scripted):
        async def answer(self, task: Task, call: Call) -> Answer:
            if not isinstance(task, Consolidate):
                return await Scripted.answer(self, task, call)
            if not thinking.is_set():
                thinking.set()
                await anyio.sleep(0.2)
            return Consolidated(history=TOLD)

    async with opened(root, Slow({"refresh": [Refreshed()]})) as channel:
        await channel.after_turn(None, [Message.user("I prefer tea"), Message.assistant("ok")])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(channel.before_compaction)
            await thinking.wait()
            await upkeep_of(channel).maintain(forced=True)
        ledger = (await upkeep_of(channel).notes()).ledger
    assert (ledger.boundary, ledger.pending) == (2, ())
    assert "- Dana and the bot talked about tea" in read(root, "HISTORY.md")


async def test_an_unclosed_tag_hides_nothing_of_the_next_message(tmp_path: Path) -> None:
    """Neither of what is stored turn by turn, nor of what a compaction brings."""
    root = workspace(tmp_path)
    talk = [Message.user(text, speaker="Dana") for text in ("hi <private>I am ill", "good day")]
    async with opened(root, Scripted()) as channel:
        await channel.after_turn(None, talk)
        talk.append(Message.user("bye <private>I earn 9000", speaker="Dana"))
        await channel.before_compaction([*talk, Message.user("good evening", speaker="Dana")])
    log = read(root, "log.jsonl")
    assert log.count("[PRIVATE]") == 2
    assert "ill" not in log
    assert "9000" not in log
    assert log.count("good day") == log.count("good evening") == 1


async def test_a_damaged_state_never_spoils_a_compaction(tmp_path: Path) -> None:
    """It is set aside, the notes stay as they are, and the talk is on disk."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.notes.remember("the roof is red")
    state = root / "channels/room/.pipimem/state.db"
    async with opened(root) as channel:
        state.write_bytes(b"broken " * 1_000)
        receipt = await channel.before_compaction([Message.user("the door is green")])
    assert receipt.may_compact
    assert (state.parent / "state.db.damaged").read_bytes() == b"broken " * 1_000
    assert "- the roof is red" in read(root)
    assert "the door is green" in read(root, "log.jsonl")


async def test_what_is_corrected_after_a_compaction_does_not_stand(tmp_path: Path) -> None:
    """The rules see the last messages in front of their window."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await say(channel, "Dinner is at six on the terrace")
        await channel.before_compaction()
        assert "six on the terrace\n" in read(root)
        await say(channel, "no, seven")
        await channel.before_compaction()
        notes = await upkeep_of(channel).notes()
    entries = [entry for entry in notes.memory.entries if entry.bullet]
    assert [entry.text.rpartition(": ")[2] for entry in entries] == [
        "Dinner is at six on the terrace … no, seven"
    ]
    record = notes.record(entries[0].id)
    assert record is not None
    assert len(record.sources) == 2


@pytest.mark.parametrize(
    ("promise", "stays", "done"),
    table(__file__, "what_was_done_meanwhile_is_open_no_more"),
)
async def test_what_was_done_meanwhile_is_open_no_more(
    tmp_path: Path, promise: str, stays: str, done: str
) -> None:
    """Neither under Next Steps nor under Current State, and nothing else is lost meanwhile."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await say(channel, promise)
        await say(channel, stays, speaker="Bob")
        await channel.before_compaction()
        assert read(root, "SESSION.md").count(promise) == 2
        await say(channel, done)
        await channel.before_compaction()
        sheet = read(root, "SESSION.md")
    assert promise not in sheet
    assert stays in sheet
